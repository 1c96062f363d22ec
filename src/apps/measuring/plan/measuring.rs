//! The options of `haul tune` and `haul profile`, and how the measured disk is opened: pure.
use super::requests::{RandomOptions, WriteOptions};
use crate::core::{
    Access, AddressMap, Cache, CommandOptions, EndpointKind, EngineKind, Error, Existing, Facts, Host, Kind, Op,
    PlanSide, Result, Through,
};
use crate::measure::BufferOptions;
use crate::plan::plan_input::in_memory;
use crate::plan::words;
use std::path::PathBuf;
use std::time::Duration;

/// Smallest size that gives a meaningful result for a disk, in bytes.
const BYTES_MIN: u64 = 1 << 20;

/// Limit of bytes in flight while measuring: two of the largest blocks; no device is faster with more.
pub const MEASURED_IN_FLIGHT_BYTES: u64 = 128 << 20;

/// The form of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableStyle {
    /// Aligned columns.
    #[default]
    Text,
    /// One JSON document.
    Json,
    /// Comma-separated values: a header line, and one line for each row.
    Csv,
}

/// The options of `haul tune`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TuneOptions {
    /// The disk or file.
    pub path: String,
    /// Fewer points, for a result in a few seconds.
    pub quick: bool,
    /// Approximate duration; `None`: the default.
    pub time: Option<Duration>,
    /// Save the answer, with which copies then begin.
    pub save: bool,
    /// Measure writing; `None`: reading.
    pub write: Option<WriteOptions>,
    /// Measure nothing: restore what an interrupted run overwrote.
    pub restore: bool,
    /// `None`: auto.
    pub engine: Option<EngineKind>,
    /// The form of the table.
    pub style: TableStyle,
    /// The user's label for the run.
    pub label: Option<String>,
    /// The file of a page with charts.
    pub report: Option<PathBuf>,
}

/// Where `haul profile --timing` reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimingFrom {
    /// From this offset.
    Byte(u64),
    /// From the position of this number, of those that a profile measures.
    Place(u32),
}

impl Default for TimingFrom {
    fn default() -> Self {
        TimingFrom::Byte(0)
    }
}

/// The options of `haul profile`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileOptions {
    /// The disk or file.
    pub path: String,
    /// Only the rate at one position.
    pub timing: bool,
    /// The position.
    pub from: TimingFrom,
    /// Only READ BUFFER, for a disk that is reached by SCSI commands.
    pub read_buffer: Option<BufferOptions>,
    /// Number of positions at which to measure the rate; `None`: the default.
    pub positions: Option<u32>,
    /// Only reads at random offsets.
    pub random: Option<RandomOptions>,
    /// Only the sustained write rate, over this many bytes.
    pub sustained_bytes: Option<u64>,
    /// Measure writing; `None`: reading.
    pub write: Option<WriteOptions>,
    /// Approximate duration; `None`: the default.
    pub time: Option<Duration>,
    /// `None`: auto.
    pub engine: Option<EngineKind>,
    /// The form of the table.
    pub style: TableStyle,
    /// The user's label for the run.
    pub label: Option<String>,
    /// The file of a page with charts.
    pub report: Option<PathBuf>,
}

/// How a disk or file is opened for measuring.
#[derive(Clone, Debug)]
pub struct Measuring {
    /// Each available cache mode, direct first, and how to open it.
    pub ways: Vec<(Cache, PlanSide)>,
    /// How requests are kept in flight.
    pub engine: EngineKind,
    /// Size in bytes.
    pub size: u64,
    /// Reasons to doubt the results.
    pub warnings: Vec<String>,
}

/// How the disk or file with these `facts` is opened for measuring reads.
///
/// # Errors
/// Usage if it has no offsets, Refused if it is too small, Unsupported for an engine that is not available.
pub fn measure(facts: &Facts, engine: Option<EngineKind>, host: &Host) -> Result<Measuring> {
    measure_by(facts, Op::Read, engine, host)
}

/// The same for reading or writing.
pub(crate) fn measure_by(facts: &Facts, op: Op, engine: Option<EngineKind>, host: &Host) -> Result<Measuring> {
    let address = &facts.address;
    if !matches!(facts.kind, EndpointKind::File | EndpointKind::Block) {
        let what = format!("{address} is neither a disk nor a file: cannot measure {}", facts.kind.name());
        return Err(Error::new(Kind::Usage, what).advise("Name a block device or a regular file; see 'haul list'."));
    }
    let size = facts.size.unwrap_or(0);
    if size < BYTES_MIN {
        let what = format!("{address} has {}: too small to measure", words::exact(size));
        let advice = format!("At least {} are needed, several GiB are better.", words::size(BYTES_MIN));
        return Err(Error::new(Kind::Refused, what).advise(advice));
    }
    let through = facts.passthrough.clone().filter(|node| node.named);
    let mut ways = Vec::new();
    let direct = facts.direct.filter(|_| !in_memory(facts));
    let align = direct.map(|direct| direct.offset_bytes.max(facts.logical_block_bytes));
    if let Some(node) = through {
        let through = Through { node, options: CommandOptions::default() };
        ways.push((Cache::Direct, side(facts, Cache::Direct, facts.logical_block_bytes.max(1), Some(through))));
    } else {
        ways.extend(align.map(|align| (Cache::Direct, side(facts, Cache::Direct, align, None))));
        ways.push((Cache::Keep, side(facts, Cache::Keep, 1, None)));
    }
    Ok(Measuring { ways, engine: chosen(engine, host)?, size, warnings: doubts(facts, op, align.is_some()) })
}

fn side(facts: &Facts, cache: Cache, offset_align_bytes: u32, through: Option<Through>) -> PlanSide {
    PlanSide {
        address: facts.address.clone(),
        path: facts.path.clone(),
        kind: facts.kind,
        map: AddressMap::from(0),
        access: Access { cache, offset_align_bytes, exclusive: false, existing: Existing::Keep },
        lock: None,
        moves_head: false,
        through,
    }
}

fn chosen(engine: Option<EngineKind>, host: &Host) -> Result<EngineKind> {
    match (engine, &host.ring_refused) {
        (Some(EngineKind::Ring), Some(why)) => {
            let what = format!("--engine ring: io_uring is not available: {why}");
            Err(Error::new(Kind::Unsupported, what).advise("Use --engine threads, or omit --engine."))
        }
        (Some(engine), _) => Ok(engine),
        (None, Some(_)) => Ok(EngineKind::Threads),
        (None, None) => Ok(EngineKind::Ring),
    }
}

/// Reasons why the results may be those of memory instead of a disk.
fn doubts(facts: &Facts, op: Op, direct: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    if in_memory(facts) {
        warnings.push(format!("the file system of {} is in memory: this measures memory", facts.address));
    } else if !direct && facts.passthrough.as_ref().is_none_or(|node| !node.named) {
        warnings.push(match op {
            Op::Read => format!("{} does not support direct I/O: cached data is not read from the disk", facts.address),
            _ => format!(
                "{} does not support direct I/O: each run writes through the page cache and flushes at its end",
                facts.address
            ),
        });
    }
    if facts.identity.transport.as_deref() == Some("loop") {
        warnings.push(format!(
            "{} is a loop device: if its file is in the page cache, this measures memory",
            facts.address
        ));
    }
    if facts.sparse && op == Op::Read {
        warnings.push(format!("{} has holes, which are not read from the disk", facts.address));
    }
    warnings
}

/// The rate above which the results cannot be those of the medium or its link, in bytes per second, and the
/// name of that limit.
pub fn ceiling(facts: &Facts) -> Option<(u64, &'static str)> {
    let transport = facts.identity.transport.as_deref()?;
    // A virtual disk may report that it is rotational regardless of its medium.
    if facts.queue.rotational == Some(true) && ["sata", "ata", "usb", "scsi", "sas"].contains(&transport) {
        // The fastest disks sold, with two actuators, reach 550 MB/s on the outer tracks.
        return Some((600_000_000, "a rotational disk"));
    }
    match transport {
        "sata" | "ata" => Some((600_000_000, "a SATA link of 6 Gbit/s")),
        "mmc" => Some((400_000_000, "the fastest bus of MMC")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::DirectAlignment;

    fn disk() -> Facts {
        let mut facts = Facts::new("/dev/sdz", EndpointKind::Block);
        facts.size = Some(1 << 40);
        facts.logical_block_bytes = 4096;
        facts.direct = Some(DirectAlignment { memory_bytes: 512, offset_bytes: 512 });
        facts
    }

    const HOST: Host = Host { ring_refused: None };

    #[test]
    fn a_disk_is_measured_direct_first_then_buffered_without_exclusive_open() {
        let plan = measure(&disk(), None, &HOST).unwrap();
        let caches: Vec<Cache> = plan.ways.iter().map(|(cache, _)| *cache).collect();
        assert_eq!((caches.as_slice(), plan.engine), (&[Cache::Direct, Cache::Keep][..], EngineKind::Ring));
        assert_eq!(plan.ways[0].1.access.offset_align_bytes, 4096);
        assert!(plan.ways.iter().all(|(_, side)| !side.access.exclusive && side.access.existing == Existing::Keep));
        assert!(plan.warnings.is_empty());
    }

    #[test]
    fn sources_that_cannot_be_measured_are_refused_with_a_reason() {
        let small = Facts { size: Some(4096), ..disk() };
        let pipe = Facts::new("-", EndpointKind::Pipe);
        let no_ring = Host { ring_refused: Some("EPERM".to_owned()) };
        let table = [
            (measure(&small, None, &HOST), Kind::Refused, "too small"),
            (measure(&pipe, None, &HOST), Kind::Usage, "neither a disk nor a file"),
            (measure(&disk(), Some(EngineKind::Ring), &no_ring), Kind::Unsupported, "EPERM"),
        ];
        for (result, kind, words) in table {
            let error = result.unwrap_err();
            assert!(error.kind == kind && error.what.contains(words) && !error.advice.is_empty(), "{error:?}");
        }
        assert_eq!(measure(&disk(), None, &no_ring).unwrap().engine, EngineKind::Threads);
    }

    #[test]
    fn a_disk_in_memory_is_warned_of() {
        let in_memory = Facts { filesystem: Some("tmpfs".to_owned()), kind: EndpointKind::File, ..disk() };
        let plan = measure(&in_memory, None, &HOST).unwrap();
        assert!(plan.ways.len() == 1 && plan.warnings[0].contains("in memory"), "{plan:?}");
        let mut on_loop = disk();
        on_loop.identity.transport = Some("loop".to_owned());
        on_loop.queue.rotational = Some(true);
        assert!(measure(&on_loop, None, &HOST).unwrap().warnings[0].contains("loop device"));
        assert_eq!(ceiling(&on_loop), None);
        let mut turning = disk();
        turning.queue.rotational = Some(true);
        assert_eq!(ceiling(&turning), None, "nobody knows how it is connected");
        turning.identity.transport = Some("usb".to_owned());
        assert_eq!(ceiling(&turning).unwrap().0, 600_000_000);
    }
}
