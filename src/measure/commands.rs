//! The cost of commands that do not access the medium: a READ of 0 blocks, and READ BUFFER by size.
use super::cost::Cost;
use super::fit::{Fit, fit};
use super::stats::median;
use super::{Clock, MeasureFailure, Subject};
use crate::core::{BufferWay, DeviceError, Error, Kind, OwnBuffer, RecordDevice, Stop};
use std::io;
use std::time::Duration;

/// Repetitions of each measurement; the median counts.
const ROUNDS: usize = 3;

/// Minimum number of commands per run: the first one may have to wake the disk.
const COMMANDS_MIN: u32 = 4;

/// Minimum size of READ BUFFER to measure, in bytes.
const BUFFER_BYTES_MIN: u32 = 512;

/// The cost of commands that do not access the medium.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Commands {
    /// Median time of a READ of 0 blocks, in seconds; `None` if the disk does not support it.
    pub empty_s: Option<f64>,
    /// Size of the disk's buffer in bytes; `None` if it cannot be read.
    pub buffer_bytes: Option<u32>,
    /// The cost of READ BUFFER by size.
    pub buffer: Vec<Cost>,
    /// The line fitted to these costs.
    pub buffer_fit: Option<Fit>,
    /// Unsupported commands, with the errors of the disk.
    pub refused: Vec<String>,
}

/// Measures the commands in about `time`; `None` if the side does not support passthrough commands. Calls `on_progress`
/// after each run.
///
/// # Errors
/// A stop was requested, or the disk has disappeared; `found` has the results so far.
pub(super) fn commands(
    subject: &Subject,
    time: Duration,
    stop: &Stop,
    found: &mut Option<Commands>,
    on_progress: &mut dyn FnMut(),
) -> Result<(), MeasureFailure> {
    let Some(device) = subject.ways.first().and_then(|(_, end)| end.records()) else { return Ok(()) };
    let found = found.insert(Commands::default());
    let mut asked =
        CommandRunner { device: &*device, address: &subject.address, clock: &subject.clock, stop, on_progress };
    let capacity = asked.tried("READ BUFFER", found, |device| device.buffer_bytes(OwnBuffer::Data))?;
    let sizes = capacity.map_or_else(Vec::new, |capacity| sizes(capacity, subject.in_flight_bytes_max()));
    let patience = time.div_f64((ROUNDS * (sizes.len() + 1)) as f64);
    found.empty_s = asked.empty(patience, found)?;
    if let Some(capacity) = capacity {
        found.buffer_bytes = Some(capacity);
        let outcome = asked.buffer(subject, &sizes, patience, found);
        let times: Vec<(f64, f64)> = found.buffer.iter().map(|cost| (f64::from(cost.bytes), cost.seconds)).collect();
        found.buffer_fit = fit(&times);
        outcome?;
    }
    Ok(())
}

/// Powers of two below the capacity, and the capacity.
fn sizes(capacity: u32, memory_bytes: u64) -> Vec<u32> {
    let most = u64::from(capacity).min(memory_bytes) as u32;
    let doubled = std::iter::successors(Some(BUFFER_BYTES_MIN), |bytes| bytes.checked_mul(2));
    doubled.take_while(|&bytes| bytes < most).chain([most]).collect()
}

/// Sends single commands to a disk.
struct CommandRunner<'a> {
    device: &'a dyn RecordDevice,
    address: &'a str,
    clock: &'a Clock,
    stop: &'a Stop,
    on_progress: &'a mut dyn FnMut(),
}

impl CommandRunner<'_> {
    /// The result; `None`, with a note in `found`, if the disk does not support the command.
    fn tried<T>(
        &self,
        what: &str,
        found: &mut Commands,
        command: impl FnOnce(&dyn RecordDevice) -> io::Result<T>,
    ) -> Result<Option<T>, MeasureFailure> {
        let error = match command(self.device) {
            Ok(answer) => return Ok(Some(answer)),
            Err(error) => error,
        };
        if DeviceError::of(&error).is_some_and(|device_failure| device_failure.kind == Kind::Disconnected) {
            let what = format!("{} disappeared: it did not answer {what}", self.address);
            return Err(MeasureFailure::Broken(Error::new(Kind::Disconnected, what).because(error)));
        }
        found.refused.push(format!("{what}: {error}"));
        Ok(None)
    }

    /// Mean time of a command in seconds, repeated for the duration `patience`.
    fn run(
        &mut self,
        patience: Duration,
        mut command: impl FnMut() -> io::Result<()>,
    ) -> Result<io::Result<f64>, MeasureFailure> {
        let began = self.clock.now();
        let mut given = 0;
        let passed = loop {
            if let Some(signal) = self.stop.signal() {
                return Err(MeasureFailure::Stopped(signal));
            }
            if let Err(error) = command() {
                return Ok(Err(error));
            }
            given += 1;
            let passed = self.clock.now() - began;
            if given >= COMMANDS_MIN && passed >= patience {
                break passed;
            }
        };
        (self.on_progress)();
        Ok(Ok(passed.as_secs_f64() / f64::from(given)))
    }

    fn empty(&mut self, patience: Duration, found: &mut Commands) -> Result<Option<f64>, MeasureFailure> {
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            let device = self.device;
            let run = self.run(patience, || device.read_nothing())?;
            match self.tried("a READ of 0 blocks", found, |_| run)? {
                Some(seconds) => times.push(seconds),
                None => return Ok(None),
            }
        }
        Ok(median(&times))
    }

    /// Measures all sizes in each round, so that other activity affects all sizes equally.
    fn buffer(
        &mut self,
        subject: &Subject,
        sizes: &[u32],
        patience: Duration,
        found: &mut Commands,
    ) -> Result<(), MeasureFailure> {
        let most = sizes.last().copied().unwrap_or(BUFFER_BYTES_MIN);
        let mut memory = subject.memory(most);
        let mut times: Vec<Vec<f64>> = vec![Vec::new(); sizes.len()];
        // Maximum length of one command; longer reads would need several.
        let mut moved_max = most;
        let mut outcome = Ok(());
        'rounds: for _ in 0..ROUNDS {
            for (index, &size) in sizes.iter().enumerate() {
                if size > moved_max {
                    continue;
                }
                let (device, bytes) = (self.device, &mut memory.bytes_mut()[..size as usize]);
                let mut moved = 0;
                let run = self.run(patience, || read_buffer(device, bytes).map(|bytes| moved = bytes as u32));
                let run = match run {
                    Ok(run) => run,
                    Err(failure) => {
                        outcome = Err(failure);
                        break 'rounds;
                    }
                };
                match self.tried(&format!("READ BUFFER of {size} bytes"), found, |_| run)? {
                    Some(seconds) if moved == size => times[index].push(seconds),
                    Some(_) => moved_max = moved,
                    None => moved_max = size.saturating_sub(1),
                }
            }
        }
        for (&bytes, times) in sizes.iter().zip(&times) {
            found.buffer.extend(Cost::of_runs(bytes, times));
        }
        outcome
    }
}

/// Without flags, the driver copies the data.
fn read_buffer(device: &dyn RecordDevice, bytes: &mut [u8]) -> io::Result<usize> {
    device.read_buffer(OwnBuffer::Data, BufferWay::Indirect, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{DeviceCounts, Endpoint, EngineKind, Extent, Facts, Op, Request};
    use crate::disks::memory::Memory;
    use crate::measure::Way;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    use std::sync::{Arc, Mutex};

    /// A simulated disk whose commands take 50 µs plus 1 GB/s, with at most 256 KiB per command, and a clock that
    /// advances accordingly.
    #[derive(Debug, Default)]
    struct Drive {
        nanos: AtomicU64,
        /// Size of its buffer; 0 if it has none.
        buffer_bytes: u32,
        /// Whether it rejects a READ of 0 blocks.
        picky: bool,
        removed: bool,
        asked: Mutex<Vec<usize>>,
    }

    fn device_failure(kind: Kind) -> io::Error {
        let words = "invalid field in CDB".to_owned();
        DeviceError { kind, words, offset: None, of_medium: false, advice: "", sense: None }.into()
    }

    impl RecordDevice for Drive {
        fn read_at(&self, _: &mut [u8], _: u64) -> io::Result<usize> {
            unreachable!("the medium is left out")
        }
        fn write_at(&self, _: &[u8], _: u64) -> io::Result<usize> {
            unreachable!("nothing is written")
        }
        fn compare_at(&self, _: &[u8], _: u64) -> io::Result<()> {
            unreachable!("nothing is compared")
        }
        fn read_long(&self, _: &mut [u8], _: u64, _: bool) -> io::Result<()> {
            unreachable!("no block is read")
        }
        fn read_nothing(&self) -> io::Result<()> {
            self.nanos.fetch_add(50_000, Relaxed);
            match (self.removed, self.picky) {
                (true, _) => Err(device_failure(Kind::Disconnected)),
                (_, true) => Err(device_failure(Kind::Unsupported)),
                _ => Ok(()),
            }
        }
        fn buffer_bytes(&self, _: OwnBuffer) -> io::Result<u32> {
            if self.buffer_bytes > 0 { Ok(self.buffer_bytes) } else { Err(device_failure(Kind::Unsupported)) }
        }
        fn read_buffer(&self, _: OwnBuffer, _: BufferWay, bytes: &mut [u8]) -> io::Result<usize> {
            let moved = bytes.len().min(256 << 10);
            self.asked.lock().unwrap().push(bytes.len());
            self.nanos.fetch_add(50_000 + moved as u64, Relaxed);
            Ok(moved)
        }
        fn make_durable(&self) -> io::Result<()> {
            Ok(())
        }
        fn drop_cache(&self) -> io::Result<()> {
            Ok(())
        }
        fn counts(&self) -> DeviceCounts {
            DeviceCounts::default()
        }
    }

    /// The disk as an endpoint.
    struct Node(Memory, Arc<Drive>);

    impl Endpoint for Node {
        fn facts(&self) -> &Facts {
            self.0.facts()
        }
        fn perform(&self, request: &mut Request) -> io::Result<u32> {
            self.0.perform(request)
        }
        fn records(&self) -> Option<Arc<dyn RecordDevice>> {
            Some(self.1.clone())
        }
        fn diagnose(&self, op: Op, offset: u64, error: &io::Error) -> Kind {
            self.0.diagnose(op, offset, error)
        }
    }

    fn measured(drive: Drive) -> (Arc<Drive>, Option<Commands>, Result<(), MeasureFailure>) {
        let drive = Arc::new(drive);
        let end: Arc<dyn Endpoint> = Arc::new(Node(Memory::disk(vec![0; 1 << 20], &[]), drive.clone()));
        let extents = vec![Extent::new(0, 1 << 20)];
        let mut subject = Subject::new("disk", vec![(Way::Direct, end)], EngineKind::Sync, extents, 64 << 20).unwrap();
        let timed = drive.clone();
        subject.clock = Clock::of(move || Duration::from_nanos(timed.nanos.load(Relaxed)));
        let mut found = None;
        let outcome = commands(&subject, Duration::from_millis(30), &Stop::default(), &mut found, &mut || {});
        (drive, found, outcome)
    }

    #[test]
    fn the_read_buffer_fit_has_the_latency_and_rate_of_the_link() {
        let (drive, found, outcome) = measured(Drive { buffer_bytes: 1_000_000, ..Drive::default() });
        let found = found.unwrap();
        assert!(outcome.is_ok() && found.refused.is_empty(), "{found:?}");
        assert!((found.empty_s.unwrap() - 50e-6).abs() < 1e-9, "{found:?}");
        let fit = found.buffer_fit.unwrap();
        assert!((fit.latency_s - 50e-6).abs() < 1e-8 && (fit.bytes_per_s / 1e9 - 1.0).abs() < 1e-3, "{fit:?}");
        // Sizes beyond one command are omitted, because their results would be wrong.
        let sizes: Vec<u32> = found.buffer.iter().map(|cost| cost.bytes).collect();
        assert_eq!(sizes, (9..=18).map(|power| 1 << power).collect::<Vec<u32>>());
        assert!(found.buffer.iter().all(|cost| cost.runs == ROUNDS), "{found:?}");
        assert!(drive.asked.lock().unwrap().iter().all(|&bytes| bytes <= 1 << 19), "longer ones are not tried again");
    }

    #[test]
    fn a_small_buffer_is_read_to_its_last_byte() {
        let (_, found, _) = measured(Drive { buffer_bytes: 5000, ..Drive::default() });
        let sizes: Vec<u32> = found.unwrap().buffer.iter().map(|cost| cost.bytes).collect();
        assert_eq!(sizes, [512, 1024, 2048, 4096, 5000]);
    }

    #[test]
    fn unsupported_commands_are_reported_with_their_error_and_the_rest_is_measured() {
        let (_, found, outcome) = measured(Drive::default());
        let found = found.unwrap();
        assert!(outcome.is_ok() && found.empty_s.is_some() && found.buffer.is_empty() && found.buffer_bytes.is_none());
        assert_eq!(found.refused, ["READ BUFFER: invalid field in CDB"]);
        let (_, found, _) = measured(Drive { picky: true, buffer_bytes: 4096, ..Drive::default() });
        let found = found.unwrap();
        assert!(found.empty_s.is_none() && found.buffer.len() == 4);
        assert_eq!(found.refused, ["a READ of 0 blocks: invalid field in CDB"]);
    }

    #[test]
    fn a_removed_disk_ends_the_measurement() {
        let (_, _, outcome) = measured(Drive { removed: true, buffer_bytes: 4096, ..Drive::default() });
        assert!(matches!(outcome, Err(MeasureFailure::Broken(error)) if error.kind == Kind::Disconnected));
    }
}
