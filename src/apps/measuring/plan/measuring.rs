//! What `haul tune` and `haul profile` are asked for, and how what they measure is opened: pure.
use super::wish::{RandomWish, WriteWish};
use crate::core::{
    Access, Cache, CommandOptions, EndpointKind, EngineKind, Error, Existing, Facts, Host, Kind, Op, PlanSide, Result,
    Through,
};
use crate::measure::BufferOptions;
use crate::plan::plan_input::in_memory;
use crate::plan::words;
use std::path::PathBuf;
use std::time::Duration;

/// Less than this tells nothing of a disk, in bytes.
const BYTES_MIN: u64 = 1 << 20;

/// Most bytes in flight while measuring, in bytes: two of the largest blocks, more than any device gains by.
pub const MEASURED_IN_FLIGHT_BYTES: u64 = 128 << 20;

/// How a table of numbers is to be printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableStyle {
    /// Columns for people.
    #[default]
    Text,
    /// One JSON document.
    Json,
    /// Comma-separated values, a line for each row and one for their names.
    Csv,
}

/// What `haul tune` was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TuneOptions {
    /// The disk or file.
    pub path: String,
    /// Fewer points, a few seconds.
    pub quick: bool,
    /// About how long; `None`: as long as it should.
    pub time: Option<Duration>,
    /// Keep the answer, for copies to begin with.
    pub save: bool,
    /// Measure writing; `None`: reading.
    pub write: Option<WriteWish>,
    /// Measure nothing: put back what a run that was interrupted left.
    pub restore: bool,
    /// `None`: auto.
    pub engine: Option<EngineKind>,
    /// How the table is printed.
    pub style: TableStyle,
    /// What the user calls the run.
    pub label: Option<String>,
    /// A page with charts, in this file.
    pub report: Option<PathBuf>,
}

/// Where `haul profile --timing` reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimingFrom {
    /// From this byte on.
    Byte(u64),
    /// From the place of this number on, of those that a profile measures.
    Place(u32),
}

impl Default for TimingFrom {
    fn default() -> Self {
        TimingFrom::Byte(0)
    }
}

/// What `haul profile` was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileOptions {
    /// The disk or file.
    pub path: String,
    /// Only the rate at one place.
    pub timing: bool,
    /// Which.
    pub from: TimingFrom,
    /// Only READ BUFFER, of a disk that is reached by SCSI commands.
    pub read_buffer: Option<BufferOptions>,
    /// Places of the zone curve; `None`: as many as there should be.
    pub positions: Option<u32>,
    /// Only reads at random places.
    pub random: Option<RandomWish>,
    /// Only how the rate of writing holds, over so many bytes.
    pub sustained_bytes: Option<u64>,
    /// Measure writing; `None`: reading.
    pub write: Option<WriteWish>,
    /// About how long; `None`: as long as it should.
    pub time: Option<Duration>,
    /// `None`: auto.
    pub engine: Option<EngineKind>,
    /// How the table is printed.
    pub style: TableStyle,
    /// What the user calls the run.
    pub label: Option<String>,
    /// A page with charts, in this file.
    pub report: Option<PathBuf>,
}

/// How something is opened to be measured.
#[derive(Clone, Debug)]
pub struct Measuring {
    /// Each cache mode that is available, direct first, with how it is opened.
    pub ways: Vec<(Cache, PlanSide)>,
    /// How requests are kept in flight.
    pub engine: EngineKind,
    /// Bytes of it.
    pub size: u64,
    /// What the figures are not, or may not be.
    pub warnings: Vec<String>,
}

/// How the disk or file with these `facts` is opened to be read and measured.
///
/// # Errors
/// Usage for what has no places to read at, Refused for what is small, Unsupported for an engine that is not
/// available.
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
        let through = Through { node, wishes: CommandOptions::default() };
        ways.push((Cache::Direct, side(facts, Cache::Direct, facts.logical_block_bytes.max(1), Some(through))));
    } else {
        ways.extend(align.map(|align| (Cache::Direct, side(facts, Cache::Direct, align, None))));
        ways.push((Cache::Keep, side(facts, Cache::Keep, 1, None)));
    }
    Ok(Measuring { ways, engine: chosen(engine, host)?, size, warnings: worries(facts, op, align.is_some()) })
}

fn side(facts: &Facts, cache: Cache, offset_align_bytes: u32, through: Option<Through>) -> PlanSide {
    PlanSide {
        address: facts.address.clone(),
        path: facts.path.clone(),
        kind: facts.kind,
        offset: 0,
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

/// Why figures may be those of a memory and not of a disk.
fn worries(facts: &Facts, op: Op, direct: bool) -> Vec<String> {
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

/// The rate above which the figures cannot be those of the medium or its link, in bytes a second, and what says so.
pub fn ceiling(facts: &Facts) -> Option<(u64, &'static str)> {
    let transport = facts.identity.transport.as_deref()?;
    // A virtual disk says that it turns and is anything.
    if facts.queue.rotational == Some(true) && ["sata", "ata", "usb", "scsi", "sas"].contains(&transport) {
        // Two heads at once, on the outer tracks of the fastest disks sold, give 550 MB/s.
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
    fn a_disk_is_measured_direct_first_and_buffered_and_never_for_itself_alone() {
        let plan = measure(&disk(), None, &HOST).unwrap();
        let caches: Vec<Cache> = plan.ways.iter().map(|(cache, _)| *cache).collect();
        assert_eq!((caches.as_slice(), plan.engine), (&[Cache::Direct, Cache::Keep][..], EngineKind::Ring));
        assert_eq!(plan.ways[0].1.access.offset_align_bytes, 4096);
        assert!(plan.ways.iter().all(|(_, side)| !side.access.exclusive && side.access.existing == Existing::Keep));
        assert!(plan.warnings.is_empty());
    }

    #[test]
    fn what_cannot_be_measured_is_refused_with_a_reason() {
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
    fn memory_that_passes_for_a_disk_is_warned_of() {
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
