use super::*;
use crate::core::{DeviceCounts, Endpoint, EngineKind, Extent, Facts, Op, Request};
use crate::disks::memory::Memory;
use crate::measure::{Clock, Way};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// A simulated disk whose commands take 500 µs plus 67 MB/s; data that the driver copies takes an additional 100 MB/s.
/// Its clock advances accordingly. One command transfers at most 256 KiB.
#[derive(Debug, Default)]
struct Drive {
    nanos: AtomicU64,
    capacity: u32,
    removed: bool,
    requested: Mutex<Vec<(OwnBuffer, BufferWay, usize)>>,
}

fn device_failure(kind: Kind) -> io::Error {
    let words = "the command is unknown".to_owned();
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
    fn buffer_bytes(&self, which: OwnBuffer) -> io::Result<u32> {
        match (self.capacity, which) {
            (0, _) => Err(device_failure(if self.removed { Kind::Disconnected } else { Kind::Unsupported })),
            (bytes, OwnBuffer::Data) => Ok(bytes),
            (_, OwnBuffer::Echo) => Ok(252),
        }
    }
    fn read_buffer(&self, which: OwnBuffer, way: BufferWay, bytes: &mut [u8]) -> io::Result<usize> {
        self.requested.lock().unwrap().push((which, way, bytes.len()));
        let moved = bytes.len().min(256 << 10);
        let copying = if way == BufferWay::Indirect { moved as u64 * 10 } else { 0 };
        self.nanos.fetch_add(500_000 + moved as u64 * 1000 / 67 + copying, Relaxed);
        if self.removed { Err(device_failure(Kind::Disconnected)) } else { Ok(moved) }
    }
    fn make_durable(&self) -> io::Result<()> {
        Ok(())
    }
    fn drop_cache(&self) -> io::Result<()> {
        Ok(())
    }
    fn counts(&self) -> DeviceCounts {
        DeviceCounts { direct_requested: 8, indirect: 2, ..DeviceCounts::default() }
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

fn measured(drive: Drive, options: &BufferOptions) -> (Arc<Drive>, ReadBuffer) {
    let drive = Arc::new(drive);
    let end: Arc<dyn Endpoint> = Arc::new(Node(Memory::disk(vec![0; 1 << 20], &[]), drive.clone()));
    let extents = vec![Extent::new(0, 1 << 20)];
    let mut subject = Subject::new("disk", vec![(Way::Direct, end)], EngineKind::Sync, extents, 64 << 20).unwrap();
    let timed = drive.clone();
    subject.clock = Clock::of(move || Duration::from_nanos(timed.nanos.load(Relaxed)));
    let time = Duration::from_millis(30);
    let found = read_buffer(&subject, options, time, &Stop::default(), &mut |_| {}).expect("it takes commands");
    (drive, found)
}

#[test]
fn the_original_formula_gives_the_original_figures() {
    // The published table: seconds for 1024 MB, by command size in KB.
    let table = |rows: [(u32, f64); 6]| {
        let cost = |(kb, seconds): (u32, f64)| {
            let seconds = seconds / f64::from((1 << 20) / kb);
            BufferCost { bytes: kb << 10, seconds, cpu_share: 0.0, runs: 3 }
        };
        let mib = f64::from(1 << 20);
        let figures = SeedFigures::of(&rows.map(cost)).unwrap();
        let rates = [figures.after_latency_per_s, figures.best_per_s, figures.worst_per_s].map(|rate| rate / mib);
        (figures.latency_s * 1e3, rates)
    };
    let near = |(found, rates): (f64, [f64; 3]), latency_ms: f64, wanted: [f64; 3]| {
        assert!((found - latency_ms).abs() < 0.006, "{found} ms");
        let off = rates.iter().zip(wanted).any(|(rate, wanted)| (rate - wanted).abs() > 0.7);
        assert!(!off, "{rates:?}, not {wanted:?}");
    };
    let not_moved = [(4, 145.7), (8, 79.9), (16, 47.0), (32, 30.5), (256, 16.1), (512, 15.1)];
    let direct = [(4, 147.6), (8, 82.1), (16, 48.8), (32, 31.9), (256, 17.3), (512, 16.3)];
    let indirect = [(4, 149.1), (8, 83.5), (16, 50.4), (32, 35.4), (256, 27.2), (512, 26.3)];
    near(table(not_moved), 0.50, [73.0, 68.0, 7.0]);
    near(table(direct), 0.50, [67.0, 63.0, 7.0]);
    near(table(indirect), 0.47, [40.0, 39.0, 6.9]);
}

#[test]
fn each_way_has_times_a_fit_and_figures() {
    let (drive, found) = measured(Drive { capacity: 1_000_000, ..Drive::default() }, &BufferOptions::default());
    assert!(found.failure.is_none() && found.capacity_bytes == Some(1_000_000), "{found:?}");
    let ways: Vec<BufferWay> = found.ways.iter().map(|way| way.way).collect();
    assert_eq!(ways, BufferWay::ALL);
    for way in &found.ways {
        let sizes: Vec<u32> = way.costs.iter().map(|cost| cost.bytes).collect();
        assert_eq!(sizes, (9..=18).map(|power| 1 << power).collect::<Vec<u32>>(), "one command moves no more");
        assert!(way.costs.iter().all(|cost| cost.runs == ROUNDS as usize));
        let (fit, seed) = (way.fit.unwrap(), way.seed.unwrap());
        let rate = if way.way == BufferWay::Indirect { 1.0 / (1.0 / 67e6 + 1e-8) } else { 67e6 };
        assert!((fit.latency_s - 500e-6).abs() < 1e-6 && (fit.bytes_per_s / rate - 1.0).abs() < 1e-2, "{fit:?}");
        // The time of 4 KiB includes some transfer time; that of a fitted line does not.
        assert!((seed.latency_s / 500e-6 - 1.0).abs() < 0.02 && seed.latency_s < 500e-6, "{seed:?}");
        assert!((seed.after_latency_per_s / rate - 1.0).abs() < 0.01, "{seed:?}");
        assert_eq!(way.driver_copied, (way.way == BufferWay::Direct).then_some(0.25));
    }
    let reported = ["one command transfers at most 262144 of 524288 bytes"];
    assert_eq!(found.refused, reported, "once, though all ways come upon it");
    assert!(drive.requested.lock().unwrap().iter().all(|(which, ..)| *which == OwnBuffer::Data));
}

#[test]
fn sizes_can_be_given_and_those_beyond_the_buffer_are_reported() {
    let options = BufferOptions { sizes: vec![5000, 512, 5000, 200_001, 1 << 20], ..BufferOptions::default() };
    let (_, found) = measured(Drive { capacity: 200_000, ..Drive::default() }, &options);
    for way in &found.ways {
        assert_eq!(way.costs.iter().map(|cost| cost.bytes).collect::<Vec<_>>(), [512, 5000]);
    }
    let beyond = |bytes: u32| format!("{bytes} bytes exceed the buffer of 200000 bytes");
    assert_eq!(found.refused, [beyond(200_001), beyond(1 << 20)]);
    let options = BufferOptions { sizes: vec![1 << 20], ..BufferOptions::default() };
    let (_, none) = measured(Drive { capacity: 200_000, ..Drive::default() }, &options);
    assert!(none.ways.is_empty() && none.refused.len() == 1 && none.failure.is_none());
}

#[test]
fn the_echo_buffer_is_read_to_its_last_byte() {
    let options = BufferOptions { which: OwnBuffer::Echo, sizes: Vec::new() };
    let (drive, found) = measured(Drive { capacity: 1 << 20, ..Drive::default() }, &options);
    assert_eq!(found.capacity_bytes, Some(252));
    assert!(found.ways.iter().all(|way| way.costs.len() == 1 && way.costs[0].bytes == 252 && way.seed.is_none()));
    assert!(drive.requested.lock().unwrap().iter().all(|(which, ..)| *which == OwnBuffer::Echo));
}

#[test]
fn a_disk_without_a_buffer_is_reported_and_a_removed_one_ends_the_measurement() {
    let (_, found) = measured(Drive::default(), &BufferOptions::default());
    assert!(found.ways.is_empty() && found.failure.is_none() && found.capacity_bytes.is_none());
    assert_eq!(found.refused, ["READ BUFFER: the command is unknown"]);
    for capacity in [0, 4096] {
        let (_, found) = measured(Drive { removed: true, capacity, ..Drive::default() }, &BufferOptions::default());
        assert!(matches!(found.failure, Some(MeasureFailure::Broken(error)) if error.kind == Kind::Disconnected));
    }
}
