//! Chooses the engine that transfers the bytes, or lets the file system share them.
use crate::core::PlanNotes;
use crate::core::{CommandSet, DeviceCopy, EndpointKind, EngineKind, Error, Facts, FileId, Kind, Result, Side};
use crate::plan::When;
use crate::plan::check::{Overlap, Range};
use crate::plan::numbers::REFLINK_ALIGN_BYTES;
use crate::plan::plan_input::{PlanInput, in_memory};

/// The engine, and the one to use if sharing extents fails.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Engines {
    pub(crate) engine: EngineKind,
    pub(crate) instead: Option<EngineKind>,
}

impl Engines {
    /// The engine that transfers bytes, if any are transferred.
    pub(crate) fn moving(&self) -> EngineKind {
        self.instead.unwrap_or(self.engine)
    }
}

/// Chooses the engine.
pub(crate) fn engine(
    asked: &PlanInput,
    range: &Range,
    overlap: Option<Overlap>,
    notes: &mut PlanNotes,
) -> Result<Engines> {
    let always = asked.options.reflink == When::Always;
    let unshared = no_reflink(asked, range, overlap);
    match &unshared {
        None if always => {
            notes.chose("engine", EngineKind::Reflink.name(), "--reflink always");
            return Ok(Engines { engine: EngineKind::Reflink, instead: None });
        }
        Some(why) if always && range.len != Some(0) => {
            let what = format!("--reflink always: {why}");
            return Err(Error::new(Kind::Unsupported, what).advise("Omit --reflink to copy the data."));
        }
        _ => {}
    }
    let (moving, because) = moving(asked)?;
    notes.engine_because.clone_from(&because);
    if asked.options.offload {
        match no_offload(asked, range, overlap) {
            None => {
                let because = format!("--offload: the device copies the data; if it refuses: {}", moving.name());
                notes.chose("engine", EngineKind::Offload.name(), because);
                return Ok(Engines { engine: EngineKind::Offload, instead: Some(moving) });
            }
            Some(why) => notes.warn(format!("--offload: {why}; haul copies the data itself")),
        }
    }
    if unshared.is_some() {
        notes.chose("engine", moving.name(), because);
        return Ok(Engines { engine: moving, instead: None });
    }
    let because = format!("both files are on {}; if it refuses: {}", file_system(asked.dest), moving.name());
    notes.chose("engine", EngineKind::Reflink.name(), because);
    Ok(Engines { engine: EngineKind::Reflink, instead: Some(moving) })
}

fn file_system(facts: &Facts) -> &str {
    facts.filesystem.as_deref().unwrap_or("a file system that can share extents")
}

/// The engine that transfers bytes, and the reason.
fn moving(asked: &PlanInput) -> Result<(EngineKind, String)> {
    match (asked.options.engine, &asked.host.ring_refused) {
        (Some(EngineKind::Ring), Some(why)) => {
            let what = format!("--engine ring: io_uring cannot be used here: {why}");
            let advice = "Use --engine threads, or omit --engine: the result is the same.";
            Err(Error::new(Kind::Unsupported, what).advise(advice))
        }
        (Some(engine), _) => Ok((engine, format!("--engine {}", engine.name()))),
        (None, Some(why)) => Ok((EngineKind::Threads, format!("io_uring cannot be used here: {why}"))),
        (None, None)
            if [asked.source, asked.dest].into_iter().all(in_memory) && asked.options.needs_bytes().is_none() =>
        {
            Ok((EngineKind::Sync, "both files are in memory: no I/O to wait for".to_owned()))
        }
        (None, None) => Ok((EngineKind::Ring, "io_uring is available".to_owned())),
    }
}

/// Why the device cannot copy internally; `None`: it may.
fn no_offload(asked: &PlanInput, range: &Range, overlap: Option<Overlap>) -> Option<String> {
    let options = asked.options;
    let says = |condition: bool, why: &str| condition.then(|| why.to_owned());
    let nodes = Side::BOTH.map(|side| asked.through(side).map(|through| through.node.number));
    let block = u64::from(asked.dest.logical_block_bytes.max(asked.dest.queue.copy_unit_bytes).max(1));
    let names = by_name(asked);
    let blocks = Side::BOTH.map(|side| asked.facts(side).logical_block_bytes);
    let whole = |bytes: u64| bytes.is_multiple_of(block);
    says(nodes.contains(&None), "both sides need --passthrough")
        .or_else(|| says(nodes[0] != nodes[1] && !names, "source and destination are different devices"))
        .or_else(|| says(asked.dest.queue.copy_max_bytes == 0, "the destination does not support offloaded copies"))
        .or_else(|| {
            says(names && asked.source.copy_name.is_none(), "the source has no identifier that the destination can use")
        })
        .or_else(|| {
            let one_name = names && nodes[0] != nodes[1] && asked.source.copy_name == asked.dest.copy_name;
            says(one_name, "source and destination have the same identifier and could be confused")
        })
        .or_else(|| says(blocks[0] != blocks[1], "their block sizes differ"))
        .or_else(|| says(overlap.is_some(), "the ranges overlap"))
        .or_else(|| says(options.needs_bytes().is_some(), "digests need the data"))
        .or_else(|| says(options.on_error.reads_around(), "--on-error needs haul to copy the data"))
        .or_else(|| says(options.limit_bytes_per_s.is_some(), "--limit needs haul to copy the data"))
        .or_else(|| says(options.sparse == When::Always, "--sparse always needs to examine the data"))
        .or_else(|| {
            let fits = whole(range.skip) && whole(range.seek) && range.len.is_some_and(|len| len > 0 && whole(len));
            says(!fits, "the range is not a multiple of the device block size")
        })
}

/// Both sides accept SCSI commands: their copies name the source disk, even if it is the same one.
fn by_name(asked: &PlanInput) -> bool {
    let scsi = |side| asked.through(side).is_some_and(|through| through.node.commands == CommandSet::Scsi);
    Side::BOTH.into_iter().all(scsi)
}

/// The copy that the device makes, if that is the engine.
pub(crate) fn device_copy(asked: &PlanInput, range: &Range, engines: &Engines) -> Option<DeviceCopy> {
    let node = asked.through(Side::Source).filter(|_| engines.engine == EngineKind::Offload)?.node;
    let from = asked.source.copy_name.filter(|_| by_name(asked));
    Some(DeviceCopy { from_offset: node.start + range.skip, command_bytes: asked.dest.queue.copy_max_bytes, from })
}

/// Why extents cannot or should not be shared; `None`: it is worth trying.
fn no_reflink(asked: &PlanInput, range: &Range, overlap: Option<Overlap>) -> Option<String> {
    let (source, dest, options) = (asked.source, asked.dest, asked.options);
    let auto = options.reflink == When::Auto;
    let says = |condition: bool, why: &str| condition.then(|| why.to_owned());
    if options.reflink == When::Never {
        return Some("--reflink never".to_owned());
    }
    if options.resume {
        return Some("--resume copies the rest".to_owned());
    }
    if options.is_listed() {
        return Some("a list of ranges copies parts".to_owned());
    }
    says(source.kind != EndpointKind::File || dest.kind != EndpointKind::File, "only files can share extents")
        .or_else(|| says(auto && options.engine.is_some(), "--engine was given"))
        .or_else(|| says(options.needs_bytes().is_some(), "digests need the data"))
        .or_else(|| says(auto && options.on_error.reads_around(), "shared extents share unreadable sectors"))
        .or_else(|| says(options.sparse != When::Auto, "--sparse needs to examine or write the data"))
        .or_else(|| says(overlap.is_some(), "the ranges overlap"))
        .or_else(|| cannot(Side::Source, source))
        .or_else(|| cannot(Side::Dest, dest))
        .or_else(|| {
            says(source.filesystem != dest.filesystem || apart(source, dest), "they are on different file systems")
        })
        .or_else(|| unaligned(asked, range))
}

fn cannot(side: Side, facts: &Facts) -> Option<String> {
    let fails = !facts.reflinks || in_memory(facts);
    fails.then(|| format!("the file system of {} {} cannot share extents", side.name(), facts.address))
}

/// Whether the file systems are certainly different. Subvolumes of btrfs and bcachefs have different device
/// numbers but can share extents.
fn apart(source: &Facts, dest: &Facts) -> bool {
    let subvolumes = matches!(source.filesystem.as_deref(), Some("btrfs" | "bcachefs"));
    match (source.id, dest.id) {
        (Some(FileId::File(from, _)), Some(FileId::File(to, _))) => from != to && !subvolumes,
        _ => false,
    }
}

fn unaligned(asked: &PlanInput, range: &Range) -> Option<String> {
    let Some(len) = range.len.filter(|len| *len > 0) else { return Some("nothing to share".to_owned()) };
    let aligned = |bytes: u64| bytes.is_multiple_of(REFLINK_ALIGN_BYTES);
    // An unaligned end is allowed at the end of the source, if it becomes the end of the dest.
    let source_end = asked.source.size == Some(range.skip + len);
    let dest_end = asked.dest_begins_empty() || asked.dest.size.is_some_and(|size| range.seek + len >= size);
    let fits = aligned(range.skip) && aligned(range.seek) && (aligned(len) || source_end && dest_end);
    (!fits).then(|| format!("the range is not aligned to {REFLINK_ALIGN_BYTES} bytes"))
}
