//! The estimated duration of a copy, before its first byte and during the copy.
use super::found::subject;
use super::world::World;
use haul::core::{
    Access, AddressMap, Bound, Cache, Direction, Ended, EndpointKind, EngineKind, Existing, Extent, NoObserver,
    OnError, Plan, PlanSide, Route, Side, Stop, Tally, Tuning, WriteOrder, Zeros,
};
use haul::measure::{
    Budget, CopyProgress, Course, Curve, Forecast, Point, ProgressTrack, Subject, Way, Zone, look, sample,
};
use modelled_disk::model::Zones;
use modelled_disk::parameters::Parameters;
use modelled_disk::preset::Preset;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const GB: u64 = 1_000_000_000;

/// Maximum cost of the estimate of a copy.
const BUDGET: Budget = Budget { time_max: Duration::from_secs(2), share: 0.01, places_min: 3 };

/// A pair of disks, and the ranges of the copy.
struct Pair {
    disks: [Parameters; 2],
    offsets: [u64; 2],
    len: u64,
}

fn disk(name: &str) -> Parameters {
    let mut disk = Preset::named(name).unwrap().parameters();
    disk.size_bytes = 20 * GB;
    disk
}

/// Samples of one side alone.
fn sampled(subject: &mut Subject, range: Extent, point: Point, budget: Budget) -> Vec<Zone> {
    let Some(look) = look(subject, range, point, budget, &Stop::default()).unwrap() else { return Vec::new() };
    sample(subject, range, &look, look.whole_s, budget, &Stop::default()).unwrap()
}

/// The times of a copy and of its estimate.
struct CopyTimes {
    estimated_s: f64,
    looking_s: f64,
    took_s: f64,
    bound: Option<Bound>,
    /// The progress over time, with the remaining time.
    left: Vec<(f64, f64, f64)>,
}

fn copy(pair: &Pair) -> CopyTimes {
    let world = World::new();
    let mut subjects = pair.disks.each_ref().map(|disk| subject(&world, disk));
    let point = Point { way: Way::Direct, block_bytes: 1 << 20, depth: 2 };
    let mut curve = |side: usize| {
        let range = Extent::new(pair.offsets[side], pair.len);
        let zones = sampled(&mut subjects[side], range, point, BUDGET);
        Curve::through(&zones).unwrap()
    };
    let curves = [curve(0), curve(1)];
    let looking_s = world.now_s();
    let sides = curves.each_ref().map(Some);
    let course = Course {
        len: pair.len,
        sides,
        limit_bytes_per_s: None,
        in_turn: false,
        backward: false,
        faster_max: [1.0; 2],
        is_open: false,
        cache_bytes: 256 << 20,
    };
    let forecast = Forecast::of(&course).unwrap();

    let ends = subjects.map(|subject| subject.ways[0].1.clone());
    let plan = plan(pair);
    let tally = Arc::new(Tally::default());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (watched, noted) = (tally.clone(), seen.clone());
    world.on_tick(Box::new(move |now_s| noted.lock().unwrap().push((now_s, watched.written_bytes.load(Relaxed)))));
    let mut schedule = haul::core::schedules::make(&plan, &ends[0]);
    let outcome = haul::engine::run(
        &plan,
        &ends,
        &mut *schedule,
        haul::engine::Watch::new(&Stop::default(), &tally, &NoObserver),
    );
    assert!(matches!(outcome.ended, Ended::Complete), "{:?}", outcome.ended);
    let took_s = world.now_s() - looking_s;

    let seen = seen.lock().unwrap();
    let (mut track, mut left) = (ProgressTrack::default(), Vec::new());
    for &(now_s, bytes) in seen.iter() {
        let at_s = now_s - looking_s;
        let (settled_s, settled_bytes) = (at_s, bytes);
        track.push(CopyProgress {
            done_bytes: bytes,
            copied_bytes: bytes,
            data_bytes: bytes,
            settled_s,
            settled_bytes,
        });
        left.push((bytes as f64 / pair.len as f64, took_s - at_s, forecast.left_s(&track).unwrap()));
    }
    CopyTimes { estimated_s: forecast.expected_s().unwrap(), looking_s, took_s, bound: course.bound(), left }
}

fn side(offset: u64) -> PlanSide {
    let access = Access { cache: Cache::Direct, offset_align_bytes: 512, exclusive: false, existing: Existing::Keep };
    PlanSide {
        address: "modelled disk".to_owned(),
        path: "modelled disk".into(),
        kind: EndpointKind::Memory,
        map: AddressMap::from(offset),
        access,
        lock: None,
        moves_head: true,
        through: None,
    }
}

/// haul's plan for two rotational disks.
fn plan(pair: &Pair) -> Plan {
    Plan {
        overlaps: false,
        source: side(pair.offsets[Side::Source.index()]),
        dest: side(pair.offsets[Side::Dest.index()]),
        dests: Vec::new(),
        len: Some(pair.len),
        route: Route::Copy,
        pattern: None,
        engine: EngineKind::Ring,
        engine_instead: None,
        device_copy: None,
        tuning: Tuning::fixed(1 << 20, 4),
        head_bytes: 0,
        tail_align_bytes: 1,
        direction: Direction::Forward,
        write_order: WriteOrder::Submitted,
        zeros: Zeros::Write,
        ask_holes: false,
        detect_zeros_bytes: None,
        hashes: Vec::new(),
        digest_blocks: None,
        read_back: None,
        block_map: None,
        checks_memory: false,
        set_end: false,
        preallocate: false,
        durable: true,
        on_error: OnError::default(),
        journal: false,
        limit_bytes_per_s: None,
        time_limit: None,
    }
}

/// Pairs of rotational disks, whole and with ranges whose rates change in opposite directions.
fn pairs() -> Vec<(&'static str, Pair)> {
    let whole = |source, dest| Pair { disks: [disk(source), disk(dest)], offsets: [0, 0], len: 20 * GB };
    let crossed = Pair { offsets: [0, 5 * GB], len: 15 * GB, ..whole("disk-7200", "disk-7200") };
    vec![
        ("zoned", whole("disk-7200", "disk-7200")),
        ("zoned, with write caches", whole("disk-7200-cache", "disk-7200-cache")),
        ("to inner zones", crossed),
        ("a flat source that is slower than the outer zones only", {
            let mut pair = whole("sata-ssd", "disk-7200");
            pair.disks[0].size_bytes = 20 * GB;
            pair
        }),
    ]
}

#[test]
fn the_time_of_a_copy_between_zoned_disks_is_estimated_within_five_percent() {
    for (name, pair) in pairs() {
        let CopyTimes { estimated_s, looking_s, took_s, .. } = copy(&pair);
        assert!((estimated_s / took_s - 1.0).abs() < 0.05, "{name}: {estimated_s} estimated, {took_s} took");
        // Each side separately; a copy samples both at once.
        assert!(looking_s < 2.0 * 0.01 * took_s, "{name}: {looking_s} to look at a copy of {took_s}");
    }
}

#[test]
fn samples_are_read_within_their_time_and_match_the_media_rate() {
    let disk = disk("disk-7200");
    let medium = Zones::new(&disk, 100);
    for (share, places) in [(f64::INFINITY, 9), (0.01, 9), (0.003, 3), (0.0009, 0)] {
        let world = World::new();
        let (range, point) =
            (Extent::new(0, disk.size_bytes), Point { way: Way::Direct, block_bytes: 1 << 20, depth: 2 });
        let budget = Budget { share, ..BUDGET };
        let zones = sampled(&mut subject(&world, &disk), range, point, budget);
        assert!(zones.len() >= places, "{share}: {} places", zones.len());
        for zone in &zones {
            // A sample may cover two zones, whose rates differ by 2 to 4 %.
            let truth = medium.bytes_per_s(zone.offset) as f64;
            assert!((zone.bytes_per_s / truth - 1.0).abs() < 0.03, "{share}: {zone:?} instead of {truth}");
        }
        // A copy that is too short for an estimate pays only for the first sample.
        let time = (medium.media_ns(disk.size_bytes) as f64 / 1e9 * share).clamp(0.06, 2.0);
        assert!(world.now_s() < time, "{share}: {} instead of {time}", world.now_s());
    }
}

#[test]
fn after_a_tenth_the_remaining_time_is_right_within_five_percent() {
    for (name, pair) in pairs() {
        let reported = copy(&pair);
        let late: Vec<_> = reported.left.iter().filter(|(share, ..)| (0.1..0.98).contains(share)).collect();
        assert!(late.len() > 300, "{name}: {}", late.len());
        for (share, truth, left) in late {
            assert!((left / truth - 1.0).abs() < 0.05, "{name}, at {share}: {left} instead of {truth}");
        }
    }
}

#[test]
fn the_limiting_side_is_reported() {
    let slow_end = Pair { disks: [disk("disk-7200"), disk("disk-7200")], offsets: [0, 15 * GB], len: 5 * GB };
    assert_eq!(copy(&slow_end).bound, Some(Bound::Side(Side::Dest)));
    let slow_source = Pair { offsets: [15 * GB, 0], ..slow_end };
    assert_eq!(copy(&slow_source).bound, Some(Bound::Side(Side::Source)));
}
