//! What reading a disk's own buffer costs, by its size and by where the bytes end up: the link, the driver and the
//! processor without the medium, as sg_rbuf has it.
use super::fit::{Fit, fit};
use super::stats::median;
use super::{MeasureFailure, Subject};
use crate::core::{BufferWay, DeviceError, Error, Kind, OwnBuffer, RecordDevice, Stop};
use crate::sys;
use std::io;
use std::time::Duration;

/// Times that everything is measured; the median counts.
const ROUNDS: u32 = 3;
/// Commands of a run at least: the first may find the disk asleep.
const COMMANDS_MIN: u32 = 4;
/// The shortest command where no sizes are given, in bytes.
const BYTES_MIN: u32 = 512;
/// The command whose time is taken for latency in the seed's formula, in bytes.
const SEED_BYTES: u32 = 4096;

/// What commands of one size cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BufferCost {
    /// Bytes of it.
    pub bytes: u32,
    /// Median time of one, one after the other, in seconds.
    pub seconds: f64,
    /// Median share of one processor that this process took meanwhile.
    pub cpu_share: f64,
    /// Runs that this rests on.
    pub runs: usize,
}

impl BufferCost {
    /// Bytes a second.
    pub fn bytes_per_s(&self) -> f64 {
        f64::from(self.bytes) / self.seconds
    }
}

/// The figures that "Comparing Direct and Indirect IO times in sg" (Gilbert, 2001) derives from two of the times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeedFigures {
    /// Latency of a command that is implied: by how much those of 4 KiB take longer than the fastest ones, for each
    /// command. In seconds.
    pub latency_s: f64,
    /// Bytes a second of the fastest ones without that; infinite where nothing is left.
    pub after_latency_per_s: f64,
    /// The highest rate, in bytes a second.
    pub best_per_s: f64,
    /// The lowest.
    pub worst_per_s: f64,
}

impl SeedFigures {
    /// By the times of commands, the shortest first; `None` where there are not two sizes.
    pub fn of(costs: &[BufferCost]) -> Option<SeedFigures> {
        let by_rate = |one: &&BufferCost, other: &&BufferCost| one.bytes_per_s().total_cmp(&other.bytes_per_s());
        let (best, worst) = (costs.iter().max_by(by_rate)?, costs.iter().min_by(by_rate)?);
        let small = costs.iter().find(|cost| cost.bytes == SEED_BYTES).or_else(|| costs.first())?;
        if small.bytes == best.bytes {
            return None;
        }
        // Of so many bytes, whatever their number: those of one small command.
        let share = f64::from(small.bytes) / f64::from(best.bytes);
        let latency_s = small.seconds - best.seconds * share;
        let rest = best.seconds - latency_s;
        Some(SeedFigures {
            latency_s,
            after_latency_per_s: if rest > 0.0 { f64::from(best.bytes) / rest } else { f64::INFINITY },
            best_per_s: best.bytes_per_s(),
            worst_per_s: worst.bytes_per_s(),
        })
    }
}

/// What one way of fetching the bytes cost.
#[derive(Clone, Debug, PartialEq)]
pub struct BufferWayCosts {
    /// Which.
    pub way: BufferWay,
    /// By size, the smallest first.
    pub costs: Vec<BufferCost>,
    /// The line through these.
    pub fit: Option<Fit>,
    /// The seed's figures from them.
    pub seed: Option<SeedFigures>,
    /// Share of the transfers that the driver copied, of the way that is to do without; `None` of others.
    pub driver_copied: Option<f64>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct ReadBuffer {
    /// Bytes of the buffer; `None`: there is none, or it was not reported.
    pub capacity_bytes: Option<u32>,
    /// Each way, the cheapest first.
    pub ways: Vec<BufferWayCosts>,
    /// What the disk did not do, in its words.
    pub refused: Vec<String>,
    /// Why it ended before its time.
    pub failure: Option<MeasureFailure>,
}

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BufferOptions {
    /// Which buffer.
    pub which: OwnBuffer,
    /// Bytes of commands; none: powers of two up to the whole buffer, and that.
    pub sizes: Vec<u32>,
}

/// Reads a buffer of the disk's own by each size and way, in about `time`; `None` for what is reached by no commands of
/// its own. `heard` receives the progress, from 0 to 1. What was found is kept whatever happens.
pub fn read_buffer(
    subject: &Subject,
    wish: &BufferOptions,
    time: Duration,
    stop: &Stop,
    on_progress: &mut dyn FnMut(f64),
) -> Option<ReadBuffer> {
    let device = subject.ways.first().and_then(|(_, end)| end.records())?;
    let mut found = ReadBuffer::default();
    let mut work = ReadBufferRun { device: &*device, subject, wish, stop, on_progress };
    found.failure = work.all(time, &mut found).err();
    Some(found)
}

struct ReadBufferRun<'a> {
    device: &'a dyn RecordDevice,
    subject: &'a Subject,
    wish: &'a BufferOptions,
    stop: &'a Stop,
    on_progress: &'a mut dyn FnMut(f64),
}

/// Of one size by one way.
#[derive(Clone, Debug, Default)]
struct Runs {
    seconds: Vec<f64>,
    cpu_shares: Vec<f64>,
}

impl ReadBufferRun<'_> {
    fn all(&mut self, time: Duration, found: &mut ReadBuffer) -> Result<(), MeasureFailure> {
        let capacity = match self.device.buffer_bytes(self.wish.which) {
            Ok(bytes) => bytes,
            Err(error) => return self.refused("READ BUFFER", error, found),
        };
        found.capacity_bytes = Some(capacity);
        let sizes = self.sizes(capacity, found);
        let mut runs = vec![vec![Runs::default(); sizes.len()]; BufferWay::ALL.len()];
        let outcome = self.rounds(&sizes, time, &mut runs, found);
        for (way, runs) in BufferWay::ALL.into_iter().zip(&runs) {
            found.ways.extend(self.settled(way, &sizes, runs));
        }
        outcome
    }

    /// The sizes that are measured; those asked for that are more than the buffer has are reported.
    fn sizes(&self, capacity: u32, found: &mut ReadBuffer) -> Vec<u32> {
        let most = u64::from(capacity).min(self.subject.in_flight_bytes_max()) as u32;
        if self.wish.sizes.is_empty() {
            let doubled = std::iter::successors(Some(BYTES_MIN), |bytes| bytes.checked_mul(2));
            return doubled.take_while(|&bytes| bytes < most).chain([most]).collect();
        }
        let mut sizes = self.wish.sizes.clone();
        sizes.sort_unstable();
        sizes.dedup();
        let (fine, beyond): (Vec<u32>, Vec<u32>) = sizes.into_iter().partition(|&bytes| bytes <= most);
        found.refused.extend(beyond.iter().map(|bytes| format!("{bytes} bytes exceed the buffer of {most} bytes")));
        fine
    }

    /// All sizes by all ways, then all once more, so that what continues beside it hits all.
    fn rounds(
        &mut self,
        sizes: &[u32],
        time: Duration,
        runs: &mut [Vec<Runs>],
        found: &mut ReadBuffer,
    ) -> Result<(), MeasureFailure> {
        let count = ROUNDS as usize * sizes.len() * BufferWay::ALL.len();
        let patience = time.div_f64(count.max(1) as f64);
        let mut memory = self.subject.memory(sizes.last().copied().unwrap_or(BYTES_MIN));
        // What one command moves; longer ones would be more than one. By way.
        let mut most = BufferWay::ALL.map(|_| u32::MAX);
        for done in 0..count {
            let (size, way) = (done / BufferWay::ALL.len() % sizes.len(), done % BufferWay::ALL.len());
            let bytes = sizes[size];
            (self.on_progress)(done as f64 / count as f64);
            if bytes > most[way] {
                continue;
            }
            match self.run(BufferWay::ALL[way], &mut memory.bytes_mut()[..bytes as usize], patience)? {
                Ok((moved, seconds, cpu_share)) if moved == bytes => {
                    runs[way][size].seconds.push(seconds);
                    runs[way][size].cpu_shares.push(cpu_share);
                }
                Ok((moved, ..)) => {
                    most[way] = moved;
                    self.note_refusal(format!("one command transfers at most {moved} of {bytes} bytes"), found);
                }
                Err(error) => {
                    most[way] = bytes.saturating_sub(1);
                    self.refused(&format!("READ BUFFER of {bytes} bytes"), error, found)?;
                }
            }
        }
        Ok(())
    }

    /// Commands one after the other for as long as `patience`: the bytes that one moved, its seconds, and the share of
    /// a processor.
    fn run(
        &self,
        way: BufferWay,
        bytes: &mut [u8],
        patience: Duration,
    ) -> Result<io::Result<(u32, f64, f64)>, MeasureFailure> {
        let (clock, began, used) = (&self.subject.clock, self.subject.clock.now(), sys::used());
        let mut given = 0;
        loop {
            if let Some(signal) = self.stop.signal() {
                return Err(MeasureFailure::Stopped(signal));
            }
            let moved = match self.device.read_buffer(self.wish.which, way, bytes) {
                Ok(moved) => moved as u32,
                Err(error) => return Ok(Err(error)),
            };
            given += 1;
            let passed = clock.now().saturating_sub(began);
            if moved as usize == bytes.len() && (given < COMMANDS_MIN || passed < patience) {
                continue;
            }
            let now = sys::used();
            let cpu = (now.user + now.system).saturating_sub(used.user + used.system).as_secs_f64();
            let passed = passed.as_secs_f64();
            let cpu_share = if passed > 0.0 { cpu / passed } else { 0.0 };
            return Ok(Ok((moved, passed / f64::from(given), cpu_share)));
        }
    }

    /// Notes what the disk did not do. Fails if it has disappeared.
    fn refused(&self, what: &str, error: io::Error, found: &mut ReadBuffer) -> Result<(), MeasureFailure> {
        if DeviceError::of(&error).is_some_and(|said| said.kind == Kind::Gone) {
            let what = format!("{} disappeared: it did not answer {what}", self.subject.address);
            return Err(MeasureFailure::Broken(Error::new(Kind::Gone, what).because(error)));
        }
        self.note_refusal(format!("{what}: {error}"), found);
        Ok(())
    }

    /// Once: each way comes upon the same.
    fn note_refusal(&self, text: String, found: &mut ReadBuffer) {
        if !found.refused.contains(&text) {
            found.refused.push(text);
        }
    }

    fn settled(&self, way: BufferWay, sizes: &[u32], runs: &[Runs]) -> Option<BufferWayCosts> {
        let cost = |(&bytes, runs): (&u32, &Runs)| {
            let (seconds, cpu_share) = (median(&runs.seconds)?, median(&runs.cpu_shares)?);
            Some(BufferCost { bytes, seconds, cpu_share, runs: runs.seconds.len() })
        };
        let costs: Vec<BufferCost> = sizes.iter().zip(runs).filter_map(cost).collect();
        let times: Vec<(f64, f64)> = costs.iter().map(|cost| (f64::from(cost.bytes), cost.seconds)).collect();
        let counts = self.device.counts();
        let copied = (counts.direct_asked > 0).then(|| counts.indirect as f64 / counts.direct_asked as f64);
        (!costs.is_empty()).then(|| BufferWayCosts {
            way,
            fit: fit(&times),
            seed: SeedFigures::of(&costs),
            driver_copied: copied.filter(|_| way == BufferWay::Direct),
            costs,
        })
    }
}

#[cfg(test)]
#[path = "read_buffer_tests.rs"]
mod tests;
