//! A copy that the device makes internally: its claims, and the fallback if it refuses.
use crate::model::{pattern, plan};
use haul::core::{
    DeviceCopy, Ended, Endpoint, EngineKind, Extent, Facts, Kind, NoObserver, OffloadSource, Op, Outcome, Request,
    Stop, Tally,
};
use haul::disks::memory::Memory;
use std::io;
use std::sync::Arc;
use std::sync::Mutex;

const LEN: usize = 100_000;

/// A dest that can copy internally, at most 3000 bytes per command, up to a limit.
struct Device {
    memory: Memory,
    commands: Mutex<Vec<(Extent, u64)>>,
    /// Commands after this many fail with this error.
    fails: (usize, i32),
    /// This command requests the stop.
    stops: Option<usize>,
    stop: Stop,
}

impl Device {
    fn new(fails: (usize, i32), stops: Option<usize>) -> Device {
        let (commands, stop) = Default::default();
        Device { memory: Memory::disk(vec![0; LEN], &[]), commands, fails, stops, stop }
    }
}

impl Endpoint for Device {
    fn facts(&self) -> &Facts {
        self.memory.facts()
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        self.memory.perform(request)
    }

    fn offload(&self, _source: OffloadSource<'_>, from: Extent, to_offset: u64) -> io::Result<u64> {
        let mut commands = self.commands.lock().unwrap();
        if commands.len() == self.fails.0 {
            return Err(io::Error::from_raw_os_error(self.fails.1));
        }
        commands.push((from, to_offset));
        if Some(commands.len()) == self.stops {
            self.stop.request(libc::SIGTERM);
        }
        Ok(from.len.min(3000))
    }

    fn diagnose(&self, op: Op, offset: u64, error: &io::Error) -> Kind {
        self.memory.diagnose(op, offset, error)
    }
}

fn run(device: &Arc<Device>) -> (Outcome, Tally) {
    let source = Arc::new(Memory::disk(pattern(LEN, 0), &[]));
    let ends: [Arc<dyn Endpoint>; 2] = [source, device.clone()];
    let mut plan = plan(EngineKind::Offload, Some(90_000), 0, 1000);
    plan.engine_instead = Some(EngineKind::Threads);
    plan.device_copy = Some(DeviceCopy { from_offset: 5000, command_bytes: 4096, from: None });
    let mut schedule = haul::core::schedules::make(&plan, &ends[0]);
    let tally = Tally::default();
    let outcome =
        haul::engine::run(&plan, &ends, &mut *schedule, haul::engine::Watch::new(&device.stop, &tally, &NoObserver));
    (outcome, tally)
}

#[test]
fn every_byte_is_requested_once_at_every_command_size() {
    let device = Arc::new(Device::new((usize::MAX, 0), None));
    let (outcome, tally) = run(&device);
    assert!(matches!(outcome.ended, Ended::Complete), "{:?}", outcome.ended);
    assert_eq!((outcome.engine, outcome.totals.offloaded_bytes), (EngineKind::Offload, 90_000));
    assert_eq!((outcome.claimed, tally.copied_bytes()), (Extent::new(0, 90_000), 90_000));
    let commands = device.commands.lock().unwrap();
    assert_eq!(commands.len(), 30);
    for (number, (from, to)) in commands.iter().enumerate() {
        let done = number as u64 * 3000;
        assert_eq!((from.offset, from.len, *to), (5000 + done, (90_000 - done).min(4096), 1000 + done));
    }
}

#[test]
fn a_refused_device_copy_falls_back_to_another_engine_with_a_note() {
    let device = Arc::new(Device::new((0, libc::EOPNOTSUPP), None));
    let (outcome, _) = run(&device);
    assert!(matches!(outcome.ended, Ended::Complete), "{:?}", outcome.ended);
    assert_eq!((outcome.engine, outcome.totals.offloaded_bytes), (EngineKind::Threads, 0));
    assert!(device.memory.bytes()[1000..91_000] == pattern(LEN, 0)[..90_000]);
    assert!(outcome.notes.iter().any(|note| note.contains("refuses the offloaded copy")), "{:?}", outcome.notes);
}

#[test]
fn bytes_copied_before_a_failure_or_a_signal_are_claimed() {
    for errno in [libc::EIO, libc::EOPNOTSUPP] {
        let (outcome, _) = run(&Arc::new(Device::new((7, errno), None)));
        let Ended::Failed(error) = &outcome.ended else { panic!("it should have failed: {:?}", outcome.ended) };
        assert_eq!((error.offset, outcome.claimed), (Some(1000 + 7 * 3000), Extent::new(0, 7 * 3000)));
    }
    let (outcome, _) = run(&Arc::new(Device::new((usize::MAX, 0), Some(5))));
    assert!(matches!(outcome.ended, Ended::Interrupted(libc::SIGTERM)), "{:?}", outcome.ended);
    assert_eq!(outcome.claimed, Extent::new(0, 5 * 3000));
}
