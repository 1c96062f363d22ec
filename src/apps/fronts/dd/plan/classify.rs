//! Decides how dd copies: as blocks, by the pump, or by records.
use crate::apps::fronts::record_plan::{OpenWords, RecordPlan};
use crate::core::{Access, Cache, Direction, EndpointKind, Existing, Facts, FileId, Ground, Plan, WriteOrder};
use crate::plan::{Options, PassthroughMode, When};

/// Shorter copies end before the queues would be open.
const WORTH_BYTES: u64 = 8 << 20;

/// Records up to this size stay in a processor's cache between reading and writing; the pump splits larger
/// ones.
const WARM_BYTES: u64 = 1 << 20;

/// The kinds of files among which the decision distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DdKind {
    /// A regular file.
    File,
    /// A block device.
    Block,
    /// /dev/zero: infinite.
    Zeros,
    /// /dev/null.
    Null,
    /// A pipe or FIFO.
    Pipe,
    /// A SCSI generic node, which dd reads and writes without interpreting it.
    ScsiGeneric,
    /// A disk that is reached by SCSI or NVMe commands.
    Commands,
    /// Anything else.
    Other,
}

impl DdKind {
    /// The kind, in words for messages.
    pub fn name(self) -> &'static str {
        match self {
            DdKind::File => "regular file",
            DdKind::Block => "block device",
            DdKind::Zeros => "endless zeros",
            DdKind::Null => "null device",
            DdKind::Pipe => "pipe",
            DdKind::ScsiGeneric | DdKind::Commands => "SCSI generic (sg) device",
            DdKind::Other => "other",
        }
    }
}

/// The facts about one side, open and positioned at its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DdFacts {
    /// Its kind.
    pub kind: DdKind,
    /// Its size in bytes; of a file or device.
    pub size: Option<u64>,
    /// The offset of the first byte to copy.
    pub offset: Option<u64>,
    /// The open file has flags that change the meaning of reads or writes: O_APPEND, O_SYNC, O_DSYNC,
    /// O_NONBLOCK.
    pub odd_flags: bool,
    /// The open file has O_DIRECT.
    pub direct: bool,
    /// Logical block size, of a block device.
    pub logical_block_bytes: Option<u32>,
    /// Its bytes are in memory already, or are written to the page cache: no call waits for a medium.
    pub in_memory: bool,
}

/// A copy of blocks, without conversions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// Offset of the first byte in the source.
    pub skip_bytes: u64,
    /// Offset of the first byte in the dest.
    pub seek_bytes: u64,
    /// Bytes to copy.
    pub len: u64,
    /// The caller requested direct I/O on both sides.
    pub direct: bool,
    /// Sides to reach by passthrough commands, in addition to those whose node is named.
    pub passes: PassthroughMode,
    /// Bytes per request, if specified.
    pub block_bytes: Option<u32>,
    /// Requests in flight, if specified.
    pub depth: Option<u32>,
}

/// How dd copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyMethod {
    /// As blocks of haul's block size; the rest after them as records.
    Blocks(Blocks),
    /// As records, for this reason.
    Records(String),
}

/// How `plan` is copied, with both sides open and at their first bytes.
pub fn classify(plan: &RecordPlan, source: &DdFacts, dest: &DdFacts) -> CopyMethod {
    let reasons = [needs_records(plan), fills_up(plan, source), side_reason(source, true), side_reason(dest, false)];
    if let Some(reason) = reasons.into_iter().flatten().next() {
        return CopyMethod::Records(reason.to_owned());
    }
    let (Some(skip_bytes), Some(seek_bytes)) = (source.offset, dest.offset) else {
        return CopyMethod::Records("one side has no offsets".to_owned());
    };
    let Some(len) = length(plan, source, dest, skip_bytes, seek_bytes) else {
        return CopyMethod::Records("the length is unknown".to_owned());
    };
    if len < WORTH_BYTES {
        return CopyMethod::Records("too short to benefit from queues".to_owned());
    }
    let is_file = |facts: &DdFacts| facts.kind == DdKind::File && facts.in_memory;
    let fits_a_cache = plan.source.record_bytes.max(plan.dest.record_bytes) <= WARM_BYTES;
    if is_file(source) && is_file(dest) && fits_a_cache {
        return CopyMethod::Records("both files are in memory, where one buffer is faster than queues".to_owned());
    }
    let by_commands = source.kind == DdKind::Commands || dest.kind == DdKind::Commands;
    if source.direct != dest.direct && dest.kind != DdKind::Null && !by_commands {
        return CopyMethod::Records("direct I/O is requested on one side only".to_owned());
    }
    // Commands bypass the page cache in any case.
    let direct = source.direct || by_commands && dest.direct;
    let passes = PassthroughMode::AsNamed;
    CopyMethod::Blocks(Blocks { skip_bytes, seek_bytes, len, direct, passes, block_bytes: None, depth: None })
}

/// The part of the plan that requires records.
fn needs_records(plan: &RecordPlan) -> Option<&'static str> {
    let odd = |words: OpenWords| {
        let OpenWords { append, dsync, sync, nonblock, noatime, nocache, .. } = words;
        let table = [
            (append, "append: every write goes to the current end of the file"),
            (dsync, "dsync: every record must be on the medium before the next"),
            (sync, "sync: every record must be on the medium before the next"),
            (nonblock, "nonblock: a read may return a short record or none"),
            (noatime, "noatime: the file must be read with the flags it was opened with"),
            (nocache, "nocache: the page cache is evicted record by record"),
        ];
        table.into_iter().find(|(given, _)| *given).map(|(_, why)| why)
    };
    let table = [
        (plan.framing.is_some(), "conv=block and conv=unblock convert between lines and records"),
        (plan.table.is_some(), "conv= changes bytes"),
        (plan.swab, "conv=swab changes the byte order"),
        (plan.pattern.is_some(), "the input is generated"),
        (plan.addresses.is_some(), "the address in each block is checked"),
        (plan.second.is_some(), "of2= also receives every byte"),
        (plan.compare, "the output is compared and not written"),
        (plan.sparse, "conv=sparse checks each record for zeros"),
    ];
    let converting = table.into_iter().find(|(given, _)| *given).map(|(_, why)| why);
    converting.or_else(|| odd(plan.source.words)).or_else(|| odd(plan.dest.words))
}

/// In a file or disk only the last record is short, and those before an unreadable sector: both are copied by
/// records. The usual rescue with conv=noerror,sync is therefore as fast as any copy up to there.
fn fills_up(plan: &RecordPlan, source: &DdFacts) -> Option<&'static str> {
    let whole = matches!(source.kind, DdKind::File | DdKind::Block | DdKind::Commands | DdKind::Zeros);
    (plan.pad.is_some() && !plan.full_reads && !whole).then_some("conv=sync pads short records")
}

fn side_reason(facts: &DdFacts, is_source: bool) -> Option<&'static str> {
    match (facts.kind, is_source) {
        (_, _) if facts.odd_flags => Some("a standard stream was opened with flags that change the meaning of writes"),
        (DdKind::Pipe, true) => Some("a pipe may return short records"),
        (DdKind::Pipe, false) => Some("a pipe accepts short writes"),
        (DdKind::ScsiGeneric | DdKind::Other, true) => {
            Some("the input is not a file, disk or pipe: reads may have side effects")
        }
        (DdKind::ScsiGeneric | DdKind::Other, false) => {
            Some("the output is not a file, disk or pipe: writes may have side effects")
        }
        (DdKind::Null, true) => Some("nothing to read"),
        (DdKind::Zeros, false) => Some("the output discards everything"),
        _ => None,
    }
}

/// The number of bytes that can be copied as blocks. If they are not the whole source, they end with whole
/// records on both sides, so that the copy can continue by records.
fn length(plan: &RecordPlan, source: &DdFacts, dest: &DdFacts, skip: u64, seek: u64) -> Option<u64> {
    let at_source = source.size.filter(|_| source.kind != DdKind::Zeros).map(|size| size.saturating_sub(skip));
    let by_count = plan.count.map(|count| count.in_bytes(plan.source.record_bytes).unwrap_or(u64::MAX));
    let at_dest = dest
        .size
        .filter(|_| matches!(dest.kind, DdKind::Block | DdKind::Commands))
        .map(|size| size.saturating_sub(seek));
    let wanted = [at_source, by_count].into_iter().flatten().min();
    match (wanted, at_dest) {
        (Some(wanted), Some(room)) if wanted > room => Some(whole_records(plan, room)),
        // A short record at the end must be padded.
        (Some(wanted), _) if plan.pad.is_some() => Some(whole_records(plan, wanted)),
        (None, Some(room)) => Some(whole_records(plan, room)),
        (wanted, _) => wanted,
    }
}

/// The largest number of bytes up to `bytes` that is whole records on both sides.
pub fn whole_records(plan: &RecordPlan, bytes: u64) -> u64 {
    let (ibs, obs) = (plan.source.record_bytes, plan.dest.record_bytes);
    let (mut a, mut b) = (ibs, obs);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    match (ibs / a).checked_mul(obs) {
        Some(common) => bytes - bytes % common,
        None => 0,
    }
}

/// The options of `haul copy` that copy the same bytes. The addresses name files that are already open.
pub fn block_options(blocks: &Blocks, source: String, dest: String) -> Options {
    Options {
        source,
        dest,
        skip_bytes: Some(blocks.skip_bytes),
        seek_bytes: Some(blocks.seek_bytes),
        count_bytes: Some(blocks.len),
        block_bytes: blocks.block_bytes,
        depth: blocks.depth,
        passthrough: blocks.passes,
        direct: if blocks.direct { When::Always } else { When::Auto },
        sparse: When::Never,
        reflink: When::Never,
        no_flush: true,
        yes: true,
        ..Options::default()
    }
}

/// The plan of a safe copy, adapted to dd: nothing is locked, truncated, allocated or made durable, and data
/// that dd leaves in the page cache stays there. `None`, with a reason, if that is not possible.
pub fn as_dd_would(
    mut plan: Plan,
    records: &RecordPlan,
    blocks: &Blocks,
    facts: [&Facts; 2],
) -> Result<Plan, &'static str> {
    if plan.direction == Direction::Backward || may_share_bytes(blocks, facts) {
        return Err("both sides may overlap, and dd copies forward regardless");
    }
    let fits = |align: u32, record_bytes: u64, offset: u64| {
        record_bytes.is_multiple_of(align.into()) && offset.is_multiple_of(align.into())
    };
    let source_fits = fits(plan.source.access.offset_align_bytes, records.source.record_bytes, blocks.skip_bytes);
    let dest_fits = fits(plan.dest.access.offset_align_bytes, records.dest.record_bytes, blocks.seek_bytes);
    if blocks.direct && !(source_fits && dest_fits) {
        return Err("direct I/O is requested and a record is not aligned for it: dd ends with the error of the kernel");
    }
    (plan.set_end, plan.preallocate, plan.durable) = (false, false, false);
    if plan.write_order == WriteOrder::Any {
        // When a read fails, the dest after that offset is unchanged.
        plan.write_order = WriteOrder::Submitted;
    }
    for (side, facts) in [&mut plan.source, &mut plan.dest].into_iter().zip(facts) {
        let buffered = facts.kind == EndpointKind::File && !blocks.direct || side.access.cache != Cache::Direct;
        let cache = if buffered { Cache::Keep } else { Cache::Direct };
        let offset_align_bytes = if buffered { 1 } else { side.access.offset_align_bytes };
        side.access = Access { cache, offset_align_bytes, exclusive: false, existing: Existing::Keep };
        // These files are already open, and locked as far as dd locks them.
        side.lock = None;
    }
    Ok(plan)
}

/// Whether both sides may have bytes in common: they are the same file or device, or are on the same one, in
/// extents that overlap or are unknown. Two partitions of a disk have none, nor have two files, regardless of
/// the disk below them.
pub(super) fn may_share_bytes(blocks: &Blocks, [source, dest]: [&Facts; 2]) -> bool {
    if source.id.is_some() && source.id == dest.id {
        return blocks.skip_bytes.abs_diff(blocks.seek_bytes) < blocks.len;
    }
    let met = |(at, ground): (usize, &Ground)| {
        let Some((other_at, other)) = dest.ground.iter().enumerate().find(|(_, other)| other.id == ground.id) else {
            return false;
        };
        match (ground.offset, other.offset) {
            (Some(from), Some(to)) => {
                let (from, to) = (from.saturating_add(blocks.skip_bytes), to.saturating_add(blocks.seek_bytes));
                from.abs_diff(to) < blocks.len
            }
            _ => !(is_in_a_file(source, at) && is_in_a_file(dest, other_at)),
        }
    };
    source.ground.iter().enumerate().any(met)
}

/// Whether `facts` is within a file above its ground number `at`: no other file has its bytes.
fn is_in_a_file(facts: &Facts, at: usize) -> bool {
    let is_file = facts.kind == EndpointKind::File;
    is_file || facts.ground[..at].iter().any(|above| matches!(above.id, FileId::File(..)))
}
