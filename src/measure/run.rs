//! A run: consecutive requests at a fixed depth for some time.
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

/// Maximum duration of a run, as a multiple of the requested one.
const PATIENCE_MAX: u32 = 16;

/// Minimum time for any run, because of long seeks and pauses of USB sticks.
const RUN_TIME_MIN: Duration = Duration::from_millis(250);

/// Maximum number of first completions whose times are recorded.
const RECORDED_MAX: usize = 64;

/// Maximum latency of the histogram, in nanoseconds.
const LATENCY_NS_MAX: u64 = 3_600_000_000_000;

/// Parameters of a run.
pub struct Run<'a> {
    /// The address, for messages.
    pub address: &'a str,
    /// The open endpoint.
    pub end: &'a Arc<dyn Endpoint>,
    /// How requests are kept in flight.
    pub engine: EngineKind,
    /// Read or write.
    pub op: Op,
    /// Block size and depth.
    pub point: Point,
    /// The extent to access, from its start.
    pub extent: Extent,
    /// Approximate duration, after the first blocks.
    pub patience: Duration,
    /// The data to write.
    pub content: &'a [u8],
    /// The clock.
    pub clock: &'a Clock,
}

/// Executes `run`.
///
/// Reads are timed from the completion of as many blocks as the depth to the last completion while others were still
/// being submitted. At both ends the same number of requests is in flight, and the initial seek is excluded. Writes are
/// timed from the first request to the end of the flush.
///
/// Failed extents are passed to `noted`. If the flush fails, that is the whole extent of the run, because it is unknown
/// which bytes were lost.
///
/// # Errors
/// A stop was requested, the disk has disappeared, or requests cannot be made.
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
    let completion_times = std::mem::take(&mut flight.completion_times);
    Ok(RunResult { trial: flight.landed(cpu), unflushed, completion_times })
}

/// The result of a run.
pub struct RunResult {
    /// Its figures.
    pub trial: Trial,
    /// Whether the flush of its writes failed.
    pub unflushed: bool,
    /// Completion times of the first blocks, ascending.
    pub completion_times: Vec<Duration>,
}

impl Run<'_> {
    /// The error for requests that cannot be made at all.
    fn broken(&self, error: io::Error) -> MeasureFailure {
        let what = format!("cannot {} {}", self.op.name(), self.address);
        MeasureFailure::Broken(Error::new(Kind::Io, what).because(error))
    }
}

/// Fills the buffer with repetitions of `content`.
pub(super) fn fill(buffer: &mut Buffer, content: &[u8]) {
    if !content.is_empty() {
        buffer.bytes_mut().chunks_mut(content.len()).for_each(|piece| piece.copy_from_slice(&content[..piece.len()]));
    }
}

/// The state of a run.
struct RunState<'a> {
    run: &'a Run<'a>,
    idle: Vec<(u32, Buffer)>,
    sent_at: Vec<Duration>,
    /// Offset of the next request.
    next: u64,
    began: Duration,
    last: Duration,
    /// Start of the timed part, with the requests and bytes completed before it.
    warm: Option<(Duration, u64, u64)>,
    /// The same for the end of submission.
    fed: Option<(Duration, u64, u64)>,
    moved_bytes: u64,
    completed: u64,
    /// Number of completions before the current iteration.
    completed_before: u64,
    latencies: Histogram<u64>,
    completion_times: Vec<Duration>,
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
            completion_times: Vec::with_capacity(RECORDED_MAX),
            failed: 0,
            noted,
        }
    }

    /// Submits requests until the time is up, then waits for the rest.
    fn fly(&mut self, mut side: EndpointQueue, stop: &Stop) -> Result<(), MeasureFailure> {
        let mut done = Vec::new();
        let (mut feeding, mut failure) = (true, None);
        while feeding || side.in_flight() > 0 {
            feeding = feeding && self.feed(&mut side);
            if let Err(error) = side.poll(&mut done) {
                // Dropping the queue waits for requests in flight.
                return Err(self.run.broken(error));
            }
            self.last = self.run.clock.now();
            self.completed_before = self.completed;
            for completion in done.drain(..) {
                failure = failure.or(self.complete(completion));
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
            feeding = failure.is_none() && !stop.is_requested() && !self.is_enough();
        }
        failure.map_or(Ok(()), |error| Err(MeasureFailure::Broken(error)))
    }

    /// Submits as many requests as possible. False at the end of the extent.
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

    /// Whether time is up and a multiple of the depth has completed. Requests in flight that are served together would
    /// otherwise be counted partly, with the time of all.
    fn is_enough(&self) -> bool {
        let patience = self.run.patience;
        if self.last - self.began > (patience * PATIENCE_MAX).max(RUN_TIME_MIN) {
            return true;
        }
        let depth = u64::from(self.run.point.depth);
        self.warm.is_some_and(|(at, _, warm)| {
            let rounds = |completed: u64| completed.saturating_sub(warm) / depth;
            self.last - at >= patience && rounds(self.completed) > rounds(self.completed_before)
        })
    }

    /// Records the result of a request. Returns an error if the disk has disappeared.
    fn complete(&mut self, Completion { request, result }: Completion) -> Option<Error> {
        self.moved_bytes += u64::from(request.done);
        let took = self.last - self.sent_at[request.slot as usize];
        self.latencies.saturating_record(u64::try_from(took.as_nanos()).unwrap_or(LATENCY_NS_MAX));
        self.completed += 1;
        if self.completion_times.len() < RECORDED_MAX {
            self.completion_times.push(self.last);
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

    /// Flushes the writes. Returns whether that failed.
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
    fn a_request_completed_in_pieces_counts_once_with_all_bytes() {
        for engine in [EngineKind::Sync, EngineKind::Threads, EngineKind::Ring] {
            let disk = Arc::new(Memory::disk(vec![7; 1 << 20], &[Fault::Short(4096)]));
            let end: Arc<dyn Endpoint> = disk.clone();
            let (point, extent) =
                (Point { way: Way::Direct, block_bytes: 16 << 10, depth: 1 }, Extent::new(0, 1 << 20));
            let (clock, arena) = (Clock::real(), Arena::map(64 << 10).unwrap());
            let (patience, content, address) = (Duration::from_secs(60), &[][..], "disk");
            let requested =
                Run { address, end: &end, engine, op: Op::Read, point, extent, patience, content, clock: &clock };
            let mut bad = Vec::new();
            let RunResult { trial, .. } =
                run(&requested, &arena, &Stop::default(), &mut |place| bad.push(place)).unwrap();
            assert!(bad.is_empty(), "{engine:?}: {bad:?}");
            assert_eq!(trial.moved_bytes, 1 << 20, "{engine:?}");
            assert_eq!(trial.bytes, trial.requests * (16 << 10), "{engine:?}");
            let pieces = disk.asked();
            let once: crate::core::ExtentSet =
                pieces.iter().map(|requested| Extent::new(requested.extent.offset, 4096)).collect();
            assert_eq!((pieces.len(), once.total_bytes()), (256, 1 << 20), "{engine:?}: each byte once");
        }
    }
}
