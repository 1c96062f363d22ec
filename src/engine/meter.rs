//! Measurements during a copy: latencies and the bottleneck. One clock call per round, two per block for calls made in
//! place.
use crate::core::{Latency, Side, SideReport, Tally};
use hdrhistogram::Histogram;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// Maximum latency of the histogram, one hour. Longer ones count as this.
const LATENCY_US_MAX: u64 = 3_600_000_000;

/// State of the copy while a round waited.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundState {
    /// Requests in flight, by [`Side::index`].
    pub in_flight: [u32; 2],
    /// Blocks being digested.
    pub digesting: u32,
    /// Whether `--limit` delayed a request.
    pub limited: bool,
}

/// Ratio between bounds of histogram buckets: four buckets per doubling.
const CLASS_FACTOR: f64 = 1.189_207_115;

/// Number of buckets from 1 µs to the maximum latency, so that memory is bounded.
const CLASSES_MAX: usize = 128;

/// Interval at which waiting time is attributed to the sides: long enough to find the side that runs idle, short enough
/// to notice a disk that slows down during the copy.
const SPAN: Duration = Duration::from_millis(250);
/// A side whose busy time is below this share of the other side's is not a bottleneck. Above, its share of the time in
/// which both are busy grows linearly, up to a half at equal busy times.
const KEEPS_UP: f64 = 0.8;

/// Busy times in an interval.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    passed: Duration,
    /// Time with only this side busy.
    alone: [Duration; 2],
    /// Time with both sides busy.
    both: Duration,
}

impl Span {
    /// Time attributed to waiting for each side. Time with one side busy counts as waiting for that side. Time with
    /// both busy counts for the side that is never idle, or for both if neither or both are.
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
    /// Time of the current round.
    pub now: Instant,
    latency: [Histogram<u64>; 2],
    waited: [Duration; 2],
    span: Span,
    /// When waiting time was last attributed.
    attributed_at: Instant,
    idle: [Duration; 2],
    digest_waited: Duration,
    limit_waited: Duration,
}

impl Meter {
    /// Starts measuring now.
    pub fn start() -> Self {
        let now = Instant::now();
        let histogram = || Histogram::new_with_max(LATENCY_US_MAX, 2).expect("bounds are right");
        Meter {
            started: now,
            now,
            latency: [histogram(), histogram()],
            waited: [Duration::ZERO; 2],
            span: Span::default(),
            attributed_at: now,
            idle: [Duration::ZERO; 2],
            digest_waited: Duration::ZERO,
            limit_waited: Duration::ZERO,
        }
    }

    /// Records a round that waited until `now`; `during` is the state while it waited.
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
        // If a limit takes most of the time, attribute the rest at least every other interval.
        if span.passed >= SPAN || now.saturating_duration_since(self.attributed_at) >= 2 * SPAN {
            self.attributed_at = now;
            let shares = std::mem::take(span).shares();
            for (index, share) in shares.into_iter().enumerate() {
                self.waited[index] += share;
                tally.waited_ns[index].fetch_add(share.as_nanos() as u64, Relaxed);
            }
        }
    }

    /// Records a completed request of `side` and its latency.
    pub fn completed(&mut self, side: Side, took: Duration) {
        self.latency[side.index()].saturating_record(took.as_micros() as u64);
    }

    /// Time since the start, as of the current round.
    pub fn elapsed(&self) -> Duration {
        self.now - self.started
    }

    /// Time since the start, as of now.
    pub fn elapsed_now(&self) -> Duration {
        self.started.elapsed()
    }

    /// Time spent waiting for digests.
    pub fn digest_waited(&self) -> Duration {
        self.digest_waited
    }

    /// Time during which the rate limit delayed the copy.
    pub fn limit_waited(&self) -> Duration {
        self.limit_waited
    }

    /// The statistics of both sides.
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

/// Histogram of latencies, four buckets per doubling from 1 µs on, without empty buckets at either end.
fn classes(latency: &Histogram<u64>) -> Vec<(u64, u64)> {
    let steps = latency.iter_log(1, CLASS_FACTOR);
    let all = steps.map(|step| (step.value_iterated_to(), step.count_since_last_iteration()));
    let mut classes: Vec<(u64, u64)> = Vec::with_capacity(CLASSES_MAX);
    for (by_us, count) in all.skip_while(|(_, count)| *count == 0) {
        match classes.last_mut() {
            // The first buckets are narrower than a microsecond and may have the same bound.
            Some(last) if last.0 == by_us => last.1 += count,
            _ => classes.push((by_us, count)),
        }
    }
    classes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shares of the source and the dest in the waiting time, in percent, after these rounds. Each round has its
    /// duration in milliseconds and the requests in flight.
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
    fn the_side_always_in_flight_is_the_bottleneck() {
        assert_eq!(shares(&[(7, [0, 32]), (3, [1, 31])]), [0, 100]);
        assert_eq!(shares(&[(7, [32, 0]), (3, [31, 1])]), [100, 0]);
    }

    #[test]
    fn two_busy_sides_share_the_waiting_time() {
        for in_flight in [[31, 1], [16, 16], [1, 31]] {
            assert_eq!(shares(&[(1, in_flight)]), [50, 50]);
        }
    }

    #[test]
    fn alternating_sides_are_charged_their_own_time() {
        let [source, dest] = shares(&[(6, [1, 0]), (3, [0, 1])]);
        assert!((66..=67).contains(&source) && (33..=34).contains(&dest), "{source} {dest}");
    }

    #[test]
    fn waiting_for_limit_or_digests_is_charged_to_neither_side() {
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
        let reported = (meter.limit_waited(), meter.digest_waited());
        assert_eq!(reported, (Duration::from_millis(300), Duration::from_millis(200)));
    }
}
