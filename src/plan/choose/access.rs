//! How each side is opened: direct or through the page cache.
use crate::core::PlanNotes;
use crate::core::{Access, Cache, EndpointKind, Error, Existing, Facts, Kind, Result, Side};
use crate::plan::When;
use crate::plan::check::{ONE_NAME, Overlap, Range};
use crate::plan::numbers::{DIRECT_FILE_BYTES_MIN, PAGE_BYTES, TAIL_ALIGN_BYTES};
use crate::plan::plan_input::{PlanInput, in_memory, named};
use crate::plan::words::{self, offset_option};

/// How both sides are opened, and where their alignments cut the range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AccessPair {
    /// By [`Side::index`]; `existing` is not settled yet.
    pub(crate) access: [Access; 2],
    pub(crate) head_bytes: u32,
    pub(crate) tail_align_bytes: u32,
}

impl AccessPair {
    /// What block sizes have to be multiples of.
    pub(crate) fn align_bytes(&self) -> u32 {
        self.access[0].offset_align_bytes.max(self.access[1].offset_align_bytes)
    }
}

/// The same access with what to do about a dest that is there, or is not.
pub(crate) fn with_existing(access: Access, existing: Existing) -> Access {
    Access { existing, ..access }
}

/// What one side would like: its alignment for direct I/O, or why not; and a clause.
struct SideAccess {
    align: Option<u32>,
    /// It goes so or not at all: commands know whole blocks only.
    firm: bool,
    because: String,
}

impl SideAccess {
    fn none(because: &str) -> Self {
        SideAccess { align: None, firm: false, because: because.to_owned() }
    }
}

/// Chooses direct or buffered I/O for each side.
pub(crate) fn access(
    asked: &PlanInput,
    range: &Range,
    overlap: Option<Overlap>,
    notes: &mut PlanNotes,
) -> Result<AccessPair> {
    let mut wishes = [wish(asked, range, Side::Source)?, wish(asked, range, Side::Dest)?];
    let head = settle(asked, range, overlap, &mut wishes)?;
    settle_ranges(asked, &mut wishes)?;
    let head = if wishes.iter().any(|wish| wish.align.is_some()) { head } else { 0 };
    let one_file = asked.source.id.is_some() && asked.source.id == asked.dest.id;
    if (one_file || overlap.is_some()) && wishes.iter().any(|wish| wish.align.is_none()) {
        if overlap.is_some_and(|overlap| !overlap.one_cache) {
            let what = format!(
                "{} and {} are the same data under two names, and without direct I/O on both sides two caches would \
                 conflict",
                named(Side::Source, asked.source),
                named(Side::Dest, asked.dest)
            );
            return Err(Error::new(Kind::Refused, what).on(Side::Dest).advise(ONE_NAME));
        }
        if wishes.iter().any(|wish| wish.firm) {
            let what = "source and destination are one disk, with passthrough on one side and the page cache on the \
                other";
            return Err(Error::new(Kind::Refused, what).on(Side::Dest).advise(ONE_NAME));
        }
        for wish in wishes.iter_mut().filter(|wish| wish.align.is_some()) {
            *wish = SideAccess::none("source and destination are one file, and the other side does not support it");
        }
    }
    let any = wishes.iter().any(|wish| wish.align.is_some());
    let [source, dest] = [Side::Source, Side::Dest].map(|side| {
        let (facts, wish) = (asked.facts(side), &wishes[side.index()]);
        // One file is reached one way from both sides, whatever was found out about each.
        let way = if one_file { asked.dest } else { facts };
        let cache = wish.align.map_or_else(|| buffered(way), |_| Cache::Direct);
        let way = asked.through(side).map(|through| format!("{} commands", through.node.commands.name()));
        notes.chose_of(side, side.name(), way.unwrap_or_else(|| cache.name().to_owned()), wish.because.clone());
        Access {
            cache,
            offset_align_bytes: wish.align.unwrap_or(1),
            exclusive: side == Side::Dest && facts.kind == EndpointKind::Block,
            existing: Existing::Keep,
        }
    });
    let head_bytes = if any { head } else { 0 };
    if head_bytes > 0 {
        let choice = format!("first block of {}", words::block(head_bytes.into()));
        notes.chose("alignment", choice, "aligns the following blocks");
    }
    let tail_align_bytes = wishes[Side::Dest.index()].align.map_or(1, |align| align.max(TAIL_ALIGN_BYTES));
    Ok(AccessPair { access: [source, dest], head_bytes, tail_align_bytes })
}

/// What `side` would like by itself.
fn wish(asked: &PlanInput, range: &Range, side: Side) -> Result<SideAccess> {
    let facts = asked.facts(side);
    let no = |because: &str| Ok(SideAccess::none(because));
    let always = asked.options.direct == When::Always;
    let len = range.len;
    if let Some(through) = asked.through(side) {
        let asked_for = if through.node.named { "named by the user" } else { "--passthrough" };
        let because = format!("via {}: {asked_for}", through.node.node.display());
        return Ok(SideAccess { align: Some(facts.logical_block_bytes.max(1)), firm: true, because });
    }
    if !matches!(facts.kind, EndpointKind::File | EndpointKind::Block) {
        return no("no page cache on this side");
    }
    if asked.options.direct == When::Never {
        return no("--direct never");
    }
    if in_memory(facts) {
        // Not refused with --direct always: there is no cache to pass by, the pages are the file.
        return no("its file system is in memory");
    }
    let Some(align) = alignment(facts) else {
        if always {
            let what = format!("--direct always: {} does not support direct I/O", named(side, facts));
            let advice = "Omit --direct: haul evicts what it copies through the page cache.";
            return Err(Error::new(Kind::Unsupported, what).on(side).advise(advice));
        }
        return no("direct I/O is not supported here");
    };
    let yes = |because: &str| Ok(SideAccess { align: Some(align), firm: false, because: because.to_owned() });
    if always {
        return yes("--direct always");
    }
    if facts.kind == EndpointKind::Block {
        return yes("block device");
    }
    if asked.dest.kind == EndpointKind::Pattern {
        return yes("checks the disk, not the page cache");
    }
    if len.is_some_and(|len| len < DIRECT_FILE_BYTES_MIN) {
        return no("too short to benefit from direct I/O");
    }
    if side == Side::Source && mostly_cached(facts, len) {
        return no("most of it is already in the page cache");
    }
    yes("the file system supports direct I/O, which is faster")
}

/// Alignment of offsets for direct I/O; `None` where it is not available.
fn alignment(facts: &Facts) -> Option<u32> {
    let direct = facts.direct?;
    let align = direct.offset_bytes.max(facts.logical_block_bytes);
    // An alignment above a megabyte is none that a device has; blocks could not be cut to it.
    (align.is_power_of_two() && align <= 1 << 20).then_some(align)
}

/// Takes wishes away that the offsets do not allow, and returns the length of the first block, 0 for like any other.
fn settle(asked: &PlanInput, range: &Range, overlap: Option<Overlap>, wishes: &mut [SideAccess; 2]) -> Result<u32> {
    let fits = |[source, dest]: [Option<u32>; 2]| {
        let head = head(range, source, dest)?;
        // From the last byte to the first there is no first block, and a head that is all would leave nothing direct.
        let usable = head == 0 || overlap.is_none() && range.len.is_none_or(|len| u64::from(head) < len);
        usable.then_some(head)
    };
    if let Some(head) = fits(wishes.each_ref().map(|wish| wish.align)) {
        return Ok(head);
    }
    if asked.options.direct == When::Always {
        return Err(unaligned(asked, range, wishes));
    }
    // The dest keeps its wish if one can: what is written through the cache costs more than what is read through it.
    let attempts: [&[Side]; 3] = [&[Side::Source], &[Side::Dest], &Side::BOTH];
    for losers in attempts {
        if losers.iter().any(|side| wishes[side.index()].firm) {
            continue;
        }
        let aligns = Side::BOTH.map(|side| wishes[side.index()].align.filter(|_| !losers.contains(&side)));
        let Some(head) = fits(aligns) else { continue };
        for side in losers {
            if wishes[side.index()].align.is_none() {
                continue;
            }
            let because = match range.offset(*side) {
                0 => "the other side does not start at a multiple of its alignment".to_owned(),
                offset => format!("{} {offset} does not match the alignment of both sides", offset_option(*side)),
            };
            wishes[side.index()] = SideAccess::none(&because);
        }
        return Ok(head);
    }
    // With no wish left any offset fits, so a firm one is in the way.
    Err(unaligned(asked, range, wishes))
}

/// Takes wishes away that the borders between ranges do not allow: what goes past the page cache shares no page with
/// what goes through it, so either all borders are aligned, or all within the copy lie between pages.
fn settle_ranges(asked: &PlanInput, wishes: &mut [SideAccess; 2]) -> Result<()> {
    let Some(ranges) = &asked.options.ranges else { return Ok(()) };
    let Some(align) = wishes.iter().filter_map(|wish| wish.align).max() else { return Ok(()) };
    let borders: Vec<u64> = ranges.extents().iter().flat_map(|range| [range.offset, range.end()]).collect();
    let within = &borders[1..borders.len() - 1];
    let whole = |bytes: u32, borders: &[u64]| borders.iter().all(|border| border.is_multiple_of(bytes.into()));
    let firm = wishes.iter().any(|wish| wish.firm);
    if whole(align, &borders) || !firm && whole(align.max(PAGE_BYTES), within) {
        return Ok(());
    }
    if firm || asked.options.direct == When::Always {
        let (asking, remedy) = match firm {
            true => ("passthrough", "name the block device without --passthrough"),
            false => ("--direct always", "omit --direct"),
        };
        let align = words::block(align.into());
        let what = format!("{asking}: the {} do not all start and end at multiples of {align}", ranges.name());
        return Err(Error::new(Kind::Usage, what).advise(format!("Correct the list, or {remedy}.")));
    }
    for wish in wishes.iter_mut().filter(|wish| wish.align.is_some()) {
        *wish = SideAccess::none("the ranges are not aligned for direct I/O");
    }
    Ok(())
}

/// Length of a first block behind which both sides are aligned; `None` if there is none.
fn head(range: &Range, source: Option<u32>, dest: Option<u32>) -> Option<u32> {
    let rest = |offset: u64, align: Option<u32>| offset % u64::from(align.unwrap_or(1));
    if rest(range.skip, source) == 0 && rest(range.seek, dest) == 0 {
        return Some(0);
    }
    // A head that begins within a sector of the dest goes through the page cache. It has to end with a page there: were
    // the rest of a page written past the cache, writing the page back later would undo that.
    let page = dest.map(|align| if rest(range.seek, dest) == 0 { align } else { align.max(PAGE_BYTES) });
    let missing = |offset: u64, align: Option<u32>| {
        let align = u64::from(align.unwrap_or(1));
        (align - offset % align) % align
    };
    // Alignments are powers of two: what aligns the coarser side fits the finer one, or nothing does.
    let candidates = [missing(range.skip, source), missing(range.seek, page)];
    let aligned = |head: &u64| rest(range.skip + head, source) == 0 && rest(range.seek + head, page) == 0;
    candidates.into_iter().find(aligned).and_then(|head| u32::try_from(head).ok())
}

fn unaligned(asked: &PlanInput, range: &Range, wishes: &[SideAccess; 2]) -> Error {
    let align = wishes.iter().filter_map(|wish| wish.align).max().unwrap_or(1);
    let side = if range.seek.is_multiple_of(align.into()) { Side::Source } else { Side::Dest };
    let offset = range.offset(side);
    let below = offset - offset % u64::from(align);
    let firm = wishes.iter().any(|wish| wish.firm);
    let (asking, remedy) = match firm {
        true => ("passthrough", "name the block device without --passthrough"),
        false => ("--direct always", "omit --direct"),
    };
    let what = format!(
        "{asking}: {} {offset} is not aligned for {}, which requires multiples of {}",
        offset_option(side),
        named(side, asked.facts(side)),
        words::block(align.into())
    );
    let near = below.saturating_add(align.into());
    Error::new(Kind::Usage, what).on(side).advise(format!("Give {below} or {near}, or {remedy}."))
}

/// The cache mode of a side that does not go direct.
fn buffered(facts: &Facts) -> Cache {
    match facts.kind {
        EndpointKind::File | EndpointKind::Block if in_memory(facts) => Cache::Keep,
        EndpointKind::File | EndpointKind::Block if facts.dontcache => Cache::DroppedByKernel,
        EndpointKind::File | EndpointKind::Block => Cache::Drop,
        EndpointKind::Pipe
        | EndpointKind::Socket
        | EndpointKind::Terminal
        | EndpointKind::Character
        | EndpointKind::FileStream
        | EndpointKind::Endless
        | EndpointKind::Null
        | EndpointKind::Pattern
        | EndpointKind::Memory
        | EndpointKind::Manifest => Cache::Keep,
    }
}

/// Most of a source is in the page cache, `len` bytes of it or all.
pub(crate) fn mostly_cached(facts: &Facts, len: Option<u64>) -> bool {
    let whole = len.or(facts.size).unwrap_or(u64::MAX);
    facts.cached_bytes.is_some_and(|cached| cached.saturating_mul(2) >= whole)
}
