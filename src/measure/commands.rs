//! What commands cost that leave the medium out: a READ of 0 blocks, and READ BUFFER by its size.
use super::cost::Cost;
use super::fit::{Fit, fit};
use super::stats::median;
use super::{Clock, MeasureFailure, Subject};
use crate::core::{BufferWay, DeviceError, Error, Kind, OwnBuffer, RecordDevice, Stop};
use std::io;
use std::time::Duration;

/// Times that everything is measured; the median counts.
const ROUNDS: usize = 3;

/// Commands of a run at least: the first may find the disk asleep.
const COMMANDS_MIN: u32 = 4;

/// The shortest READ BUFFER whose cost is measured, in bytes.
const BUFFER_BYTES_MIN: u32 = 512;

/// What a disk's commands cost without the medium.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Commands {
    /// Median time of a READ of 0 blocks, in seconds; `None`: the disk has none.
    pub empty_s: Option<f64>,
    /// Bytes of the disk's own buffer; `None`: it gives none away.
    pub buffer_bytes: Option<u32>,
    /// What READ BUFFER of each size costs.
    pub buffer: Vec<Cost>,
    /// The line through these.
    pub buffer_fit: Option<Fit>,
    /// What the disk did not do, in its words.
    pub refused: Vec<String>,
}

/// Measures them in about `time`; `None` for what is reached by no commands of its own. `heard` is called after each
/// run.
///
/// # Errors
/// It was asked to stop, or the disk has disappeared; what was found until then is in `found`.
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

/// Powers of two up to the whole buffer, and that.
fn sizes(capacity: u32, memory_bytes: u64) -> Vec<u32> {
    let most = u64::from(capacity).min(memory_bytes) as u32;
    let doubled = std::iter::successors(Some(BUFFER_BYTES_MIN), |bytes| bytes.checked_mul(2));
    doubled.take_while(|&bytes| bytes < most).chain([most]).collect()
}

/// A disk that is given commands one after the other.
struct CommandRunner<'a> {
    device: &'a dyn RecordDevice,
    address: &'a str,
    clock: &'a Clock,
    stop: &'a Stop,
    on_progress: &'a mut dyn FnMut(),
}

impl CommandRunner<'_> {
    /// The answer; `None`, with a word in `found`, of a disk that does not do it.
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
        if DeviceError::of(&error).is_some_and(|said| said.kind == Kind::Gone) {
            let what = format!("{} disappeared: it did not answer {what}", self.address);
            return Err(MeasureFailure::Broken(Error::new(Kind::Gone, what).because(error)));
        }
        found.refused.push(format!("{what}: {error}"));
        Ok(None)
    }

    /// Seconds of a command on average, given for as long as `patience`.
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

    /// All sizes, then all once more, so that what continues beside it hits all.
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
        // What one command moves; longer ones would be more than one.
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

/// As programs get it that ask for nothing: the driver copies.
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

    /// A disk whose commands take 50 us and whose buffer gives 1 GB/s, at most 256 KiB a command; its clock counts what
    /// they took.
    #[derive(Debug, Default)]
    struct Drive {
        nanos: AtomicU64,
        /// Bytes of its buffer; 0: it has none.
        buffer_bytes: u32,
        /// It does not know a READ of 0 blocks.
        picky: bool,
        gone: bool,
        asked: Mutex<Vec<usize>>,
    }

    fn said(kind: Kind) -> io::Error {
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
            match (self.gone, self.picky) {
                (true, _) => Err(said(Kind::Gone)),
                (_, true) => Err(said(Kind::Unsupported)),
                _ => Ok(()),
            }
        }
        fn buffer_bytes(&self, _: OwnBuffer) -> io::Result<u32> {
            if self.buffer_bytes > 0 { Ok(self.buffer_bytes) } else { Err(said(Kind::Unsupported)) }
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

    /// The same as an endpoint.
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
    fn the_line_through_read_buffer_has_the_latency_and_the_rate_of_the_link() {
        let (drive, found, outcome) = measured(Drive { buffer_bytes: 1_000_000, ..Drive::default() });
        let found = found.unwrap();
        assert!(outcome.is_ok() && found.refused.is_empty(), "{found:?}");
        assert!((found.empty_s.unwrap() - 50e-6).abs() < 1e-9, "{found:?}");
        let fit = found.buffer_fit.unwrap();
        assert!((fit.latency_s - 50e-6).abs() < 1e-8 && (fit.bytes_per_s / 1e9 - 1.0).abs() < 1e-3, "{fit:?}");
        // Longer than one command moves, and the result of these is no time of theirs.
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
    fn what_a_disk_does_not_do_is_told_in_its_words_and_the_rest_measured() {
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
    fn a_disk_that_is_gone_ends_it() {
        let (_, _, outcome) = measured(Drive { gone: true, buffer_bytes: 4096, ..Drive::default() });
        assert!(matches!(outcome, Err(MeasureFailure::Broken(error)) if error.kind == Kind::Gone));
    }
}
