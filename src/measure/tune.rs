//! Runs a sweep: the order and duration of runs, and when to stop.
use super::{BestPoint, Entry, MeasureFailure, Point, Subject, Sweep, Trial, Walk, Way, answer};
use crate::core::{Extent, Op, Stop};
use std::time::Duration;

/// Share of the time for the first round, which tries all points.
const FIRST_ROUND_SHARE: f64 = 0.4;

/// Minimum time for the first round, regardless of the requested time, because a busy machine measures very few points
/// in a second.
const FIRST_ROUND: Duration = Duration::from_secs(4);

/// Number of rounds among which the time is divided; further rounds give no new information.
const ROUNDS: u32 = 7;

/// Minimum and maximum duration of a run: shorter ones are dominated by setup; instead of longer ones, more rounds are
/// better.
const PATIENCE: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(1000));

/// Maximum number of locations to check for one without cached pages, and the maximum distance between them.
const PLACES_CHECKED: u32 = 16;
/// See [`PLACES_CHECKED`].
const CACHED_STEP_BYTES: u64 = 128 << 20;

/// A run may take this multiple of its share of the time, to complete twice as many requests as its depth.
const OVERRUN_FACTOR: f64 = 6.0;

/// Number of points that are always tried first.
const FIRST_POINTS: usize = 3;

/// Alternatively, a run may take this share of the total time while no more than [`FIRST_ROUND_MAX`] has passed.
const RUN_SHARE: f64 = 0.05;
/// See [`RUN_SHARE`].
const FIRST_ROUND_MAX: f64 = 0.55;

/// The rate may increase by this factor with the bytes in flight, because the points between were omitted.
const STEP: f64 = 4.0;

/// Maximum bytes of buffered writes to a disk whose rate is not known yet.
const UNKNOWN_BYTES: u64 = 4 << 20;

/// Observes the progress of a sweep.
pub trait SweepObserver {
    /// A point was measured for the first time, or omitted.
    fn tried(&mut self, _entry: &Entry) {}

    /// Called after each run with the progress, from 0 to 1, and the current point.
    fn moved(&mut self, share: f64, point: Point);
}

/// The result of a sweep.
#[derive(Debug)]
pub struct Tuned {
    /// All points with their runs.
    pub sweep: Sweep,
    /// The best point; `None` if nothing could be transferred.
    pub answer: Option<BestPoint>,
    /// The best point for buffered I/O, if that is not the main way.
    pub buffered: Option<BestPoint>,
    /// Number of complete rounds.
    pub rounds: u32,
    /// Whether the disk is so small that bytes were accessed more than once, so that its cache may have had them.
    pub went_round: bool,
    /// Why it ended early.
    pub failure: Option<MeasureFailure>,
}

/// Sweeps `points` for about `time`. Results are kept even after a failure.
pub fn tune(
    subject: &mut Subject,
    points: Vec<Point>,
    time: Duration,
    stop: &Stop,
    watch: &mut impl SweepObserver,
) -> Tuned {
    let walk = Walk::new(subject.extents.clone(), walk_align(subject), points.len() as u64 * 3);
    let began = subject.clock.now();
    let mut pass = Pass { subject, stop, walk, began, time, best: None };
    let mut sweep = Sweep::new(points, Point::of_dd());
    let failure = pass.rounds(&mut sweep, watch).err();
    let went_round = pass.walk.has_wrapped();
    sweep.conclude();
    let main = if subject.has(Way::Direct) { Way::Direct } else { Way::Buffered };
    let main_answer = answer(&sweep, main);
    let buffered = if main == Way::Direct { answer(&sweep, Way::Buffered) } else { None };
    let rounds = sweep.round();
    Tuned { sweep, answer: main_answer, buffered, rounds, went_round, failure }
}

/// Alignment of runs: that of file systems and RAIDs, if the disk is large enough.
fn walk_align(subject: &Subject) -> u64 {
    let size: u64 = subject.extents.iter().map(|extent| extent.len).sum();
    let wanted = if size >= 1 << 30 { 1 << 20 } else { 4096 };
    subject.align_bytes.max(wanted)
}

struct Pass<'a> {
    subject: &'a mut Subject,
    stop: &'a Stop,
    walk: Walk,
    began: Duration,
    time: Duration,
    best: Option<Best>,
}

/// The highest known rate, and its bytes in flight.
#[derive(Clone, Copy, Debug)]
struct Best {
    bytes_per_s: f64,
    in_flight_bytes: u64,
}

impl Best {
    /// Minimum duration of a run at `point`. A disk with a latency per request has a higher rate for larger requests
    /// and more of them, so a rate with few bytes in flight does not limit larger points.
    fn seconds(&self, point: Point) -> f64 {
        let more = point.in_flight_bytes() as f64 / self.in_flight_bytes.max(1) as f64;
        point.in_flight_bytes() as f64 * 2.0 / (self.bytes_per_s * more.clamp(1.0, STEP))
    }
}

impl Pass<'_> {
    fn passed(&self) -> Duration {
        self.subject.clock.now() - self.began
    }

    fn rounds(&mut self, sweep: &mut Sweep, watch: &mut impl SweepObserver) -> Result<(), MeasureFailure> {
        while sweep.round() < ROUNDS && sweep.running() > 0 {
            self.walk.begin(sweep.round());
            while let Some(index) = sweep.next_point() {
                if sweep.round() > 0 && self.passed() >= self.time {
                    return Ok(());
                }
                self.one(sweep, index, watch)?;
            }
            sweep.end_round();
        }
        Ok(())
    }

    /// Makes one run, unless it would take too long.
    fn one(&mut self, sweep: &mut Sweep, index: usize, watch: &mut impl SweepObserver) -> Result<(), MeasureFailure> {
        let point = sweep.entries()[index].point;
        let patience = self.patience(sweep);
        let first = sweep.round() == 0;
        let least = point.in_flight_bytes() * 2;
        let Some(extent) = self.place(point, least) else {
            sweep.leave_out(index, "larger than the measured device");
            watch.tried(&sweep.entries()[index]);
            return Ok(());
        };
        // A single run may have woken the disk.
        let known = sweep.entries().iter().filter(|entry| entry.rate().is_some()).count() >= FIRST_POINTS;
        let best = self.best.filter(|_| first && known);
        if best.is_some_and(|best| best.seconds(point) > self.bearable(point, patience)) {
            sweep.leave_out(index, "too slow for the time limit");
            watch.tried(&sweep.entries()[index]);
            return Ok(());
        }
        let extent = self.bounded(point, extent, least, patience);
        let trial = self.subject.run(point, extent, patience, self.stop)?.of_whole();
        self.walk.advance(trial.moved_bytes);
        self.note(&trial);
        sweep.record(index, trial);
        if first {
            watch.tried(&sweep.entries()[index]);
        }
        watch.moved((self.passed().as_secs_f64() / self.time.as_secs_f64()).min(1.0), point);
        Ok(())
    }

    /// The location of the next run: one without cached pages, if that matters and there is one.
    fn place(&mut self, point: Point, least: u64) -> Option<Extent> {
        let mut extent = self.walk.place(least)?;
        let size: u64 = self.subject.extents.iter().map(|extent| extent.len).sum();
        // On a small disk the checked locations must be distinct, too.
        let step = CACHED_STEP_BYTES.min(size / u64::from(PLACES_CHECKED + 1));
        if self.subject.op == Op::Read {
            for _ in 0..PLACES_CHECKED {
                if self.subject.cached_bytes(point, extent) == 0 {
                    break;
                }
                self.walk.skip(step);
                extent = self.walk.place(least)?;
            }
        }
        Some(extent)
    }

    /// Limits buffered writes to what the disk writes in `patience`: the page cache accepts data at memory speed, and
    /// the flush at the end of the run would take many times as long.
    fn bounded(&self, point: Point, extent: Extent, least: u64, patience: Duration) -> Extent {
        if self.subject.op == Op::Read || point.way == Way::Direct {
            return extent;
        }
        let bytes = self.best.map_or(UNKNOWN_BYTES, |best| (best.bytes_per_s * patience.as_secs_f64()) as u64);
        Extent::new(extent.offset, extent.len.min(bytes.max(least)))
    }

    fn note(&mut self, trial: &Trial) {
        let known = self.best.map_or(0.0, |best| best.bytes_per_s);
        if trial.is_sound() && trial.bytes_per_s() > known && (self.subject.op == Op::Write || trial.cached_bytes == 0)
        {
            let (bytes_per_s, in_flight_bytes) = (trial.bytes_per_s(), trial.point.in_flight_bytes());
            self.best = Some(Best { bytes_per_s, in_flight_bytes });
        }
    }

    /// Maximum duration of a run of the first round, in seconds. The last points are as likely to be the best, so the
    /// time that the first ones took does not count against them while another round is possible. No run starts after
    /// the total time, except those for comparison.
    fn bearable(&self, point: Point, patience: Duration) -> f64 {
        let passed = self.passed();
        if point == Point::of_dd() {
            return f64::INFINITY;
        }
        if passed >= self.time.max(FIRST_ROUND) {
            return 0.0;
        }
        let share = if passed < self.time.mul_f64(FIRST_ROUND_MAX) { self.time.mul_f64(RUN_SHARE) } else { patience };
        share.max(patience.mul_f64(OVERRUN_FACTOR)).as_secs_f64()
    }

    /// The remaining time divided by the number of remaining runs.
    fn patience(&self, sweep: &Sweep) -> Duration {
        let passed = self.passed();
        let runs = sweep.to_come() + 1;
        let left = if sweep.round() == 0 {
            self.time.mul_f64(FIRST_ROUND_SHARE).saturating_sub(passed).div_f64(runs as f64)
        } else {
            let rounds = (ROUNDS - sweep.round()).saturating_sub(1);
            let to_come = runs + sweep.running() * rounds as usize;
            self.time.saturating_sub(passed).div_f64(to_come as f64)
        };
        left.clamp(PATIENCE.0, PATIENCE.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Endpoint, EngineKind};
    use crate::disks::memory::{Fault, Memory};
    use crate::measure::{Clock, State, grid};
    use std::sync::Arc;

    #[derive(Default)]
    struct SweepLog {
        tried: usize,
        share: f64,
    }

    impl SweepObserver for SweepLog {
        fn tried(&mut self, _entry: &Entry) {
            self.tried += 1;
        }

        fn moved(&mut self, share: f64, _point: Point) {
            assert!(share >= self.share && share <= 1.0);
            self.share = share;
        }
    }

    fn subject(faults: &[Fault], len: usize) -> (Arc<Memory>, Subject) {
        let disk = Arc::new(Memory::disk(vec![7; len], faults));
        let end: Arc<dyn Endpoint> = disk.clone();
        let extents = vec![Extent::new(0, len as u64)];
        let subject = Subject::new("disk", vec![(Way::Direct, end)], EngineKind::Sync, extents, 4 << 20).unwrap();
        (disk, subject)
    }

    fn points() -> Vec<Point> {
        let few = |point: &Point| point.block_bytes >= 65536 && point.depth <= 4;
        grid(&[Way::Direct], 512, 4 << 20, crate::measure::Effort::Full).into_iter().filter(few).collect()
    }

    #[test]
    fn every_point_is_measured_by_reads_only() {
        let (disk, mut subject) = subject(&[], 8 << 20);
        let mut log = SweepLog::default();
        let tuned = tune(&mut subject, points(), Duration::from_millis(200), &Stop::default(), &mut log);
        assert_eq!(log.tried, points().len());
        assert!(tuned.failure.is_none() && tuned.answer.is_some(), "{:?}", tuned.failure);
        assert!(tuned.sweep.entries().iter().all(|entry| entry.state == State::Lost || entry.rate().is_some()));
        assert!(disk.asked().iter().all(|requested| requested.op == Op::Read && requested.extent.end() <= 8 << 20));
        assert!(tuned.went_round, "8 MiB are soon gone over");
    }

    #[test]
    fn a_read_error_is_named_and_the_sweep_continues() {
        let bad = Fault::BadAt { op: Op::Read, offset: 70_000, errno: libc::EIO };
        let (_, mut subject) = subject(&[bad], 8 << 20);
        let tuned =
            tune(&mut subject, points(), Duration::from_millis(200), &Stop::default(), &mut SweepLog::default());
        // On such a small disk every run may meet the bad sector, and then no rate is known.
        assert!(tuned.failure.is_none() && tuned.sweep.entries().iter().any(|entry| !entry.trials.is_empty()));
        assert!(
            subject.failed > 0
                && subject.bad.iter().all(|bad| (bad.offset..=bad.offset + u64::from(bad.len)).contains(&70_000))
        );
    }

    #[test]
    fn a_disk_that_ends_early_stops_the_sweep_and_keeps_its_results() {
        let (_, mut subject) = subject(&[Fault::EndsAt(1 << 20)], 8 << 20);
        let tuned =
            tune(&mut subject, points(), Duration::from_millis(200), &Stop::default(), &mut SweepLog::default());
        assert!(tuned.failure.is_some() || subject.failed > 0);
    }

    #[test]
    fn a_full_disk_is_an_error_of_the_dest() {
        let (_, mut subject) = subject(&[Fault::FullAt(4 << 20)], 8 << 20);
        (subject.op, subject.content) = (Op::Write, vec![7; 512]);
        let tuned =
            tune(&mut subject, points(), Duration::from_millis(200), &Stop::default(), &mut SweepLog::default());
        let Some(MeasureFailure::Broken(error)) = tuned.failure else { panic!("{:?}", tuned.failure) };
        assert!(error.what.starts_with("destination disk is full: cannot write"), "{error:?}");
    }

    #[test]
    fn a_disk_that_fails_every_request_ends_the_sweep() {
        let everything = Fault::BadSectors { op: Op::Read, extent: Extent::new(0, 64 << 20), errno: libc::EIO };
        let (_, mut subject) = subject(&[everything], 64 << 20);
        let tuned = tune(&mut subject, points(), Duration::from_secs(600), &Stop::default(), &mut SweepLog::default());
        let Some(MeasureFailure::Broken(error)) = tuned.failure else { panic!("{:?}", tuned.failure) };
        assert!(
            error.what.starts_with("cannot read source disk any more: every request of the last 8 runs"),
            "{error}"
        );
        assert!(error.offset.is_some() && !error.advice.is_empty() && subject.failed > 0, "{error:?}");
    }

    #[test]
    fn a_signal_ends_the_sweep() {
        let (_, mut subject) = subject(&[], 8 << 20);
        let stop = Stop::default();
        stop.request(2);
        let tuned = tune(&mut subject, points(), Duration::from_secs(60), &stop, &mut SweepLog::default());
        assert!(matches!(tuned.failure, Some(MeasureFailure::Stopped(2))));
    }

    #[test]
    fn points_of_dd_are_measured_even_after_the_time_limit() {
        let (disk, mut subject) = subject(&[], 8 << 20);
        subject.ways.push((Way::Buffered, disk));
        // Every operation takes long here.
        let looks = std::sync::atomic::AtomicU32::new(0);
        let next = move || looks.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        subject.clock = Clock::of(move || Duration::from_millis(100) * next());
        let points = [points(), vec![Point::of_dd()]].concat();
        let tuned = tune(&mut subject, points, Duration::from_secs(1), &Stop::default(), &mut SweepLog::default());
        assert!(tuned.answer.unwrap().dd_bytes_per_s.is_some());
        let left_out = |entry: &&Entry| entry.state == State::LeftOut("too slow for the time limit");
        assert!(tuned.sweep.entries().iter().filter(left_out).count() > 1, "{:?}", tuned.sweep);
    }

    #[test]
    fn a_low_depth_does_not_rule_out_a_high_one() {
        let point = |block_bytes, depth| Point { way: Way::Direct, block_bytes, depth };
        // 20 ms per request, of any size.
        let best = Best { bytes_per_s: 25_600.0, in_flight_bytes: 512 };
        assert!((best.seconds(point(512, 1)) - 0.04).abs() < 1e-6);
        assert!((best.seconds(point(512, 4)) - 0.04).abs() < 1e-6);
        assert!((best.seconds(point(2048, 1)) - 0.04).abs() < 1e-6);
        assert!((best.seconds(point(4096, 1)) - 0.08).abs() < 1e-6);
        // The rate of the link, which is not higher with less in flight.
        let best = Best { bytes_per_s: 1e6, in_flight_bytes: 1 << 20 };
        assert!((best.seconds(point(65536, 4)) - 0.524_288).abs() < 1e-6);
    }

    #[test]
    fn blocks_too_large_for_the_disk_are_omitted() {
        let (_, mut subject) = subject(&[], 1 << 20);
        let tuned =
            tune(&mut subject, points(), Duration::from_millis(100), &Stop::default(), &mut SweepLog::default());
        let of = |block_bytes, depth| {
            tuned.sweep.entries().iter().find(|e| (e.point.block_bytes, e.point.depth) == (block_bytes, depth)).unwrap()
        };
        assert_eq!(of(1 << 20, 1).state, State::LeftOut("larger than the measured device"));
        assert!(!of(65536, 1).trials.is_empty());
    }
}
