//! Plans, facts and outcomes for the tests of this room.
use crate::core::*;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

const GIB: u64 = 1 << 30;

/// A device with two partitions.
pub(crate) fn disk(path: &str, size: u64) -> Facts {
    Facts {
        size: Some(size),
        logical_block_bytes: 512,
        physical_block_bytes: 4096,
        queue: QueueLimits { rotational: Some(false), ..QueueLimits::default() },
        identity: Identity {
            model: Some("Samsung SSD 870 EVO 1TB".to_owned()),
            serial: Some("S6PUNX0T123456".to_owned()),
            wwn: None,
            transport: Some("sata".to_owned()),
            version: None,
        },
        content: Some("GPT".to_owned()),
        partitions: vec![
            partition("sdb1", 1 << 20, 512 << 20, Some("vfat \"EFI\"")),
            partition("sdb2", 513 << 20, size - (514 << 20), Some("ext4 \"root\"")),
        ],
        ..Facts::new(path, EndpointKind::Block)
    }
}

fn partition(name: &str, offset: u64, len: u64, content: Option<&str>) -> Partition {
    Partition { name: name.to_owned(), offset, len, content: content.map(str::to_owned) }
}

/// The source of the examples, named by a symbolic link.
pub(crate) fn source() -> Facts {
    let mut facts = disk("/dev/sda", 2 * GIB);
    facts.address = "/dev/disk/by-id/ata-old-disk".to_owned();
    facts.identity = Identity { model: Some("QEMU HARDDISK".to_owned()), ..Identity::default() };
    facts.queue.rotational = Some(true);
    facts.partitions.clear();
    facts.content = Some("ext4 \"data\"".to_owned());
    facts
}

/// The dest of the examples.
pub(crate) fn dest() -> Facts {
    disk("/dev/sdb", 1_000_204_886_016)
}

pub(crate) fn side(address: &str, path: &str, kind: EndpointKind, offset: u64) -> PlanSide {
    let access = Access { cache: Cache::Direct, offset_align_bytes: 512, exclusive: true, existing: Existing::Keep };
    PlanSide {
        address: address.to_owned(),
        path: PathBuf::from(path),
        kind,
        map: AddressMap::from(offset),
        access,
        lock: None,
        moves_head: false,
        through: None,
    }
}

fn reason(topic: &'static str, choice: &str, because: &str) -> Reason {
    Reason::new(topic, choice, because)
}

/// 2 GiB from one device to another.
pub(crate) fn plan() -> Decision {
    let block_bytes = 256 << 10;
    let plan = Plan {
        source: side("/dev/disk/by-id/ata-old-disk", "/dev/sda", EndpointKind::Block, 0),
        dest: side("/dev/sdb", "/dev/sdb", EndpointKind::Block, 0),
        len: Some(2 * GIB),
        route: Route::Copy,
        pattern: None,
        dests: Vec::new(),
        engine: EngineKind::Ring,
        engine_instead: None,
        device_copy: None,
        tuning: Tuning { adaptive: true, ..Tuning::fixed(block_bytes, 32) },
        head_bytes: 0,
        tail_align_bytes: 4096,
        direction: Direction::Forward,
        write_order: WriteOrder::Any,
        overlaps: false,
        zeros: Zeros::Device,
        ask_holes: false,
        detect_zeros_bytes: None,
        hashes: vec![],
        digest_blocks: None,
        on_error: OnError::default(),
        read_back: None,
        block_map: None,
        checks_memory: false,
        limit_bytes_per_s: None,
        time_limit: None,
        set_end: false,
        preallocate: false,
        durable: true,
        journal: true,
    };
    let why = vec![
        reason("engine", "ring", "io_uring is available, and both sides support it"),
        reason("block size", "256 KiB × 32", "default for the queue limits of both disks; auto-tuned"),
        reason("source", "direct, aligned to 512 bytes", "block device"),
        reason("flush", "yes", "exit status 0 means that the data is durable"),
    ];
    let notes = PlanNotes { why, dests: vec![dest().identity], ..PlanNotes::default() };
    Decision { plan, notes }
}

/// The estimate of this copy.
pub(crate) fn estimate() -> Estimate {
    Estimate {
        at_least: Duration::from_millis(250),
        at_most: Some(Duration::from_millis(250)),
        doubt: None,
        source_bytes_per_s: Some(12_000_000_000),
        dest_bytes_per_s: Some(8_600_000_000),
        write_rate: Some(WriteRate::AsRead),
        bound: Some(Bound::Side(Side::Dest)),
        places: 10,
        took: Duration::from_millis(2),
    }
}

/// The complete copy.
pub(crate) fn complete() -> Outcome {
    let copying = Duration::from_millis(250);
    Outcome {
        ended: Ended::Complete,
        engine: EngineKind::Ring,
        engine_detail: "io_uring, fixed buffers, huge pages".to_owned(),
        totals: Totals {
            read_bytes: 2 * GIB - (128 << 20),
            written_bytes: 2 * GIB - (128 << 20),
            zeroed_bytes: 128 << 20,
            zeroed_runs: 3,
            read_requests: 7680,
            write_requests: 7681,
            ..Totals::default()
        },
        claimed: Extent::new(0, 2 * GIB),
        estimate: Some(estimate()),
        elapsed: Duration::from_millis(270),
        flushing: Duration::from_millis(20),
        durable: true,
        memory: None,
        sides: [side_report(copying / 8, 85), side_report(copying * 6 / 10, 350)],
        digest_waited: Duration::ZERO,
        limit_waited: Duration::ZERO,
        pace: Pace {
            limits: Limits { block_bytes: 1 << 20, in_flight: [4, 2], bursts: false },
            because: "raised throughput by 31 %, the maximum found".to_owned(),
            trials: vec![
                trial(40, [2, 2], [4, 2], 31, TrialVerdict::Kept),
                trial(90, [4, 2], [8, 2], -1, TrialVerdict::Dropped),
                trial(130, [4, 2], [4, 4], 0, TrialVerdict::NoLongerFull),
            ],
            search_cost: Duration::from_millis(4),
        },
        usage: Usage {
            user: Duration::from_millis(50),
            system: Duration::from_millis(120),
            peak_resident_bytes: 19_084_083,
        },
        differences: None,
        unread: [Unread::default(), Unread::default()],
        damage: None,
        dests: vec![],
        verified: None,
        memory_check: None,
        manifest: None,
        digests: vec![],
        stored_digest: None,
        kept: None,
        notes: vec![],
        fallbacks: vec![],
    }
}

fn side_report(waited: Duration, p50_us: u64) -> SideReport {
    SideReport {
        slowest_part: None,
        latency: Latency { count: 7680, p50_us, p90_us: p50_us * 2, p99_us: p50_us * 5, max_us: p50_us * 40 },
        latencies: [(1, 3840), (2, 3072), (5, 691), (40, 77)].map(|(by, count)| (p50_us * by, count)).to_vec(),
        waited,
        idle: waited / 10,
        cached_before_bytes: Some(0),
        cached_after_bytes: Some(4096),
    }
}

/// The copy interrupted by a signal halfway.
pub(crate) fn interrupted() -> Outcome {
    let mut outcome = complete();
    outcome.ended = Ended::Interrupted(2);
    outcome.totals = Totals {
        read_bytes: GIB + (8 << 20),
        written_bytes: GIB + (8 << 20),
        read_requests: 4128,
        write_requests: 4128,
        ..Totals::default()
    };
    outcome.claimed = Extent::new(0, GIB + (8 << 20));
    outcome.notes =
        vec!["the locked memory limit is too low for registered buffers; unregistered buffers were used".to_owned()];
    outcome
}

/// The copy whose source could not be read at byte 1 GiB.
pub(crate) fn failed() -> Outcome {
    let mut outcome = interrupted();
    outcome.ended = Ended::Failed(Box::new(bad_sector()));
    outcome.claimed = Extent::new(0, GIB);
    outcome.notes.clear();
    outcome
}

pub(crate) fn bad_sector() -> Error {
    let eio = io::Error::from_raw_os_error(5);
    Error::of_request(Kind::Io, Op::Read, Side::Source, "/dev/sda", GIB, eio)
        .in_sectors_of(512)
        .advise("See the kernel log (dmesg) for the device error, and copy the readable part with ddrescue.")
}

/// The command line of the examples.
pub(crate) fn args() -> Vec<String> {
    "copy --yes --hash=sha256 --count 2G /dev/disk/by-id/ata-old-disk /dev/sdb".split(' ').map(str::to_owned).collect()
}

fn trial(at_ms: u64, from: [u32; 2], to: [u32; 2], gain_percent: i32, verdict: TrialVerdict) -> Trial {
    let limits = |in_flight| Limits { block_bytes: 1 << 20, in_flight, bursts: false };
    let (at, side) = (Duration::from_millis(at_ms), Some(Side::Source));
    Trial { at, side, from: limits(from), to: limits(to), gain_percent, pairs: 3, verdict }
}
