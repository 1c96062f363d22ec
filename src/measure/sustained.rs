//! Writing on and on: a cache that runs out, a drive that throttles.
use super::failure::{answers_no_more, failure_of_all};
use super::shift::{Level, levels};
use super::{Bad, Failure, Subject};
use crate::contract::{Buffer, Completion, Error, Extent, Kind, Op, Request, Side, Stop};
use crate::engine::OneSide;
use std::io;
use std::time::Duration;

/// Blocks and depth: as a copy writes.
const STREAM: (u32, u32) = (1 << 20, 8);

/// At so many steps two become one: an edge is known within a fraction of a percent of what was written by then,
/// however much was asked for.
const STEPS_MAX: usize = 1024;

/// Smallest step in bytes: less is over before a clock can tell.
const STEP_BYTES_MIN: u64 = 4 << 20;

/// Steps after which it is looked whether the rate has settled.
const LOOK_STEPS: usize = 16;

/// A rate has to hold for this part of all bytes, and for as many as came before it, to be the last: the first fall may
/// be that of a small memory before the cache.
const SETTLED_PART: u64 = 16;

/// The same in bytes, at least.
const SETTLED_BYTES_MIN: u64 = 128 << 20;

/// Who falls to more than this share of the first rate had no write cache that ran out.
const CACHE_SHARE: f64 = 2.0 / 3.0;

/// After so many requests one behind the other that failed the disk answers no more.
const FAILED_IN_A_ROW_MAX: u32 = 256;

/// How far writing was by when.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moment {
    /// Bytes written by then.
    pub bytes: u64,
    /// Seconds since the first request.
    pub seconds: f64,
}

/// A rate that held for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// From here.
    pub from: Moment,
    /// To here.
    pub to: Moment,
    /// Median rate of its steps, in bytes a second.
    pub bytes_per_s: f64,
}

/// What the stages say together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trend {
    /// One rate from the beginning to the end.
    Steady,
    /// It fell for good and by a lot, as when a write cache is full.
    RanOut,
    /// It fell by less than that.
    Fell,
    /// It fell, and rose while writing went on, as drives do that throttle by heat.
    Throttled,
    /// It only rose.
    Rose,
}

impl Trend {
    /// The word for programs.
    pub fn name(self) -> &'static str {
        match self {
            Trend::Steady => "steady",
            Trend::RanOut => "ran out",
            Trend::Fell => "fell",
            Trend::Throttled => "throttled",
            Trend::Rose => "rose",
        }
    }
}

/// What came of writing on and on.
#[derive(Debug, Default)]
pub struct Sustained {
    /// Its steps, of about equally many bytes.
    pub steps: Vec<Moment>,
    /// How far writing was when the last request came back; a last step that is no whole one is in it.
    pub end: Moment,
    /// The rate settled before all bytes were written.
    pub settled: bool,
    /// Bytes were written over again, for there were not as many.
    pub went_round: bool,
    /// Seconds of the flush at the end.
    pub flush_s: f64,
    /// Why it ended before its time.
    pub failure: Option<Failure>,
}

impl Sustained {
    /// The rate of each step, in bytes a second.
    pub fn rates(&self) -> Vec<f64> {
        let before = [Moment::default()].into_iter().chain(self.steps.iter().copied());
        let rate = |(from, to): (Moment, &Moment)| {
            (to.bytes - from.bytes) as f64 / (to.seconds - from.seconds).max(f64::MIN_POSITIVE)
        };
        before.zip(&self.steps).map(rate).collect()
    }

    /// Bytes a second of all that was written, with the flush.
    pub fn bytes_per_s(&self) -> f64 {
        self.end.bytes as f64 / (self.end.seconds + self.flush_s).max(f64::MIN_POSITIVE)
    }

    /// The rates that held, one after the other.
    pub fn stages(&self) -> Vec<Stage> {
        let at = |step: usize| step.checked_sub(1).map_or(Moment::default(), |step| self.steps[step]);
        let stage = |level: Level| Stage { from: at(level.start), to: at(level.end), bytes_per_s: level.value };
        levels(&self.rates()).into_iter().map(stage).collect()
    }
}

/// What the stages say together.
pub fn trend(stages: &[Stage]) -> Trend {
    let step = |pair: &[Stage]| pair[1].bytes_per_s > pair[0].bytes_per_s;
    let rises: Vec<bool> = stages.windows(2).map(step).collect();
    let share = match stages {
        [first, .., last] => last.bytes_per_s / first.bytes_per_s,
        _ => 1.0,
    };
    match (rises.contains(&false), rises.contains(&true)) {
        (false, false) => Trend::Steady,
        (true, false) if share < CACHE_SHARE => Trend::RanOut,
        (true, false) => Trend::Fell,
        (false, true) => Trend::Rose,
        (true, true) => Trend::Throttled,
    }
}

/// Writes `bytes` from the start of the extents on, and again from there where they have fewer; or until the rate has
/// fallen and settled, or for `time`. `heard` is told how many bytes are written. What was found is kept whatever
/// happens.
pub fn sustained(
    subject: &mut Subject,
    bytes: u64,
    time: Option<Duration>,
    stop: &Stop,
    heard: &mut dyn FnMut(u64),
) -> Sustained {
    let mut found = Sustained::default();
    let mut stream = Stream::new(subject, bytes, time);
    found.failure = stream.flow(&mut found, stop, heard).err();
    found.went_round = stream.went_round;
    let began = subject.clock.now();
    // After a failure too: what follows may rely on nothing being on its way.
    let flushed = subject.ways[0].1.make_durable();
    found.flush_s = (subject.clock.now() - began).as_secs_f64();
    if let (Err(error), None) = (flushed, &found.failure) {
        found.failure = Some(Failure::Broken(unflushed(subject, error)));
    }
    if let Some(signal) = stop.asked() {
        found.failure = Some(Failure::Stopped(signal));
    }
    found
}

/// Nobody knows which of the bytes are lost, so no rate can be told.
fn unflushed(subject: &Subject, error: io::Error) -> Error {
    failure_of_all(&subject.ways[0].1, Op::Write, &subject.address, 0, error).unwrap_or_else(|error| {
        let what = format!("cannot flush dest {}: not all that was written has arrived", subject.address);
        Error::new(Kind::Io, what).on(Side::Dest).because(error).advise("The kernel's log (dmesg) says more.")
    })
}

struct Stream<'a> {
    subject: &'a mut Subject,
    bytes: u64,
    time: Option<Duration>,
    block_bytes: u32,
    step_bytes: u64,
    /// The extent that is written to, and how far.
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

    /// Where the next block goes; `None` where no extent has room for one.
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

    fn flow(&mut self, found: &mut Sustained, stop: &Stop, heard: &mut dyn FnMut(u64)) -> Result<(), Failure> {
        if let Some(signal) = stop.asked() {
            return Err(Failure::Stopped(signal));
        }
        let (_, end) = self.subject.ways[0].clone();
        let what = format!("cannot write {}", self.subject.address);
        let broken = |error: io::Error| Failure::Broken(Error::new(Kind::Io, what.clone()).because(error));
        let mut idle: Vec<(u32, Buffer)> = (0..).zip(self.subject.filled(self.block_bytes, STREAM.1)).collect();
        let mut side = self.subject.one_side(&end, STREAM.1).map_err(broken)?;
        let (began, mut done) = (self.subject.clock.now(), Vec::new());
        let (mut feeding, mut failure) = (true, None);
        while feeding || side.in_flight() > 0 {
            feeding = feeding && self.feed(&mut side, &mut idle);
            side.turn(&mut done).map_err(broken)?;
            for completion in done.drain(..) {
                let slot = completion.request.slot;
                let (buffer, failed) = self.settle(completion);
                failure = failure.or(failed);
                idle.push((slot, buffer));
            }
            let passed = self.subject.clock.now() - began;
            found.end = Moment { bytes: self.written_bytes, seconds: passed.as_secs_f64() };
            self.note(found, heard);
            let over = found.settled || self.time.is_some_and(|time| passed >= time);
            feeding = feeding && failure.is_none() && stop.asked().is_none() && !over;
        }
        failure.map_or(Ok(()), |error| Err(Failure::Broken(error)))
    }

    /// Sends what can be sent; false once all is.
    fn feed(&mut self, side: &mut OneSide, idle: &mut Vec<(u32, Buffer)>) -> bool {
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

    /// Notes what came of a request. An error is that of a disk that is gone or full, or answers no more.
    fn settle(&mut self, Completion { request, result }: Completion) -> (Buffer, Option<Error>) {
        let (offset, len) = (request.offset, request.len);
        let error = match result {
            Ok(moved) if moved > 0 => {
                self.written_bytes += u64::from(moved);
                self.failed_in_a_row = 0;
                return (request.buffer, None);
            }
            Ok(_) => io::ErrorKind::WriteZero.into(),
            Err(error) => error,
        };
        let (end, address) = (&self.subject.ways[0].1, &self.subject.address);
        let bad = match failure_of_all(end, Op::Write, address, offset, error) {
            Ok(error) => return (request.buffer, Some(error)),
            Err(error) => Bad::of(offset, len, &error),
        };
        self.failed_in_a_row += 1;
        let over = (self.failed_in_a_row >= FAILED_IN_A_ROW_MAX).then(|| {
            let asked = format!("every one of the last {FAILED_IN_A_ROW_MAX} requests");
            answers_no_more(end, Op::Write, address, &asked, (offset, bad.why.clone()))
        });
        self.subject.note_bad(bad);
        (request.buffer, over)
    }

    /// Notes the steps that are complete, and looks now and then whether the rate has settled.
    fn note(&mut self, found: &mut Sustained, heard: &mut dyn FnMut(u64)) {
        let last = found.steps.last().map_or(0, |moment| moment.bytes);
        if self.written_bytes < last + self.step_bytes {
            return;
        }
        found.steps.push(found.end);
        heard(self.written_bytes);
        if found.steps.len() >= STEPS_MAX {
            // The ends of every second one.
            found.steps = found.steps.iter().skip(1).step_by(2).copied().collect();
            self.step_bytes *= 2;
        }
        if found.steps.len().is_multiple_of(LOOK_STEPS) {
            found.settled = has_settled(&found.stages(), self.bytes);
        }
    }
}

/// The rate has fallen, and has held since for as long as all before, with so many bytes asked for.
fn has_settled(stages: &[Stage], asked_bytes: u64) -> bool {
    let [.., before, last] = stages else { return false };
    let least = last.from.bytes.max(asked_bytes / SETTLED_PART).max(SETTLED_BYTES_MIN);
    last.bytes_per_s < before.bytes_per_s && last.to.bytes - last.from.bytes >= least
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Endpoint, EngineKind};
    use crate::measure::Way;
    use std::sync::Arc;

    fn trend_of(rates: &[f64]) -> Trend {
        let stage = |&bytes_per_s: &f64| Stage { from: Moment::default(), to: Moment::default(), bytes_per_s };
        trend(&rates.iter().map(stage).collect::<Vec<_>>())
    }

    #[test]
    fn a_disk_that_fails_whatever_is_written_ends_it() {
        use crate::endpoint::memory::{Fault, Memory};
        let everything = Fault::BadSectors { op: Op::Write, extent: Extent::new(0, 8 << 20), errno: libc::EIO };
        let disk: Arc<dyn Endpoint> = Arc::new(Memory::disk(vec![7; 8 << 20], &[everything]));
        let extents = vec![Extent::new(0, 8 << 20)];
        let ways = vec![(Way::Direct, disk)];
        let mut subject = Subject::new("disk", ways, EngineKind::Sync, extents, 16 << 20).unwrap();
        subject.op = Op::Write;
        let found = sustained(&mut subject, 1 << 40, None, &Stop::default(), &mut |_| {});
        let Some(Failure::Broken(error)) = found.failure else { panic!("{:?}", found.failure) };
        assert!(error.what.starts_with("cannot write dest disk any more: every one of the last 256"), "{error}");
        assert!(found.end.bytes == 0 && subject.failed >= 256);
    }

    #[test]
    fn rates_one_after_the_other_have_a_name() {
        assert_eq!(trend_of(&[]), Trend::Steady);
        assert_eq!(trend_of(&[480e6]), Trend::Steady);
        assert_eq!(trend_of(&[480e6, 95e6]), Trend::RanOut);
        assert_eq!(trend_of(&[200e6, 180e6, 150e6]), Trend::Fell);
        assert_eq!(trend_of(&[480e6, 95e6, 480e6]), Trend::Throttled);
        assert_eq!(trend_of(&[95e6, 480e6]), Trend::Rose);
    }

    #[test]
    fn it_has_settled_once_it_fell_and_held_as_long_as_all_before() {
        let stage = |from: u64, to: u64, bytes_per_s| {
            let [from, to] = [from, to].map(|mib| Moment { bytes: mib << 20, seconds: 0.0 });
            Stage { from, to, bytes_per_s }
        };
        let settled = |asked_gib: u64, stages: &[Stage]| has_settled(stages, asked_gib << 30);
        assert!(!settled(4, &[stage(0, 4000, 480e6)]), "it may fall yet");
        assert!(!settled(4, &[stage(0, 1000, 480e6), stage(1000, 1999, 95e6)]));
        assert!(settled(4, &[stage(0, 1000, 480e6), stage(1000, 2000, 95e6)]));
        assert!(!settled(1, &[stage(0, 10, 480e6), stage(10, 130, 95e6)]), "too short to tell");
        assert!(!settled(64, &[stage(0, 200, 480e6), stage(200, 4000, 300e6)]), "a small memory before the cache");
        assert!(settled(64, &[stage(0, 200, 480e6), stage(200, 4296, 300e6)]));
        assert!(!settled(4, &[stage(0, 10, 95e6), stage(10, 4000, 480e6)]), "it rose");
    }
}
