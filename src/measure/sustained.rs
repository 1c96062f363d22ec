//! Sustained writing, to detect an exhausted write cache or throttling.
use super::failure::{answers_no_more, failure_of_all};
use super::shift::{Level, levels};
use super::{BadRange, MeasureFailure, Stage, Subject, Temperatures, Trend, WriteMoment, fell_hot, trend};
use crate::core::{Buffer, Completion, Error, Extent, Kind, Op, Request, RequestError, Side, Stop, Transferred};
use crate::engine::EndpointQueue;
use std::io;
use std::time::Duration;

/// Block size and depth, as in a copy.
const STREAM: (u32, u32) = (1 << 20, 8);

/// After this number of steps the step size doubles. The relative resolution stays at half a percent however much is
/// written, and early changes remain visible.
const STEPS_OF_ALL: u64 = 512;

/// Minimum step in bytes; smaller ones are below the resolution of the clock.
const STEP_BYTES_MIN: u64 = 4 << 20;

/// Number of steps between checks whether the rate has settled.
const CHECK_STEPS: usize = 16;

/// To count as settled, a rate must last for one in this many of all bytes, and for as many bytes as were written
/// before it: the first drop may be due to a small cache before the main one.
const SETTLED_PART: u64 = 16;

/// Minimum bytes for that.
const SETTLED_BYTES_MIN: u64 = 128 << 20;

/// After this many consecutive failed requests the disk no longer responds.
const CONSECUTIVE_FAILURES_MAX: u32 = 256;

/// The results of sustained writing.
#[derive(Debug, Default)]
pub struct Sustained {
    /// The steps, whose size increases.
    pub steps: Vec<WriteMoment>,
    /// The progress at the last completion, including an incomplete step.
    pub end: WriteMoment,
    /// Whether the rate settled before all bytes were written.
    pub settled: bool,
    /// Whether bytes were overwritten repeatedly, because the extents are smaller than the requested amount.
    pub went_round: bool,
    /// Temperatures of the drive; empty if unknown.
    pub warmth: Temperatures,
    /// Duration of the final flush, in seconds.
    pub flush_s: f64,
    /// Why it ended early.
    pub failure: Option<MeasureFailure>,
}

impl Sustained {
    /// The rate of each step, in bytes per second.
    pub fn rates(&self) -> Vec<f64> {
        let before = [WriteMoment::default()].into_iter().chain(self.steps.iter().copied());
        before.zip(&self.steps).map(|(from, to)| from.bytes_per_s_to(*to)).collect()
    }

    /// Mean rate of all bytes, including the flush, in bytes per second.
    pub fn bytes_per_s(&self) -> f64 {
        self.end.bytes as f64 / (self.end.seconds + self.flush_s).max(f64::MIN_POSITIVE)
    }

    /// The consecutive stages of constant rate.
    pub fn stages(&self) -> Vec<Stage> {
        let at = |step: usize| step.checked_sub(1).map_or(WriteMoment::default(), |step| self.steps[step]);
        let stage = |level: Level| {
            let (from, to) = (at(level.start), at(level.end));
            Stage { from, to, bytes_per_s: from.bytes_per_s_to(to) }
        };
        levels(&self.rates()).into_iter().map(stage).collect()
    }

    /// The trend of the stages and temperatures.
    pub fn trend(&self) -> Trend {
        trend(&self.stages(), &self.warmth)
    }

    /// Whether the drive was at its temperature limit when the rate dropped; `None` if unknown, or it did not drop.
    pub fn fell_hot(&self) -> Option<bool> {
        fell_hot(&self.stages(), &self.warmth)
    }
}

/// Writes `bytes` to the extents, repeatedly if they are smaller, until the rate has dropped and settled, or for
/// `time`. `on_progress` receives the number of bytes written. Results are kept even after a failure.
pub fn sustained(
    subject: &mut Subject,
    bytes: u64,
    time: Option<Duration>,
    stop: &Stop,
    on_progress: &mut dyn FnMut(u64),
) -> Sustained {
    let limit_c = subject.thermometer.as_ref().and_then(|thermometer| thermometer.limit_c);
    let mut found = Sustained { warmth: Temperatures::new(limit_c, Vec::new()), ..Sustained::default() };
    let mut stream = Stream::new(subject, bytes, time);
    found.failure = stream.flow(&mut found, stop, on_progress).err();
    found.went_round = stream.went_round;
    let began = subject.clock.now();
    // Also after a failure, because later code relies on nothing being in flight.
    let flushed = subject.ways[0].1.make_durable();
    found.flush_s = (subject.clock.now() - began).as_secs_f64();
    if let (Err(error), None) = (flushed, &found.failure) {
        found.failure = Some(MeasureFailure::Broken(unflushed(subject, error)));
    }
    if let Some(signal) = stop.signal() {
        found.failure = Some(MeasureFailure::Stopped(signal));
    }
    found
}

/// It is unknown which bytes were lost, so no rate can be reported.
fn unflushed(subject: &Subject, error: io::Error) -> Error {
    let end = &subject.ways[0].1;
    let error = RequestError::of(&**end, Op::Write, 0, error);
    failure_of_all(end, Op::Write, &subject.address, 0, error).unwrap_or_else(|error| {
        let what = format!("cannot flush destination {}: not all data was written", subject.address);
        Error::new(Kind::Io, what).on(Side::Dest).because(error).advise("See the kernel log (dmesg).")
    })
}

struct Stream<'a> {
    subject: &'a mut Subject,
    bytes: u64,
    time: Option<Duration>,
    block_bytes: u32,
    step_bytes: u64,
    /// Index of the current extent, and the position in it.
    at: (usize, u64),
    went_round: bool,
    sent_bytes: u64,
    written_bytes: u64,
    failed_in_a_row: u32,
}

impl<'a> Stream<'a> {
    fn new(subject: &'a mut Subject, bytes: u64, time: Option<Duration>) -> Self {
        let longest = subject.extents.iter().map(|extent| extent.len).max().unwrap_or(0);
        let align = subject.align_bytes;
        let block_bytes = (u64::from(STREAM.0).min(longest) / align * align).max(align) as u32;
        let step_bytes = STEP_BYTES_MIN.next_multiple_of(block_bytes.into());
        Stream {
            subject,
            bytes,
            time,
            block_bytes,
            step_bytes,
            at: (0, 0),
            went_round: false,
            sent_bytes: 0,
            written_bytes: 0,
            failed_in_a_row: 0,
        }
    }

    /// Offset of the next block; `None` if no extent has room for one.
    fn next(&mut self) -> Option<u64> {
        for _ in 0..=self.subject.extents.len() {
            let Extent { offset, len } = *self.subject.extents.get(self.at.0)?;
            if self.at.1 + u64::from(self.block_bytes) <= len {
                let next = offset + self.at.1;
                self.at.1 += u64::from(self.block_bytes);
                return Some(next);
            }
            let following = (self.at.0 + 1) % self.subject.extents.len();
            self.went_round |= following == 0;
            self.at = (following, 0);
        }
        None
    }

    fn flow(
        &mut self,
        found: &mut Sustained,
        stop: &Stop,
        on_progress: &mut dyn FnMut(u64),
    ) -> Result<(), MeasureFailure> {
        if let Some(signal) = stop.signal() {
            return Err(MeasureFailure::Stopped(signal));
        }
        let (_, end) = self.subject.ways[0].clone();
        let what = format!("cannot write {}", self.subject.address);
        let broken = |error: io::Error| MeasureFailure::Broken(Error::new(Kind::Io, what.clone()).because(error));
        let mut idle: Vec<(u32, Buffer)> = (0..).zip(self.subject.filled(self.block_bytes, STREAM.1)).collect();
        let mut side = self.subject.one_side(&end, STREAM.1).map_err(broken)?;
        let (began, mut done) = (self.subject.clock.now(), Vec::new());
        let (mut feeding, mut failure) = (true, None);
        self.sample_temperature(found);
        while feeding || side.in_flight() > 0 {
            feeding = feeding && self.feed(&mut side, &mut idle);
            side.poll(&mut done).map_err(broken)?;
            for completion in done.drain(..) {
                let slot = completion.request.slot;
                let (buffer, failed) = self.complete(completion);
                failure = failure.or(failed);
                idle.push((slot, buffer));
            }
            let passed = self.subject.clock.now() - began;
            found.end = WriteMoment { bytes: self.written_bytes, seconds: passed.as_secs_f64() };
            self.note(found, on_progress);
            let over = found.settled || self.time.is_some_and(|time| passed >= time);
            feeding = feeding && failure.is_none() && !stop.is_requested() && !over;
        }
        failure.map_or(Ok(()), |error| Err(MeasureFailure::Broken(error)))
    }

    /// Submits as many requests as possible. False after the last one.
    fn feed(&mut self, side: &mut EndpointQueue, idle: &mut Vec<(u32, Buffer)>) -> bool {
        let (len, op) = (self.block_bytes, Op::Write);
        while self.sent_bytes < self.bytes {
            let Some((slot, buffer)) = idle.pop() else { return true };
            let Some(offset) = self.next() else { return false };
            self.sent_bytes += u64::from(len);
            let (ticket, side_of) = (u64::from(slot), Side::Source);
            side.submit(Request { slot, ticket, side: side_of, op, offset, len, done: 0, until: len, buffer });
        }
        false
    }

    /// Records the result of a request. Returns an error if the disk has disappeared, is full, or no longer responds.
    fn complete(&mut self, Completion { request, result }: Completion) -> (Buffer, Option<Error>) {
        self.written_bytes += u64::from(request.done);
        if request.done > 0 {
            self.failed_in_a_row = 0;
        }
        let (offset, len) = (request.at(), request.left());
        let (end, address) = (&self.subject.ways[0].1, &self.subject.address);
        let error = match result {
            Transferred::Moved(0) => RequestError::of(&**end, Op::Write, offset, io::ErrorKind::WriteZero.into()),
            Transferred::Failed(error) => error,
            Transferred::Moved(_) | Transferred::Retry => return (request.buffer, None),
        };
        let bad = match failure_of_all(end, Op::Write, address, offset, error) {
            Ok(error) => return (request.buffer, Some(error)),
            Err(error) => BadRange::of(offset, len, &error),
        };
        self.failed_in_a_row += 1;
        let over = (self.failed_in_a_row >= CONSECUTIVE_FAILURES_MAX).then(|| {
            let requested = format!("every one of the last {CONSECUTIVE_FAILURES_MAX} requests");
            answers_no_more(end, Op::Write, address, &requested, (offset, bad.why.clone()))
        });
        self.subject.note_bad(bad);
        (request.buffer, over)
    }

    /// Records completed steps, and checks periodically whether the rate has settled.
    fn note(&mut self, found: &mut Sustained, on_progress: &mut dyn FnMut(u64)) {
        let last = found.steps.last().map_or(0, |moment| moment.bytes);
        if self.written_bytes < last + self.step_bytes {
            return;
        }
        found.steps.push(found.end);
        self.sample_temperature(found);
        on_progress(self.written_bytes);
        if self.written_bytes >= STEPS_OF_ALL * self.step_bytes {
            self.step_bytes *= 2;
        }
        if found.steps.len().is_multiple_of(CHECK_STEPS) {
            found.settled = has_settled(&found.stages(), &found.warmth, self.bytes);
        }
    }

    /// Records the temperature, if it is available.
    fn sample_temperature(&mut self, found: &mut Sustained) {
        if let Some(thermometer) = &mut self.subject.thermometer {
            found.warmth.read(thermometer, found.end.seconds);
        }
    }
}

/// Whether the rate has dropped and has been constant since then for as long as before, given the requested number of
/// bytes. While the temperature changes, a drive may still start or stop throttling, so the temperature must be
/// constant too.
fn has_settled(stages: &[Stage], warmth: &Temperatures, requested_bytes: u64) -> bool {
    let [.., before, last] = stages else { return false };
    let least = last.from.bytes.max(requested_bytes / SETTLED_PART).max(SETTLED_BYTES_MIN);
    let held = last.bytes_per_s < before.bytes_per_s && last.to.bytes - last.from.bytes >= least;
    held && warmth.held(last.from.seconds.midpoint(last.to.seconds), last.to.seconds)
}

#[cfg(test)]
mod tests {
    use super::super::TemperatureReading;
    use super::*;
    use crate::core::{Endpoint, EngineKind};
    use crate::disks::memory::{Fault, Memory};
    use crate::measure::Way;
    use std::sync::Arc;

    #[test]
    fn writes_in_pieces_leave_no_holes() {
        let len = 8 << 20;
        let disk = Arc::new(Memory::disk(vec![0; len], &[Fault::Short(48 << 10)]));
        let (end, extents): (Arc<dyn Endpoint>, _) = (disk.clone(), vec![Extent::new(0, len as u64)]);
        let mut subject = Subject::new("disk", vec![(Way::Direct, end)], EngineKind::Sync, extents, 64 << 20).unwrap();
        (subject.op, subject.content) = (Op::Write, vec![7; 512]);
        let found = sustained(&mut subject, len as u64, None, &Stop::default(), &mut |_| {});
        assert!(found.failure.is_none() && !found.went_round);
        assert_eq!(found.end.bytes, len as u64);
        assert!(disk.bytes() == vec![7; len], "something was left out");
    }

    #[test]
    fn a_disk_that_fails_every_write_ends_the_measurement() {
        let everything = Fault::BadSectors { op: Op::Write, extent: Extent::new(0, 8 << 20), errno: libc::EIO };
        let disk: Arc<dyn Endpoint> = Arc::new(Memory::disk(vec![7; 8 << 20], &[everything]));
        let extents = vec![Extent::new(0, 8 << 20)];
        let ways = vec![(Way::Direct, disk)];
        let mut subject = Subject::new("disk", ways, EngineKind::Sync, extents, 16 << 20).unwrap();
        subject.op = Op::Write;
        let found = sustained(&mut subject, 1 << 40, None, &Stop::default(), &mut |_| {});
        let Some(MeasureFailure::Broken(error)) = found.failure else { panic!("{:?}", found.failure) };
        assert!(error.what.starts_with("cannot write destination disk any more: every one of the last 256"), "{error}");
        assert!(found.end.bytes == 0 && subject.failed >= 256);
    }

    #[test]
    fn the_rate_is_steady_after_a_drop_that_lasted_as_long_as_all_before() {
        let stage = |from: u64, to: u64, bytes_per_s| {
            let [from, to] = [from, to].map(|mib| WriteMoment { bytes: mib << 20, seconds: 0.0 });
            Stage { from, to, bytes_per_s }
        };
        let settled = |asked_gib: u64, stages: &[Stage]| has_settled(stages, &Temperatures::default(), asked_gib << 30);
        assert!(!settled(4, &[stage(0, 4000, 480e6)]), "it may fall yet");
        assert!(!settled(4, &[stage(0, 1000, 480e6), stage(1000, 1999, 95e6)]));
        assert!(settled(4, &[stage(0, 1000, 480e6), stage(1000, 2000, 95e6)]));
        assert!(!settled(1, &[stage(0, 10, 480e6), stage(10, 130, 95e6)]), "too short to tell");
        assert!(!settled(64, &[stage(0, 200, 480e6), stage(200, 4000, 300e6)]), "a small memory before the cache");
        assert!(settled(64, &[stage(0, 200, 480e6), stage(200, 4296, 300e6)]));
        assert!(!settled(4, &[stage(0, 10, 95e6), stage(10, 4000, 480e6)]), "it rose");
    }

    #[test]
    fn the_rate_is_not_steady_while_the_temperature_changes() {
        let at = |mib: u64, seconds| WriteMoment { bytes: mib << 20, seconds };
        let fast = Stage { from: at(0, 0.0), to: at(1000, 10.0), bytes_per_s: 105e6 };
        let slow = Stage { from: fast.to, to: at(3000, 100.0), bytes_per_s: 23e6 };
        let reading = |(seconds, celsius)| TemperatureReading { seconds, celsius };
        let settled = |last| {
            let readings = [(0.0, 40.0), (10.0, 84.0), (50.0, 80.0), (60.0, 70.0), (80.0, last)];
            has_settled(&[fast, slow], &Temperatures::new(None, readings.map(reading).into()), 1 << 30)
        };
        assert!(settled(69.0) && settled(71.0), "what was before does not count");
        assert!(!settled(65.0), "it may come back yet");
        assert!(!settled(75.0), "it may throttle yet");
    }
}
