//! Measures reading a disk's internal buffer by size and by way: the cost of the link, the driver and the processor
//! without the medium, as sg_rbuf does.
use super::fit::{Fit, fit};
use super::stats::median;
use super::{MeasureFailure, Subject};
use crate::core::{BufferWay, DeviceError, Error, Kind, OwnBuffer, RecordDevice, Stop};
use crate::sys;
use std::io;
use std::time::Duration;

/// Repetitions of each measurement; the median counts.
const ROUNDS: u32 = 3;
/// Minimum number of commands per run: the first one may have to wake the disk.
const COMMANDS_MIN: u32 = 4;
/// Minimum command size if none are given, in bytes.
const BYTES_MIN: u32 = 512;
/// Command size that the original formula uses for latency, in bytes.
const ORIGINAL_BYTES: u32 = 4096;

/// The cost of commands of one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BufferCost {
    /// Size in bytes.
    pub bytes: u32,
    /// Median time of one command at depth 1, in seconds.
    pub seconds: f64,
    /// Median share of one processor that this process used.
    pub cpu_share: f64,
    /// Number of runs.
    pub runs: usize,
}

impl BufferCost {
    /// Throughput in bytes per second.
    pub fn bytes_per_s(&self) -> f64 {
        f64::from(self.bytes) / self.seconds
    }
}

/// The figures that "Comparing Direct and Indirect IO times in sg" (Gilbert, 2001) derives from two of the times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeedFigures {
    /// Implied latency of a command, in seconds: derived from how much longer commands of 4 KiB take than the fastest
    /// ones, for the same amount of data.
    pub latency_s: f64,
    /// Rate of the fastest commands without that latency, in bytes per second; infinite if no time is left.
    pub after_latency_per_s: f64,
    /// The highest rate, in bytes per second.
    pub best_per_s: f64,
    /// The lowest rate, in bytes per second.
    pub worst_per_s: f64,
}

impl SeedFigures {
    /// Computes the figures from costs, ascending by size; `None` for fewer than two sizes.
    pub fn of(costs: &[BufferCost]) -> Option<SeedFigures> {
        let by_rate = |one: &&BufferCost, other: &&BufferCost| one.bytes_per_s().total_cmp(&other.bytes_per_s());
        let (best, worst) = (costs.iter().max_by(by_rate)?, costs.iter().min_by(by_rate)?);
        let small = costs.iter().find(|cost| cost.bytes == ORIGINAL_BYTES).or_else(|| costs.first())?;
        if small.bytes == best.bytes {
            return None;
        }
        // Compare the times for the same amount of data, that of one small command.
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

/// The costs of one way of reading.
#[derive(Clone, Debug, PartialEq)]
pub struct BufferWayCosts {
    /// The way.
    pub way: BufferWay,
    /// Costs by size, ascending.
    pub costs: Vec<BufferCost>,
    /// The line fitted to these costs.
    pub fit: Option<Fit>,
    /// The original figures for these costs.
    pub seed: Option<SeedFigures>,
    /// Share of direct transfers that the driver copied anyway; `None` for other ways.
    pub driver_copied: Option<f64>,
}

/// The results of the measurement.
#[derive(Debug, Default)]
pub struct ReadBuffer {
    /// Size of the buffer in bytes; `None` if there is none, or it was not reported.
    pub capacity_bytes: Option<u32>,
    /// Each way, the cheapest first.
    pub ways: Vec<BufferWayCosts>,
    /// Unsupported commands, with the errors of the disk.
    pub refused: Vec<String>,
    /// Why it ended early.
    pub failure: Option<MeasureFailure>,
}

/// Parameters of the measurement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BufferOptions {
    /// The buffer to read.
    pub which: OwnBuffer,
    /// Command sizes in bytes; if empty, powers of two below the capacity, and the capacity.
    pub sizes: Vec<u32>,
}

/// Reads an internal buffer by each size and way, in about `time`; `None` if the side does not support passthrough
/// commands. `on_progress` receives the progress, from 0 to 1. Results are kept even after a failure.
pub fn read_buffer(
    subject: &Subject,
    options: &BufferOptions,
    time: Duration,
    stop: &Stop,
    on_progress: &mut dyn FnMut(f64),
) -> Option<ReadBuffer> {
    let device = subject.ways.first().and_then(|(_, end)| end.records())?;
    let mut found = ReadBuffer::default();
    let mut work = ReadBufferRun { device: &*device, subject, options, stop, on_progress };
    found.failure = work.all(time, &mut found).err();
    Some(found)
}

struct ReadBufferRun<'a> {
    device: &'a dyn RecordDevice,
    subject: &'a Subject,
    options: &'a BufferOptions,
    stop: &'a Stop,
    on_progress: &'a mut dyn FnMut(f64),
}

/// The runs of one size and way.
#[derive(Clone, Debug, Default)]
struct Runs {
    seconds: Vec<f64>,
    cpu_shares: Vec<f64>,
}

impl ReadBufferRun<'_> {
    fn all(&mut self, time: Duration, found: &mut ReadBuffer) -> Result<(), MeasureFailure> {
        let capacity = match self.device.buffer_bytes(self.options.which) {
            Ok(bytes) => bytes,
            Err(error) => return self.refused("READ BUFFER", error, found),
        };
        found.capacity_bytes = Some(capacity);
        let sizes = self.sizes(capacity, found);
        let mut runs = vec![vec![Runs::default(); sizes.len()]; BufferWay::ALL.len()];
        let outcome = self.rounds(&sizes, time, &mut runs, found);
        for (way, runs) in BufferWay::ALL.into_iter().zip(&runs) {
            found.ways.extend(self.costs_of(way, &sizes, runs));
        }
        outcome
    }

    /// The sizes to measure. Requested sizes beyond the capacity are reported.
    fn sizes(&self, capacity: u32, found: &mut ReadBuffer) -> Vec<u32> {
        let most = u64::from(capacity).min(self.subject.in_flight_bytes_max()) as u32;
        if self.options.sizes.is_empty() {
            let doubled = std::iter::successors(Some(BYTES_MIN), |bytes| bytes.checked_mul(2));
            return doubled.take_while(|&bytes| bytes < most).chain([most]).collect();
        }
        let mut sizes = self.options.sizes.clone();
        sizes.sort_unstable();
        sizes.dedup();
        let (fine, beyond): (Vec<u32>, Vec<u32>) = sizes.into_iter().partition(|&bytes| bytes <= most);
        found.refused.extend(beyond.iter().map(|bytes| format!("{bytes} bytes exceed the buffer of {most} bytes")));
        fine
    }

    /// Measures all sizes and ways in each round, so that other activity affects all equally.
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
        // Maximum length of one command by way; longer reads would need several.
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

    /// Repeats commands for the duration `patience`. Returns the bytes per command, its time in seconds, and the share
    /// of a processor.
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
            let moved = match self.device.read_buffer(self.options.which, way, bytes) {
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

    /// Records an unsupported command. Fails if the disk has disappeared.
    fn refused(&self, what: &str, error: io::Error, found: &mut ReadBuffer) -> Result<(), MeasureFailure> {
        if DeviceError::of(&error).is_some_and(|device_failure| device_failure.kind == Kind::Disconnected) {
            let what = format!("{} disappeared: it did not answer {what}", self.subject.address);
            return Err(MeasureFailure::Broken(Error::new(Kind::Disconnected, what).because(error)));
        }
        self.note_refusal(format!("{what}: {error}"), found);
        Ok(())
    }

    /// Only once, although every way meets it.
    fn note_refusal(&self, text: String, found: &mut ReadBuffer) {
        if !found.refused.contains(&text) {
            found.refused.push(text);
        }
    }

    fn costs_of(&self, way: BufferWay, sizes: &[u32], runs: &[Runs]) -> Option<BufferWayCosts> {
        let cost = |(&bytes, runs): (&u32, &Runs)| {
            let (seconds, cpu_share) = (median(&runs.seconds)?, median(&runs.cpu_shares)?);
            Some(BufferCost { bytes, seconds, cpu_share, runs: runs.seconds.len() })
        };
        let costs: Vec<BufferCost> = sizes.iter().zip(runs).filter_map(cost).collect();
        let times: Vec<(f64, f64)> = costs.iter().map(|cost| (f64::from(cost.bytes), cost.seconds)).collect();
        let counts = self.device.counts();
        let copied = (counts.direct_requested > 0).then(|| counts.indirect as f64 / counts.direct_requested as f64);
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
