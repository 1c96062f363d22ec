//! Which way an invocation of dd goes: plain block movement, which the pump does, or records.
use crate::apps::fronts::record_plan::{OpenWords, RecordPlan};
use crate::core::{Access, Cache, Direction, EndpointKind, Existing, Facts, FileId, Ground, Plan, WriteOrder};
use crate::plan::{Options, PassthroughMode, When};

/// Shorter copies are over before queues are open.
const WORTH_BYTES: u64 = 8 << 20;

/// Records up to this stay in a processor's cache between reading and writing; the pump cuts greater ones up.
const WARM_BYTES: u64 = 1 << 20;

/// The kinds of things that dd's way depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DdKind {
    /// A regular file.
    File,
    /// A block device.
    Block,
    /// /dev/zero: unlimited.
    Zeros,
    /// /dev/null.
    Null,
    /// A pipe or FIFO.
    Pipe,
    /// A SCSI generic node, which dd reads and writes as it is.
    ScsiGeneric,
    /// A disk that is reached by its own commands.
    Commands,
    /// Anything else.
    Other,
}

impl DdKind {
    /// The words for messages.
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

/// What is known about one side, open and at its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DdFacts {
    /// What it is.
    pub kind: DdKind,
    /// Bytes in it; of a file or device.
    pub size: Option<u64>,
    /// Where the first byte is.
    pub offset: Option<u64>,
    /// The open file has flags that change what writes or reads mean: O_APPEND, O_SYNC, O_DSYNC, O_NONBLOCK.
    pub odd_flags: bool,
    /// The open file has O_DIRECT.
    pub direct: bool,
    /// Bytes of a logical block, of a block device.
    pub logical_block_bytes: Option<u32>,
    /// Its bytes are in memory already, or are to go into the page cache: nothing waits for a medium.
    pub in_memory: bool,
}

/// Plain block movement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// First byte of the source.
    pub skip_bytes: u64,
    /// First byte of the dest.
    pub seek_bytes: u64,
    /// Bytes to move.
    pub len: u64,
    /// The caller asked for direct I/O on both sides.
    pub direct: bool,
    /// Sides that are to be reached by commands of their own, beside those whose node is named.
    pub passes: PassthroughMode,
    /// Bytes per request, where the caller asked for that.
    pub block_bytes: Option<u32>,
    /// Requests in flight, where the caller asked for that.
    pub depth: Option<u32>,
}

/// Which way it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyMethod {
    /// As blocks of haul's own size; what is left behind them goes as records.
    Blocks(Blocks),
    /// As records, for this reason.
    Records(String),
}

/// Which way `plan` goes, with both sides open and at their first bytes.
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
    // Commands go past the page cache in any case.
    let direct = source.direct || by_commands && dest.direct;
    let passes = PassthroughMode::AsNamed;
    CopyMethod::Blocks(Blocks { skip_bytes, seek_bytes, len, direct, passes, block_bytes: None, depth: None })
}

/// What of the plan itself is about records.
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

/// Of a file or disk nothing but the last record is short, and those before a place that cannot be read: both are left
/// to records. So the usual rescue by conv=noerror,sync goes as fast as any copy, up to there.
fn fills_up(plan: &RecordPlan, source: &DdFacts) -> Option<&'static str> {
    let whole = matches!(source.kind, DdKind::File | DdKind::Block | DdKind::Commands | DdKind::Zeros);
    (plan.pad.is_some() && !plan.full_reads && !whole).then_some("conv=sync pads short records")
}

fn side_reason(facts: &DdFacts, is_source: bool) -> Option<&'static str> {
    match (facts.kind, is_source) {
        (_, _) if facts.odd_flags => Some("a standard stream was opened with flags that change what a write means"),
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

/// Bytes that can be moved as blocks. Where not all of the source is among them, they end with whole records on both
/// sides, so that the rest can go on as records.
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
        // What is short at the end is to be filled up.
        (Some(wanted), _) if plan.pad.is_some() => Some(whole_records(plan, wanted)),
        (None, Some(room)) => Some(whole_records(plan, room)),
        (wanted, _) => wanted,
    }
}

/// The greatest number of bytes up to `bytes` that is whole records on both sides.
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

/// What `haul copy` would have to be asked for to move the same bytes. The addresses name what is open already.
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

/// The plan of a safe copy, made one of dd's: nothing is claimed, emptied, allocated or made durable, and what dd
/// leaves in the page cache is left there. `None`, with a reason, where that cannot be.
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
        // When a read fails, what lies behind it on the dest is as it was.
        plan.write_order = WriteOrder::Submitted;
    }
    for (side, facts) in [&mut plan.source, &mut plan.dest].into_iter().zip(facts) {
        let buffered = facts.kind == EndpointKind::File && !blocks.direct || side.access.cache != Cache::Direct;
        let cache = if buffered { Cache::Keep } else { Cache::Direct };
        let offset_align_bytes = if buffered { 1 } else { side.access.offset_align_bytes };
        side.access = Access { cache, offset_align_bytes, exclusive: false, existing: Existing::Keep };
        // What is opened here is open already, and locked as far as dd locks it.
        side.lock = None;
    }
    Ok(plan)
}

/// Both sides may have bytes in common: they are the same thing, or lie on one, in places that meet, or in unknown
/// places. Two partitions of a disk have none, nor have two files, whatever disk lies beneath them.
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

/// Above its ground number `at`, `facts` lies in a file: no other file has its bytes.
fn is_in_a_file(facts: &Facts, at: usize) -> bool {
    let is_file = facts.kind == EndpointKind::File;
    is_file || facts.ground[..at].iter().any(|above| matches!(above.id, FileId::File(..)))
}
