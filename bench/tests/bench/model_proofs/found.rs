//! Measuring latency, rate, zones, the best point, and where a rate changes.
use super::world::World;
use haul::core::{EngineKind, Extent, Op, Stop};
use haul::measure::{self, Entry, Point, Profiled, Subject, SweepObserver, Way, shift};
use modelled_disk::model::Zones;
use modelled_disk::parameters::Parameters;
use modelled_disk::preset::Preset;
use std::sync::Arc;
use std::time::Duration;

const GB: u64 = 1_000_000_000;

/// The preset of that name and size, with some parameters replaced.
pub fn preset(name: &str, size_bytes: u64, settings: &[(&str, &str)]) -> Parameters {
    let mut disk = Preset::named(name).unwrap().parameters();
    disk.size_bytes = size_bytes;
    settings.iter().for_each(|(key, value)| disk.set(key, value).unwrap());
    disk
}

/// The disk, ready for measuring with direct I/O.
pub fn subject(world: &Arc<World>, disk: &Parameters) -> Subject {
    let extents = vec![Extent::new(0, disk.size_bytes)];
    let ways = vec![(Way::Direct, world.add(disk))];
    let mut subject = Subject::new("modelled disk", ways, EngineKind::Ring, extents, 128 << 20).unwrap();
    subject.clock = world.clock();
    subject
}

fn profiled(disk: &Parameters) -> Profiled {
    let world = World::new();
    let time = Duration::from_secs(30);
    measure::profile(&mut subject(&world, disk), 20, time, &Stop::default(), &mut |_, _| {})
}

/// Whether `found` is within this share of `truth`.
pub fn near(found: f64, truth: f64, share: f64) -> bool {
    (found / truth - 1.0).abs() < share
}

#[test]
fn the_fit_recovers_latency_and_rate_of_a_disk_within_five_percent() {
    // Latency and overhead are the cost of a command; for consecutive commands they add up.
    let disks = [
        ("sata-ssd", 105e-6, 160e6, vec![]),
        ("fast-ssd", 65e-6, 200e6, vec![]),
        ("slow-ssd", 230e-6, 50e6, vec![]),
        // A head that is never late: only the overhead is between two commands.
        ("scsi-2001", 200e-6, 10e6, vec![("rate", "10MB"), ("rates_over", "0"), ("zones", "0")]),
    ];
    for (name, latency_s, rate, settings) in disks {
        let fit = profiled(&preset(name, 4 * GB, &settings)).fit.unwrap();
        assert!(near(fit.latency_s, latency_s, 0.05), "{name}: {fit:?}");
        assert!(near(fit.bytes_per_s, rate, 0.05), "{name}: {fit:?}");
        assert!(fit.residual < 0.05, "{name}: {fit:?}");
    }
}

#[test]
fn the_zone_curve_and_the_time_of_a_whole_read_are_found_within_three_percent() {
    for name in ["disk-7200", "disk-7200-cache", "scsi-2001"] {
        let disk = preset(name, 20 * GB, &[]);
        let found = profiled(&disk);
        let medium = Zones::new(&disk, 100);
        assert_eq!(found.positions.len(), 20);
        for zone in found.positions.iter().map(|position| position.zone) {
            let truth = medium.bytes_per_s(zone.offset) as f64;
            assert!(near(zone.bytes_per_s, truth, 0.03), "{name}: {zone:?} instead of {truth}");
        }
        let truth = medium.media_ns(disk.size_bytes) as f64 / 1e9;
        let whole_s = found.whole_s.unwrap();
        assert!(near(whole_s, truth, 0.03), "{name}: {whole_s} instead of {truth}");
    }
}

struct Deaf;

impl SweepObserver for Deaf {
    fn tried(&mut self, _entry: &Entry) {}

    fn moved(&mut self, _share: f64, _point: Point) {}
}

/// The rate of a non-rotational disk at a point: commands overlap in latency, but not in overhead.
fn rate_at(disk: &Parameters, point: &Point) -> f64 {
    let bytes = f64::from(point.block_bytes);
    let alone_s = disk.overhead_ns as f64 / 1e9 + bytes / disk.rates[0].bytes_per_s as f64;
    let latency_s = disk.latency_ns as f64 / 1e9;
    bytes / alone_s.max((alone_s + latency_s) / f64::from(point.depth))
}

#[test]
fn the_knee_is_found_at_the_calculated_block_size_and_depth() {
    for name in ["sata-ssd", "fast-ssd", "slow-ssd"] {
        let disk = preset(name, 20 * GB, &[]);
        let points: Vec<Point> = measure::grid(&[Way::Direct], 4096, 128 << 20, measure::Effort::Full);
        let best = points.iter().map(|point| rate_at(&disk, point)).fold(0.0, f64::max);
        let good = |point: &&Point| rate_at(&disk, point) >= 0.95 * best;
        let cost = |point: &&Point| (point.in_flight_bytes(), u32::MAX - point.block_bytes);
        let knee = *points.iter().filter(good).min_by_key(cost).unwrap();
        let world = World::new();
        let mut subject = subject(&world, &disk);
        let time = Duration::from_secs(20);
        let tuned = measure::tune(&mut subject, points, time, &Stop::default(), &mut Deaf);
        let answer = tuned.answer.unwrap();
        assert_eq!(answer.pick, knee, "{name}: {answer:?}");
        assert!(near(answer.best_bytes_per_s, best, 0.03), "{name}: {answer:?} instead of {best}");
    }
}

#[test]
fn the_offset_where_writes_slow_down_is_found_within_five_percent() {
    // A cache of 256 MiB at 40 MB/s, and 15 MB/s after it.
    let disk = preset("slow-ssd", 4 * GB, &[]);
    let world = World::new();
    let mut subject = subject(&world, &disk);
    subject.op = Op::Write;
    subject.content = vec![7; 4096];
    let point = Point { way: Way::Direct, block_bytes: 1 << 20, depth: 4 };
    let (mut at, mut rates, mut ends) = (0, Vec::new(), Vec::new());
    while at < 640 << 20 {
        let extent = Extent::new(at, disk.size_bytes - at);
        let trial = subject.run(point, extent, Duration::from_millis(100), &Stop::default()).unwrap();
        at += trial.moved_bytes;
        rates.push(trial.bytes_per_s());
        ends.push(at);
    }
    let levels = shift::levels(&rates);
    assert_eq!(levels.len(), 2, "{levels:?}");
    let changed_at = ends[levels[0].end - 1] as f64;
    assert!(near(changed_at, f64::from(256 << 20), 0.05), "{changed_at}");
    assert!(near(levels[0].value, 40e6, 0.05) && near(levels[1].value, 15e6, 0.05), "{levels:?}");
}
