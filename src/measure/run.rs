//! One run: requests consecutively, so many in flight, for a while.
use super::failure::failure_of_all;
use super::{BadRange, Clock, MeasureFailure, Point, Trial};
use crate::core::{
    Arena, Buffer, Completion, Endpoint, EngineKind, Error, Extent, Kind, Op, Request, RequestError, Side, Stop,
    Transferred,
};
use crate::engine::EndpointQueue;
use crate::sys;
use hdrhistogram::Histogram;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// A run that has had so many times its patience ends, whatever came of it.
const PATIENCE_MAX: u32 = 16;

/// A head may be on its way for so long, and a stick may think: no run is abandoned before, however short it is to be.
const WAY_THERE: Duration = Duration::from_millis(250);

/// So many of the first completions are noted with their times.
const NOTED_MAX: usize = 64;

/// The longest time that a request may take and still be distinguished from longer ones, in nanoseconds.
const LATENCY_NS_MAX: u64 = 3_600_000_000_000;

/// What a run is to do.
pub struct Run<'a> {
    /// For messages.
    pub address: &'a str,
    /// The open disk.
    pub end: &'a Arc<dyn Endpoint>,
    /// How requests are kept in flight.
    pub engine: EngineKind,
    /// Reading or writing.
    pub op: Op,
    /// Block size and depth.
    pub point: Point,
    /// From its first byte on, and not beyond its last.
    pub extent: Extent,
    /// About how long, once the first blocks are through.
    pub patience: Duration,
    /// What is written.
    pub content: &'a [u8],
    /// What it is timed by.
    pub clock: &'a Clock,
}

/// Carries it out: what came, and the places that failed.
///
/// Reading is timed between the first blocks, when as many as the depth have come, and the last that was waited for
/// while others were still sent: at both ends as many are in flight, and the way of the head to the place is not in it.
/// Writing is timed from the first request until all is durable.
///
/// Places that fail are passed to `noted`. A flush that fails is one of them: it is unknown which bytes it lost, so
/// all of the run are named.
///
/// # Errors
/// It was asked to stop, the disk has disappeared, or requests cannot be made.
pub fn run(
    run: &Run<'_>,
    arena: &Arc<Arena>,
    stop: &Stop,
    noted: &mut dyn FnMut(BadRange),
) -> Result<RunResult, MeasureFailure> {
    if let Some(signal) = stop.signal() {
        return Err(MeasureFailure::Stopped(signal));
    }
    let mut buffers = arena.carve(run.point.block_bytes, run.point.depth);
    if run.op == Op::Write {
        buffers.iter_mut().for_each(|buffer| fill(buffer, run.content));
    }
    let side = EndpointQueue::open(run.end, run.engine, run.point.depth, arena).map_err(|error| run.broken(error))?;
    let used = sys::used();
    let mut flight = RunState::new(run, buffers, noted);
    flight.fly(side, stop)?;
    let mut unflushed = false;
    if run.op == Op::Write {
        unflushed = flight.flush()?;
        flight.last = run.clock.now();
    }
    let now = sys::used();
    let cpu = (now.user + now.system).saturating_sub(used.user + used.system);
    if let Some(signal) = stop.signal() {
        return Err(MeasureFailure::Stopped(signal));
    }
    let came = std::mem::take(&mut flight.came);
    Ok(RunResult { trial: flight.landed(cpu), unflushed, came })
}

/// The result of a run.
pub struct RunResult {
    /// Its figures.
    pub trial: Trial,
    /// What it wrote could not be made durable.
    pub unflushed: bool,
    /// When each of the first blocks came, in the order of that.
    pub came: Vec<Duration>,
}

impl Run<'_> {
    /// Requests cannot be made at all.
    fn broken(&self, error: io::Error) -> MeasureFailure {
        let what = format!("cannot {} {}", self.op.name(), self.address);
        MeasureFailure::Broken(Error::new(Kind::Io, what).because(error))
    }
}

/// Repeats `content` over the buffer.
pub(super) fn fill(buffer: &mut Buffer, content: &[u8]) {
    if !content.is_empty() {
        buffer.bytes_mut().chunks_mut(content.len()).for_each(|piece| piece.copy_from_slice(&content[..piece.len()]));
    }
}

/// The requests of a run, and the result of them.
struct RunState<'a> {
    run: &'a Run<'a>,
    idle: Vec<(u32, Buffer)>,
    sent_at: Vec<Duration>,
    /// Offset of the next request.
    next: u64,
    began: Duration,
    last: Duration,
    /// When the clock began to count, with what had come until then.
    warm: Option<(Duration, u64, u64)>,
    /// The same at the end of feeding.
    fed: Option<(Duration, u64, u64)>,
    moved_bytes: u64,
    completed: u64,
    /// The same before the present turn.
    completed_before: u64,
    latencies: Histogram<u64>,
    came: Vec<Duration>,
    failed: u32,
    noted: &'a mut dyn FnMut(BadRange),
}

impl<'a> RunState<'a> {
    fn new(run: &'a Run<'a>, buffers: Vec<Buffer>, noted: &'a mut dyn FnMut(BadRange)) -> Self {
        let now = run.clock.now();
        let latencies = Histogram::new_with_bounds(1, LATENCY_NS_MAX, 2).expect("the bounds are right");
        RunState {
            run,
            sent_at: vec![now; buffers.len()],
            idle: (0..).zip(buffers).collect(),
            next: run.extent.offset,
            began: now,
            last: now,
            warm: None,
            fed: None,
            moved_bytes: 0,
            completed: 0,
            completed_before: 0,
            latencies,
            came: Vec::with_capacity(NOTED_MAX),
            failed: 0,
            noted,
        }
    }

    /// Sends and waits, until it is time; then waits for the rest.
    fn fly(&mut self, mut side: EndpointQueue, stop: &Stop) -> Result<(), MeasureFailure> {
        let mut done = Vec::new();
        let (mut feeding, mut failure) = (true, None);
        while feeding || side.in_flight() > 0 {
            feeding = feeding && self.feed(&mut side);
            if let Err(error) = side.poll(&mut done) {
                // Its drop waits for what is in flight.
                return Err(self.run.broken(error));
            }
            self.last = self.run.clock.now();
            self.completed_before = self.completed;
            for completion in done.drain(..) {
                failure = failure.or(self.settle(completion));
            }
            if !feeding {
                continue;
            }
            let now = (self.last, self.moved_bytes, self.completed);
            if self.warm.is_some() {
                self.fed = Some(now);
            } else if self.completed >= u64::from(self.run.point.depth) {
                self.warm = Some(now);
            }
            feeding = failure.is_none() && !stop.is_asked() && !self.is_enough();
        }
        failure.map_or(Ok(()), |error| Err(MeasureFailure::Broken(error)))
    }

    /// Sends what can be sent; false at the end of the extent.
    fn feed(&mut self, side: &mut EndpointQueue) -> bool {
        let len = self.run.point.block_bytes;
        while self.next + u64::from(len) <= self.run.extent.end() {
            let Some((slot, buffer)) = self.idle.pop() else { return true };
            let (op, offset, ticket) = (self.run.op, self.next, u64::from(slot));
            self.next += u64::from(len);
            self.sent_at[slot as usize] = self.run.clock.now();
            side.submit(Request { slot, ticket, side: Side::Source, op, offset, len, done: 0, until: len, buffer });
        }
        false
    }

    /// Time is up, and as many blocks as the depth came in it, or a multiple of that: fewer say little, and where
    /// requests in flight are served together, the first of them alone would be counted with the time of all.
    fn is_enough(&self) -> bool {
        let patience = self.run.patience;
        if self.last - self.began > (patience * PATIENCE_MAX).max(WAY_THERE) {
            return true;
        }
        let depth = u64::from(self.run.point.depth);
        self.warm.is_some_and(|(at, _, warm)| {
            let rounds = |completed: u64| completed.saturating_sub(warm) / depth;
            self.last - at >= patience && rounds(self.completed) > rounds(self.completed_before)
        })
    }

    /// Notes the result of a request. An error is that of a disk that has disappeared.
    fn settle(&mut self, Completion { request, result }: Completion) -> Option<Error> {
        self.moved_bytes += u64::from(request.done);
        let took = self.last - self.sent_at[request.slot as usize];
        self.latencies.saturating_record(u64::try_from(took.as_nanos()).unwrap_or(LATENCY_NS_MAX));
        self.completed += 1;
        if self.came.len() < NOTED_MAX {
            self.came.push(self.last);
        }
        let (offset, len) = (request.at(), request.left());
        self.idle.push((request.slot, request.buffer));
        match result {
            Transferred::Moved(0) => {
                let ended = io::ErrorKind::UnexpectedEof.into();
                self.fail(offset, len, RequestError::of(&**self.run.end, self.run.op, offset, ended))
            }
            Transferred::Failed(error) => self.fail(offset, len, error),
            Transferred::Moved(_) | Transferred::Retry => None,
        }
    }

    fn fail(&mut self, offset: u64, len: u32, error: RequestError) -> Option<Error> {
        let Run { end, op, address, .. } = *self.run;
        match failure_of_all(end, op, address, offset, error) {
            Ok(error) => Some(error),
            Err(error) => {
                self.failed = self.failed.saturating_add(1);
                (self.noted)(BadRange::of(offset, len, &error));
                None
            }
        }
    }

    /// Makes what was written durable; whether that failed.
    fn flush(&mut self) -> Result<bool, MeasureFailure> {
        let Err(error) = self.run.end.make_durable() else { return Ok(false) };
        let (offset, len) = (self.run.extent.offset, u32::try_from(self.next - self.run.extent.offset));
        let error = RequestError::of(&**self.run.end, self.run.op, offset, error);
        match self.fail(offset, len.unwrap_or(u32::MAX), error) {
            Some(error) => Err(MeasureFailure::Broken(error)),
            None => Ok(true),
        }
    }

    fn landed(self, cpu: Duration) -> Trial {
        let whole = ((self.began, 0, 0), (self.last, self.moved_bytes, self.completed));
        let window = match (self.run.op, self.warm, self.fed) {
            (Op::Read, Some(warm), Some(fed)) if fed.2 > warm.2 => (warm, fed),
            _ => whole,
        };
        let us = |nanos: u64| nanos as f64 / 1e3;
        Trial {
            point: self.run.point,
            offset: self.run.extent.offset,
            bytes: window.1.1 - window.0.1,
            seconds: (window.1.0 - window.0.0).as_secs_f64(),
            requests: window.1.2 - window.0.2,
            p50_us: us(self.latencies.value_at_quantile(0.5)),
            p99_us: us(self.latencies.value_at_quantile(0.99)),
            max_us: us(self.latencies.max()),
            cpu_s: cpu.as_secs_f64(),
            moved_bytes: self.moved_bytes,
            whole_s: (self.last - self.began).as_secs_f64(),
            cached_bytes: 0,
            left_bytes: 0,
            failed: self.failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disks::memory::{Fault, Memory};
    use crate::measure::Way;

    #[test]
    fn a_request_that_comes_in_pieces_is_one_of_all_its_bytes() {
        for engine in [EngineKind::Sync, EngineKind::Threads, EngineKind::Ring] {
            let disk = Arc::new(Memory::disk(vec![7; 1 << 20], &[Fault::Short(4096)]));
            let end: Arc<dyn Endpoint> = disk.clone();
            let (point, extent) =
                (Point { way: Way::Direct, block_bytes: 16 << 10, depth: 1 }, Extent::new(0, 1 << 20));
            let (clock, arena) = (Clock::real(), Arena::map(64 << 10).unwrap());
            let (patience, content, address) = (Duration::from_secs(60), &[][..], "disk");
            let asked =
                Run { address, end: &end, engine, op: Op::Read, point, extent, patience, content, clock: &clock };
            let mut bad = Vec::new();
            let RunResult { trial, .. } = run(&asked, &arena, &Stop::default(), &mut |place| bad.push(place)).unwrap();
            assert!(bad.is_empty(), "{engine:?}: {bad:?}");
            assert_eq!(trial.moved_bytes, 1 << 20, "{engine:?}");
            assert_eq!(trial.bytes, trial.requests * (16 << 10), "{engine:?}");
            let pieces = disk.asked();
            let once: crate::core::ExtentSet =
                pieces.iter().map(|asked| Extent::new(asked.extent.offset, 4096)).collect();
            assert_eq!((pieces.len(), once.total_bytes()), (256, 1 << 20), "{engine:?}: each byte once");
        }
    }
}
