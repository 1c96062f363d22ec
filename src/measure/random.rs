//! Reads at random places: how long each takes, and how many are done in a second.
use super::failure::failure_of_all;
use super::{BadRange, MeasureFailure, Point, Subject};
use crate::core::{Completion, Endpoint, Error, Extent, Kind, Op, Request, RequestError, Side, Stop, Transferred};
use crate::engine::EndpointQueue;
use crate::sys;
use hdrhistogram::Histogram;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Slow reads that are kept with their places; more are counted.
pub const SLOW_KEPT_MAX: usize = 64;

/// The longest time that a request may take and still be distinguished from longer ones, in nanoseconds.
const LATENCY_NS_MAX: u64 = 3_600_000_000_000;

/// Upper ends of the classes that times are reported in: each twice as long as the one before, from 1 µs on.
pub const CLASS_FACTOR: f64 = 2.0;

/// What is to be read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomReads {
    /// Block size and depth.
    pub point: Point,
    /// Where; whole blocks of it are read, each as likely as any other.
    pub range: Extent,
    /// The same seed gives the same places in the same order.
    pub seed: u64,
    /// So many reads; `None`: as many as fit in the time.
    pub requests: Option<u64>,
    /// About how long.
    pub time: Duration,
    /// A read that takes longer is slow; `None`: none is.
    pub slower_than: Option<Duration>,
}

/// A read that took longer than it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowRead {
    /// Where.
    pub offset: u64,
    /// When it was sent, since the first read.
    pub at: Duration,
    /// How long it took.
    pub took: Duration,
}

/// The result of reading so.
#[derive(Debug)]
pub struct RandomFound {
    /// Reads that succeeded.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
    /// From the first read to the end of the last.
    pub seconds: f64,
    /// Processor time of this process in it.
    pub cpu_s: f64,
    /// Times of the reads that succeeded, in nanoseconds.
    times: Histogram<u64>,
    /// The first slow ones.
    pub slow: Vec<SlowRead>,
    /// How many were slow.
    pub slow_count: u64,
    /// The page cache held some of it before, or keeps what is read twice.
    pub cached: bool,
    /// Why it ended before its time.
    pub failure: Option<MeasureFailure>,
}

impl RandomFound {
    /// For tests of reports: reads that took so many microseconds, all in a second; those above 1 ms are slow.
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

    /// Reads a second; `None` where there were none.
    pub fn requests_per_s(&self) -> Option<f64> {
        (self.requests > 0 && self.seconds > 0.0).then(|| self.requests as f64 / self.seconds)
    }

    /// Microseconds within which this share of the reads, from 0 to 1, were done.
    pub fn quantile_us(&self, share: f64) -> f64 {
        self.times.value_at_quantile(share) as f64 / 1e3
    }

    /// The shortest time, in microseconds.
    pub fn min_us(&self) -> f64 {
        if self.times.is_empty() { 0.0 } else { self.times.min() as f64 / 1e3 }
    }

    /// The longest time, in microseconds.
    pub fn max_us(&self) -> f64 {
        self.times.max() as f64 / 1e3
    }

    /// The mean time, in microseconds.
    pub fn mean_us(&self) -> f64 {
        self.times.mean() / 1e3
    }

    /// Classes of time, the shortest first, each by its upper end in microseconds and how many reads are in it; empty
    /// ones at either end are left out.
    pub fn classes(&self) -> Vec<(u64, u64)> {
        let steps = self.times.iter_log(1000, CLASS_FACTOR);
        let class = steps.map(|step| (step.value_iterated_to().div_ceil(1000), step.count_since_last_iteration()));
        class.skip_while(|(_, count)| *count == 0).collect()
    }
}

/// Reads at random. What was found is kept whatever happens.
///
/// # Errors
/// Requests cannot be made at all.
pub fn random(subject: &mut Subject, wish: &RandomReads, stop: &Stop) -> Result<RandomFound, MeasureFailure> {
    let Some(end) = subject.ways.iter().find(|(way, _)| *way == wish.point.way).map(|(_, end)| end.clone()) else {
        let what = format!("{} does not support {} I/O", subject.address, wish.point.way.name());
        return Err(MeasureFailure::Broken(Error::new(Kind::Unsupported, what)));
    };
    let address = subject.address.clone();
    let broken = |error: io::Error| {
        let what = format!("cannot read {address}");
        MeasureFailure::Broken(Error::new(Kind::Io, what).because(error))
    };
    let cached = subject.is_cached(&end, wish.point.way, wish.range);
    let side = subject.one_side(&end, wish.point.depth).map_err(broken)?;
    let idle = (0..).zip(subject.filled(wish.point.block_bytes, wish.point.depth)).collect();
    let began = subject.clock.now();
    let used = sys::used();
    let mut reading = RandomRun {
        wish,
        end: &end,
        rng: fastrand::Rng::with_seed(wish.seed),
        idle,
        sent_at: vec![began; wish.point.depth as usize],
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
    subject.forget(&end, wish.point.way, wish.range, cached);
    found.failure = found.failure.or(read.err()).or(stop.signal().map(MeasureFailure::Stopped));
    Ok(found)
}

/// The reads, and the result of them.
struct RandomRun<'a> {
    wish: &'a RandomReads,
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
            let enough = self.last - self.began >= self.wish.time || self.found.failure.is_some();
            if !enough && !stop.is_asked() {
                self.feed(&mut side, subject);
            }
            if side.in_flight() == 0 {
                return Ok(());
            }
            side.poll(&mut done)?;
            self.last = subject.clock.now();
            for completion in done.drain(..) {
                self.settle(completion, &mut side, subject);
            }
        }
    }

    fn feed(&mut self, side: &mut EndpointQueue, subject: &Subject) {
        let (len, range) = (self.wish.point.block_bytes, self.wish.range);
        let blocks = range.len / u64::from(len);
        while self.wish.requests.is_none_or(|most| self.sent < most) && blocks > 0 {
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

    fn settle(&mut self, Completion { request, result }: Completion, side: &mut EndpointQueue, subject: &Subject) {
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
            self.came(offset, len, sent_at);
            return;
        };
        match failure_of_all(self.end, Op::Read, &subject.address, at, error) {
            Ok(error) => self.found.failure = Some(MeasureFailure::Broken(error)),
            Err(error) => self.bad.push(BadRange::of(at, left, &error)),
        }
    }

    fn came(&mut self, offset: u64, len: u32, sent_at: Duration) {
        let took = self.last - sent_at;
        let found = &mut self.found;
        found.requests += 1;
        found.bytes += u64::from(len);
        found.times.saturating_record(u64::try_from(took.as_nanos()).unwrap_or(LATENCY_NS_MAX).max(1));
        if self.wish.slower_than.is_some_and(|bound| took > bound) {
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

    fn wish(seed: u64, depth: u32) -> RandomReads {
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
        let found = random(&mut subject, &wish(seed, depth), &Stop::default()).unwrap();
        assert!(found.failure.is_none() && found.requests == 500 && found.bytes == 500 * 4096, "{found:?}");
        assert_eq!(found.classes().iter().map(|(_, count)| count).sum::<u64>(), 500);
        assert!(found.min_us() <= found.quantile_us(0.5) && found.quantile_us(0.99) <= found.max_us() * 1.01);
        disk.asked().iter().map(|asked| asked.extent.offset).collect()
    }

    #[test]
    fn places_are_whole_blocks_of_the_range_and_a_seed_gives_them_again() {
        let first = places(7, 1, EngineKind::Sync);
        let range = wish(7, 1).range;
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
    fn a_bad_place_is_told_and_is_no_time_of_a_read() {
        let (_, mut subject) =
            subject(&[Fault::BadAt { op: Op::Read, offset: (64 << 10) + 700, errno: libc::EIO }], EngineKind::Sync);
        let found = random(&mut subject, &wish(7, 1), &Stop::default()).unwrap();
        assert!(found.failure.is_none() && subject.failed > 0 && !subject.bad.is_empty());
        assert_eq!(found.requests + subject.failed, 500);
        assert_eq!(found.classes().iter().map(|(_, count)| count).sum::<u64>(), found.requests);
    }

    #[test]
    fn slow_reads_are_counted_and_the_first_have_their_places() {
        let (_, mut subject) = subject(&[], EngineKind::Sync);
        // Every look at the clock is 1 ms later than the one before.
        let ticks = AtomicU64::new(0);
        subject.clock = Clock::of(move || Duration::from_millis(ticks.fetch_add(1, Relaxed)));
        let bound = |ms: u64| Some(Duration::from_micros(ms * 1000 - 1));
        let found = random(&mut subject, &RandomReads { slower_than: bound(1), ..wish(7, 1) }, &Stop::default());
        let found = found.unwrap();
        assert_eq!((found.slow_count, found.slow.len()), (500, SLOW_KEPT_MAX));
        assert!(found.slow.iter().all(|slow| slow.took >= Duration::from_millis(1)));
        assert!((found.mean_us() / found.quantile_us(0.5) - 1.0).abs() < 0.01, "{found:?}");
        assert_eq!(found.classes().iter().filter(|(_, count)| *count > 0).count(), 1);
        let found = random(&mut subject, &RandomReads { slower_than: bound(10), ..wish(7, 1) }, &Stop::default());
        assert_eq!(found.unwrap().slow_count, 0);
    }

    #[test]
    fn it_ends_with_its_time_and_when_it_is_asked_to() {
        let (_, mut subject) = subject(&[], EngineKind::Sync);
        let ticks = AtomicU64::new(0);
        subject.clock = Clock::of(move || Duration::from_millis(ticks.fetch_add(1, Relaxed)));
        let endless = RandomReads { requests: None, time: Duration::from_millis(50), ..wish(7, 1) };
        let found = random(&mut subject, &endless, &Stop::default()).unwrap();
        assert!((10..=50).contains(&found.requests) && found.failure.is_none(), "{found:?}");
        let stop = Stop::default();
        stop.ask(2);
        let found = random(&mut subject, &endless, &stop).unwrap();
        assert!(matches!(found.failure, Some(MeasureFailure::Stopped(2))) && found.requests == 0);
    }
}
