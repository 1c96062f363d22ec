//! Random reads: their latencies and IOPS.
use super::failure::failure_of_all;
use super::{BadRange, MeasureFailure, Point, Subject};
use crate::core::{Completion, Endpoint, Error, Extent, Kind, Op, Request, RequestError, Side, Stop, Transferred};
use crate::engine::EndpointQueue;
use crate::sys;
use hdrhistogram::Histogram;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of slow reads that are listed; further ones are only counted.
pub const SLOW_KEPT_MAX: usize = 64;

/// Maximum latency of the histogram, in nanoseconds.
const LATENCY_NS_MAX: u64 = 3_600_000_000_000;

/// Ratio between bounds of histogram buckets, which start at 1 µs.
pub const CLASS_FACTOR: f64 = 2.0;

/// Parameters of random reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomReads {
    /// Block size and depth.
    pub point: Point,
    /// The extent from which blocks are read with equal probability.
    pub range: Extent,
    /// The same seed produces the same sequence of offsets.
    pub seed: u64,
    /// Number of reads; `None` for as many as fit into the time.
    pub requests: Option<u64>,
    /// Approximate duration.
    pub time: Duration,
    /// Latency above which a read counts as slow; `None` for never.
    pub slower_than: Option<Duration>,
}

/// A slow read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowRead {
    /// Its offset.
    pub offset: u64,
    /// Time of its submission, since the first read.
    pub at: Duration,
    /// Its latency.
    pub took: Duration,
}

/// The results of random reads.
#[derive(Debug)]
pub struct RandomFound {
    /// Number of successful reads.
    pub requests: u64,
    /// Their total bytes.
    pub bytes: u64,
    /// Time from the first submission to the last completion, in seconds.
    pub seconds: f64,
    /// Processor time of this process in that time, in seconds.
    pub cpu_s: f64,
    /// Latencies of the successful reads, in nanoseconds.
    times: Histogram<u64>,
    /// The first slow reads.
    pub slow: Vec<SlowRead>,
    /// Number of slow reads.
    pub slow_count: u64,
    /// Whether the page cache had some of the data before, or retains it between reads.
    pub cached: bool,
    /// Why it ended early.
    pub failure: Option<MeasureFailure>,
}

impl RandomFound {
    /// Results with these latencies in microseconds, within one second in total, for tests of reports. Those above 1 ms
    /// are slow.
    #[cfg(test)]
    pub(crate) fn of_times(times_us: &[u64]) -> RandomFound {
        let mut times = Histogram::new_with_bounds(1, LATENCY_NS_MAX, 3).expect("the bounds are right");
        times_us.iter().for_each(|us| times.record(us * 1000).expect("it is within the bounds"));
        let (requests, late) = (times_us.len() as u64, times_us.iter().filter(|&&us| us > 1000));
        let (offset, at) = (4096, Duration::from_millis(500));
        let slow: Vec<SlowRead> = late.map(|&us| SlowRead { offset, at, took: Duration::from_micros(us) }).collect();
        let (bytes, slow_count) = (requests * 4096, slow.len() as u64);
        RandomFound { requests, bytes, seconds: 1.0, cpu_s: 0.1, times, slow, slow_count, cached: false, failure: None }
    }

    /// IOPS; `None` if there were no reads.
    pub fn requests_per_s(&self) -> Option<f64> {
        (self.requests > 0 && self.seconds > 0.0).then(|| self.requests as f64 / self.seconds)
    }

    /// The latency in microseconds of a quantile from 0 to 1.
    pub fn quantile_us(&self, share: f64) -> f64 {
        self.times.value_at_quantile(share) as f64 / 1e3
    }

    /// Minimum latency in microseconds.
    pub fn min_us(&self) -> f64 {
        if self.times.is_empty() { 0.0 } else { self.times.min() as f64 / 1e3 }
    }

    /// Maximum latency in microseconds.
    pub fn max_us(&self) -> f64 {
        self.times.max() as f64 / 1e3
    }

    /// Mean latency in microseconds.
    pub fn mean_us(&self) -> f64 {
        self.times.mean() / 1e3
    }

    /// Latency histogram: the upper bound of each bucket in microseconds, ascending, and the number of reads in it,
    /// without empty buckets at either end.
    pub fn classes(&self) -> Vec<(u64, u64)> {
        let steps = self.times.iter_log(1000, CLASS_FACTOR);
        let class = steps.map(|step| (step.value_iterated_to().div_ceil(1000), step.count_since_last_iteration()));
        class.skip_while(|(_, count)| *count == 0).collect()
    }
}

/// Makes random reads. Results are kept even after a failure.
///
/// # Errors
/// Requests cannot be made at all.
pub fn random(subject: &mut Subject, options: &RandomReads, stop: &Stop) -> Result<RandomFound, MeasureFailure> {
    let Some(end) = subject.ways.iter().find(|(way, _)| *way == options.point.way).map(|(_, end)| end.clone()) else {
        let what = format!("{} does not support {} I/O", subject.address, options.point.way.name());
        return Err(MeasureFailure::Broken(Error::new(Kind::Unsupported, what)));
    };
    let address = subject.address.clone();
    let broken = |error: io::Error| {
        let what = format!("cannot read {address}");
        MeasureFailure::Broken(Error::new(Kind::Io, what).because(error))
    };
    let cached = subject.is_cached(&end, options.point.way, options.range);
    let side = subject.one_side(&end, options.point.depth).map_err(broken)?;
    let idle = (0..).zip(subject.filled(options.point.block_bytes, options.point.depth)).collect();
    let began = subject.clock.now();
    let used = sys::used();
    let mut reading = RandomRun {
        options,
        end: &end,
        rng: fastrand::Rng::with_seed(options.seed),
        idle,
        sent_at: vec![began; options.point.depth as usize],
        began,
        last: began,
        sent: 0,
        found: RandomFound {
            requests: 0,
            bytes: 0,
            seconds: 0.0,
            cpu_s: 0.0,
            times: Histogram::new_with_bounds(1, LATENCY_NS_MAX, 3).expect("the bounds are right"),
            slow: Vec::new(),
            slow_count: 0,
            cached,
            failure: None,
        },
        bad: Vec::new(),
    };
    let read = reading.read(side, subject, stop).map_err(broken);
    let now = sys::used();
    let RandomRun { mut found, bad, last, .. } = reading;
    found.cpu_s = (now.user + now.system).saturating_sub(used.user + used.system).as_secs_f64();
    found.seconds = (last - began).as_secs_f64();
    bad.into_iter().for_each(|bad| subject.note_bad(bad));
    subject.forget(&end, options.point.way, options.range, cached);
    found.failure = found.failure.or(read.err()).or(stop.signal().map(MeasureFailure::Stopped));
    Ok(found)
}

/// The state of the reads, and their results.
struct RandomRun<'a> {
    options: &'a RandomReads,
    end: &'a Arc<dyn Endpoint>,
    rng: fastrand::Rng,
    idle: Vec<(u32, crate::core::Buffer)>,
    sent_at: Vec<Duration>,
    began: Duration,
    last: Duration,
    sent: u64,
    found: RandomFound,
    bad: Vec<BadRange>,
}

impl RandomRun<'_> {
    fn read(&mut self, mut side: EndpointQueue, subject: &Subject, stop: &Stop) -> io::Result<()> {
        let mut done = Vec::new();
        loop {
            let enough = self.last - self.began >= self.options.time || self.found.failure.is_some();
            if !enough && !stop.is_requested() {
                self.feed(&mut side, subject);
            }
            if side.in_flight() == 0 {
                return Ok(());
            }
            side.poll(&mut done)?;
            self.last = subject.clock.now();
            for completion in done.drain(..) {
                self.complete(completion, &mut side, subject);
            }
        }
    }

    fn feed(&mut self, side: &mut EndpointQueue, subject: &Subject) {
        let (len, range) = (self.options.point.block_bytes, self.options.range);
        let blocks = range.len / u64::from(len);
        while self.options.requests.is_none_or(|most| self.sent < most) && blocks > 0 {
            let Some((slot, buffer)) = self.idle.pop() else { return };
            let offset = range.offset + self.rng.u64(0..blocks) * u64::from(len);
            self.sent += 1;
            self.sent_at[slot as usize] = subject.clock.now();
            let (ticket, side_read) = (u64::from(slot), Side::Source);
            side.submit(Request {
                slot,
                ticket,
                side: side_read,
                op: Op::Read,
                offset,
                len,
                done: 0,
                until: len,
                buffer,
            });
        }
    }

    fn complete(&mut self, Completion { request, result }: Completion, side: &mut EndpointQueue, subject: &Subject) {
        let failed = match result {
            Transferred::Retry => {
                side.submit(request);
                return;
            }
            Transferred::Moved(0) => {
                let ended = io::ErrorKind::UnexpectedEof.into();
                Some(RequestError::of(&**self.end, Op::Read, request.at(), ended))
            }
            Transferred::Failed(error) => Some(error),
            Transferred::Moved(_) => None,
        };
        let sent_at = self.sent_at[request.slot as usize];
        let (offset, at, left, len) = (request.offset, request.at(), request.left(), request.len);
        self.idle.push((request.slot, request.buffer));
        let Some(error) = failed else {
            self.on_completion(offset, len, sent_at);
            return;
        };
        match failure_of_all(self.end, Op::Read, &subject.address, at, error) {
            Ok(error) => self.found.failure = Some(MeasureFailure::Broken(error)),
            Err(error) => self.bad.push(BadRange::of(at, left, &error)),
        }
    }

    fn on_completion(&mut self, offset: u64, len: u32, sent_at: Duration) {
        let took = self.last - sent_at;
        let found = &mut self.found;
        found.requests += 1;
        found.bytes += u64::from(len);
        found.times.saturating_record(u64::try_from(took.as_nanos()).unwrap_or(LATENCY_NS_MAX).max(1));
        if self.options.slower_than.is_some_and(|bound| took > bound) {
            found.slow_count += 1;
            if found.slow.len() < SLOW_KEPT_MAX {
                found.slow.push(SlowRead { offset, at: sent_at - self.began, took });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::EngineKind;
    use crate::disks::memory::{Fault, Memory};
    use crate::measure::{Clock, Way};
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    const LEN: u64 = 1 << 20;

    fn subject(faults: &[Fault], engine: EngineKind) -> (Arc<Memory>, Subject) {
        let disk = Arc::new(Memory::disk(vec![7; LEN as usize], faults));
        let end: Arc<dyn Endpoint> = disk.clone();
        let ways = vec![(Way::Direct, end)];
        (disk, Subject::new("disk", ways, engine, vec![Extent::new(0, LEN)], 8 << 20).unwrap())
    }

    fn options(seed: u64, depth: u32) -> RandomReads {
        RandomReads {
            point: Point { way: Way::Direct, block_bytes: 4096, depth },
            range: Extent::new(64 << 10, 512 << 10),
            seed,
            requests: Some(500),
            time: Duration::from_secs(86_400),
            slower_than: None,
        }
    }

    fn places(seed: u64, depth: u32, engine: EngineKind) -> Vec<u64> {
        let (disk, mut subject) = subject(&[], engine);
        let found = random(&mut subject, &options(seed, depth), &Stop::default()).unwrap();
        assert!(found.failure.is_none() && found.requests == 500 && found.bytes == 500 * 4096, "{found:?}");
        assert_eq!(found.classes().iter().map(|(_, count)| count).sum::<u64>(), 500);
        assert!(found.min_us() <= found.quantile_us(0.5) && found.quantile_us(0.99) <= found.max_us() * 1.01);
        disk.asked().iter().map(|requested| requested.extent.offset).collect()
    }

    #[test]
    fn offsets_are_whole_blocks_of_the_range_and_repeat_with_a_seed() {
        let first = places(7, 1, EngineKind::Sync);
        let range = options(7, 1).range;
        assert!(first.iter().all(|at| at % 4096 == 0 && (range.offset..range.end()).contains(at)));
        let distinct: std::collections::BTreeSet<u64> = first.iter().copied().collect();
        assert!(distinct.len() > 80, "128 blocks and 500 reads: {}", distinct.len());
        assert_eq!(first, places(7, 1, EngineKind::Sync));
        assert_ne!(first, places(8, 1, EngineKind::Sync));
        let mut deep = places(7, 16, EngineKind::Threads);
        let mut sorted = first;
        deep.sort_unstable();
        sorted.sort_unstable();
        assert_eq!(deep, sorted, "as deep as one likes");
    }

    #[test]
    fn a_failed_read_is_reported_and_excluded_from_latencies() {
        let (_, mut subject) =
            subject(&[Fault::BadAt { op: Op::Read, offset: (64 << 10) + 700, errno: libc::EIO }], EngineKind::Sync);
        let found = random(&mut subject, &options(7, 1), &Stop::default()).unwrap();
        assert!(found.failure.is_none() && subject.failed > 0 && !subject.bad.is_empty());
        assert_eq!(found.requests + subject.failed, 500);
        assert_eq!(found.classes().iter().map(|(_, count)| count).sum::<u64>(), found.requests);
    }

    #[test]
    fn slow_reads_are_counted_and_the_first_have_offsets() {
        let (_, mut subject) = subject(&[], EngineKind::Sync);
        // Each query of the clock is 1 ms later than the previous one.
        let ticks = AtomicU64::new(0);
        subject.clock = Clock::of(move || Duration::from_millis(ticks.fetch_add(1, Relaxed)));
        let bound = |ms: u64| Some(Duration::from_micros(ms * 1000 - 1));
        let found = random(&mut subject, &RandomReads { slower_than: bound(1), ..options(7, 1) }, &Stop::default());
        let found = found.unwrap();
        assert_eq!((found.slow_count, found.slow.len()), (500, SLOW_KEPT_MAX));
        assert!(found.slow.iter().all(|slow| slow.took >= Duration::from_millis(1)));
        assert!((found.mean_us() / found.quantile_us(0.5) - 1.0).abs() < 0.01, "{found:?}");
        assert_eq!(found.classes().iter().filter(|(_, count)| *count > 0).count(), 1);
        let found = random(&mut subject, &RandomReads { slower_than: bound(10), ..options(7, 1) }, &Stop::default());
        assert_eq!(found.unwrap().slow_count, 0);
    }

    #[test]
    fn random_reads_end_at_the_time_limit_or_on_a_stop() {
        let (_, mut subject) = subject(&[], EngineKind::Sync);
        let ticks = AtomicU64::new(0);
        subject.clock = Clock::of(move || Duration::from_millis(ticks.fetch_add(1, Relaxed)));
        let endless = RandomReads { requests: None, time: Duration::from_millis(50), ..options(7, 1) };
        let found = random(&mut subject, &endless, &Stop::default()).unwrap();
        assert!((10..=50).contains(&found.requests) && found.failure.is_none(), "{found:?}");
        let stop = Stop::default();
        stop.request(2);
        let found = random(&mut subject, &endless, &stop).unwrap();
        assert!(matches!(found.failure, Some(MeasureFailure::Stopped(2))) && found.requests == 0);
    }
}
