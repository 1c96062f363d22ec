//! The real clock, and sleeping until a time.
use rustix::thread::{ClockId, clock_nanosleep_absolute};
use rustix::time::{Timespec, clock_gettime};
use std::time::Duration;

/// Nanoseconds of CLOCK_MONOTONIC.
pub fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Sleeps until `at_ns` of [`now_ns`]; returns at once if it is past.
pub fn sleep_until(at_ns: u64) {
    be_precise();
    let request = Timespec { tv_sec: (at_ns / 1_000_000_000) as i64, tv_nsec: (at_ns % 1_000_000_000) as i64 };
    while clock_nanosleep_absolute(ClockId::Monotonic, &request) == Err(rustix::io::Errno::INTR) {}
}

/// The time from now until `at_ns`.
pub fn until(at_ns: u64) -> Duration {
    Duration::from_nanos(at_ns.saturating_sub(now_ns()))
}

/// Requests, once per thread, precise wake-ups: the kernel may otherwise add 50 µs to every sleep, as long as a
/// small command takes.
pub fn be_precise() {
    thread_local!(static ASKED: () = {
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    });
    ASKED.with(|()| ());
}
