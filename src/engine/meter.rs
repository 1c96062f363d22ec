//! What is measured while pumping: latencies, and who was waited for. One clock call a round, none per block.
use crate::contract::{Latency, Side, SideReport, Tally};
use hdrhistogram::Histogram;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// Longest latency told apart from longer ones: a device that answers after an hour.
const LATENCY_US_MAX: u64 = 3_600_000_000;

/// Where the blocks of a copy are at a moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Whereabouts {
    /// Requests in flight, by [`Side::index`].
    pub in_flight: [u32; 2],
    /// Blocks at the digests.
    pub digesting: u32,
}

/// Measures a copy round by round.
pub struct Meter {
    started: Instant,
    /// The time of the present round.
    pub now: Instant,
    latency: [Histogram<u64>; 2],
    waited: [Duration; 2],
    idle: [Duration; 2],
    digest_waited: Duration,
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
            idle: [Duration::ZERO; 2],
            digest_waited: Duration::ZERO,
        }
    }

    /// A round of waiting ended; `during` is where the blocks were while waiting. The time counts for whoever had most
    /// of them: a side that keeps up gives its blocks on at once.
    pub fn round(&mut self, during: Whereabouts, tally: &Tally) {
        let now = Instant::now();
        let passed = now - self.now;
        self.now = now;
        let [source, dest] = during.in_flight;
        for side in Side::BOTH {
            let index = side.index();
            tally.in_flight[index].store(during.in_flight[index], Relaxed);
            if during.in_flight[index] == 0 {
                self.idle[index] += passed;
            }
        }
        if during.digesting > source.max(dest) {
            self.digest_waited += passed;
            return;
        }
        let shares = match source.cmp(&dest) {
            std::cmp::Ordering::Greater => [passed, Duration::ZERO],
            std::cmp::Ordering::Less => [Duration::ZERO, passed],
            std::cmp::Ordering::Equal => [passed / 2; 2],
        };
        for (index, share) in shares.into_iter().enumerate() {
            self.waited[index] += share;
            tally.waited_ns[index].fetch_add(share.as_nanos() as u64, Relaxed);
        }
    }

    /// A request of `side` that was submitted at `submitted` has come back in this round.
    pub fn completed(&mut self, side: Side, submitted: Instant) {
        let took = self.now.saturating_duration_since(submitted);
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

    /// What is known about both sides, and the time spent waiting for digests.
    pub fn reports(&self) -> ([SideReport; 2], Duration) {
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
                waited: self.waited[side.index()],
                idle: self.idle[side.index()],
                ..SideReport::default()
            }
        };
        (Side::BOTH.map(report), self.digest_waited)
    }
}
