//! What is measured while pumping: latencies, and who was waited for. One clock call a round; two a block
//! where a call is made on the spot.
use crate::core::{Latency, Side, SideReport, Tally};
use hdrhistogram::Histogram;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// Longest latency distinguished from longer ones: a device that answers after an hour.
const LATENCY_US_MAX: u64 = 3_600_000_000;

/// Where the blocks of a copy are at a moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundState {
    /// Requests in flight, by [`Side::index`].
    pub in_flight: [u32; 2],
    /// Blocks at the digests.
    pub digesting: u32,
    /// Something was delayed until a time: `--limit`.
    pub limited: bool,
}

/// From one class of latencies to the next: four for each doubling.
const CLASS_FACTOR: f64 = 1.189_207_115;

/// Classes from 1 µs to the longest latency distinguished: memory does not depend on how the copy went.
const CLASSES_MAX: usize = 128;

/// Waiting is shared out by spans of this length: long enough to see which side runs dry, short enough that a disk that
/// slows down in the middle is seen, and progress with it.
const SPAN: Duration = Duration::from_millis(250);
/// A side that is busy for a smaller share of the time than this, measured by the other, waits for it. From here to
/// equally busy its part of the time that both are busy grows to a half.
const KEEPS_UP: f64 = 0.8;

/// Who had something to do, and for how long.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    passed: Duration,
    /// This side alone.
    alone: [Duration; 2],
    /// Both sides.
    both: Duration,
}

impl Span {
    /// How much of it was spent waiting for each side. Time in which one side alone is busy is waiting for that side.
    /// While both are busy the one that is never idle sets the pace; if neither ever is, both do.
    fn shares(&self) -> [Duration; 2] {
        let busy = self.alone.map(|alone| (alone + self.both).as_secs_f64());
        let less_busy = usize::from(busy[1] < busy[0]);
        let ratio = busy[less_busy] / busy[1 - less_busy].max(f64::MIN_POSITIVE);
        let part = 0.5 * ((ratio - KEEPS_UP) / (1.0 - KEEPS_UP)).clamp(0.0, 1.0);
        let of_less_busy = self.both.mul_f64(part);
        let mut shares = self.alone;
        shares[less_busy] += of_less_busy;
        shares[1 - less_busy] += self.both.saturating_sub(of_less_busy);
        shares
    }
}

/// Measures a copy round by round.
pub struct Meter {
    started: Instant,
    /// The time of the present round.
    pub now: Instant,
    latency: [Histogram<u64>; 2],
    waited: [Duration; 2],
    span: Span,
    /// When waiting was last shared out.
    shared_out: Instant,
    idle: [Duration; 2],
    digest_waited: Duration,
    limit_waited: Duration,
}

impl Meter {
    /// Begins now.
    pub fn start() -> Self {
        let now = Instant::now();
        let histogram = || Histogram::new_with_max(LATENCY_US_MAX, 2).expect("bounds are right");
        Meter {
            started: now,
            now,
            latency: [histogram(), histogram()],
            waited: [Duration::ZERO; 2],
            span: Span::default(),
            shared_out: now,
            idle: [Duration::ZERO; 2],
            digest_waited: Duration::ZERO,
            limit_waited: Duration::ZERO,
        }
    }

    /// A round of waiting ended at `now`; `during` is where the blocks were while waiting.
    pub fn round(&mut self, now: Instant, during: RoundState, tally: &Tally) {
        let passed = now.saturating_duration_since(self.now);
        self.now = now;
        let [source, dest] = during.in_flight;
        for side in Side::BOTH {
            let index = side.index();
            tally.in_flight[index].store(during.in_flight[index], Relaxed);
            if during.in_flight[index] == 0 {
                self.idle[index] += passed;
            }
        }
        if during.limited {
            self.limit_waited += passed;
            tally.limit_waited_ns.fetch_add(passed.as_nanos() as u64, Relaxed);
            return;
        }
        if during.digesting > source.max(dest) {
            self.digest_waited += passed;
            tally.digest_waited_ns.fetch_add(passed.as_nanos() as u64, Relaxed);
            return;
        }
        let span = &mut self.span;
        span.passed += passed;
        match (source > 0, dest > 0) {
            (true, true) => span.both += passed,
            (true, false) => span.alone[0] += passed,
            (false, true) => span.alone[1] += passed,
            (false, false) => {}
        }
        // Where a limit takes most of the time, what is left of it is not to be reported seconds later.
        if span.passed >= SPAN || now.saturating_duration_since(self.shared_out) >= 2 * SPAN {
            self.shared_out = now;
            let shares = std::mem::take(span).shares();
            for (index, share) in shares.into_iter().enumerate() {
                self.waited[index] += share;
                tally.waited_ns[index].fetch_add(share.as_nanos() as u64, Relaxed);
            }
        }
    }

    /// A request of `side` has come back, and its queue had it for so long.
    pub fn completed(&mut self, side: Side, took: Duration) {
        self.latency[side.index()].saturating_record(took.as_micros() as u64);
    }

    /// Time since the beginning, as of the present round.
    pub fn elapsed(&self) -> Duration {
        self.now - self.started
    }

    /// Time since the beginning, now.
    pub fn elapsed_now(&self) -> Duration {
        self.started.elapsed()
    }

    /// Time spent waiting for digests.
    pub fn digest_waited(&self) -> Duration {
        self.digest_waited
    }

    /// Time in which the limit held the copy back.
    pub fn limit_waited(&self) -> Duration {
        self.limit_waited
    }

    /// What is known about both sides.
    pub fn reports(&self) -> [SideReport; 2] {
        let last = self.span.shares();
        let report = |side: Side| {
            let latency = &self.latency[side.index()];
            SideReport {
                latency: Latency {
                    count: latency.len(),
                    p50_us: latency.value_at_quantile(0.5),
                    p90_us: latency.value_at_quantile(0.9),
                    p99_us: latency.value_at_quantile(0.99),
                    max_us: latency.max(),
                },
                waited: self.waited[side.index()] + last[side.index()],
                idle: self.idle[side.index()],
                latencies: classes(latency),
                ..SideReport::default()
            }
        };
        Side::BOTH.map(report)
    }
}

/// Latencies in classes, four for each doubling from 1 µs on; those at either end that are empty are left out.
fn classes(latency: &Histogram<u64>) -> Vec<(u64, u64)> {
    let steps = latency.iter_log(1, CLASS_FACTOR);
    let all = steps.map(|step| (step.value_iterated_to(), step.count_since_last_iteration()));
    let mut classes: Vec<(u64, u64)> = Vec::with_capacity(CLASSES_MAX);
    for (by_us, count) in all.skip_while(|(_, count)| *count == 0) {
        match classes.last_mut() {
            // Of the shortest, several steps end at the same microsecond.
            Some(last) if last.0 == by_us => last.1 += count,
            _ => classes.push((by_us, count)),
        }
    }
    classes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shares of the source and the dest in the waiting, in percent, after rounds of so many milliseconds each.
    fn shares(rounds: &[(u64, [u32; 2])]) -> [u64; 2] {
        let (mut meter, tally) = (Meter::start(), Tally::default());
        let mut now = meter.now;
        for &(ms, in_flight) in rounds.iter().cycle().take(rounds.len() * 200) {
            now += Duration::from_millis(ms);
            meter.round(now, RoundState { in_flight, ..RoundState::default() }, &tally);
        }
        let waited = meter.reports().map(|report| report.waited.as_millis() as u64);
        waited.map(|ms| (ms * 100).checked_div(waited.iter().sum()).unwrap_or(0))
    }

    #[test]
    fn the_side_that_never_runs_dry_is_the_one_waited_for() {
        assert_eq!(shares(&[(7, [0, 32]), (3, [1, 31])]), [0, 100]);
        assert_eq!(shares(&[(7, [32, 0]), (3, [31, 1])]), [100, 0]);
    }

    #[test]
    fn two_sides_that_are_always_busy_share_the_waiting_wherever_the_blocks_are() {
        for in_flight in [[31, 1], [16, 16], [1, 31]] {
            assert_eq!(shares(&[(1, in_flight)]), [50, 50]);
        }
    }

    #[test]
    fn sides_that_take_turns_are_waited_for_as_long_as_each_takes() {
        let [source, dest] = shares(&[(6, [1, 0]), (3, [0, 1])]);
        assert!((66..=67).contains(&source) && (33..=34).contains(&dest), "{source} {dest}");
    }

    #[test]
    fn a_limit_and_digests_are_nobodys_fault() {
        let (mut meter, tally) = (Meter::start(), Tally::default());
        let mut now = meter.now;
        for _ in 0..10 {
            now += Duration::from_millis(30);
            meter.round(now, RoundState { in_flight: [0, 1], digesting: 0, limited: true }, &tally);
            now += Duration::from_millis(20);
            meter.round(now, RoundState { in_flight: [1, 1], digesting: 8, limited: false }, &tally);
        }
        assert!(meter.reports().iter().all(|report| report.waited.is_zero()));
        let seen = [&tally.limit_waited_ns, &tally.digest_waited_ns].map(|ns| ns.load(Relaxed));
        assert_eq!(seen, [300_000_000, 200_000_000]);
        let told = (meter.limit_waited(), meter.digest_waited());
        assert_eq!(told, (Duration::from_millis(300), Duration::from_millis(200)));
    }
}
