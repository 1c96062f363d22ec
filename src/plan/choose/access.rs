//! Chooses how each side is opened: with direct or buffered I/O.
use crate::core::PlanNotes;
use crate::core::{Access, AddressMap, Cache, EndpointKind, Error, Existing, Facts, Kind, Result, Side};
use crate::plan::When;
use crate::plan::check::{ONE_NAME, Overlap, Range};
use crate::plan::numbers::{DIRECT_FILE_BYTES_MIN, PAGE_BYTES, TAIL_ALIGN_BYTES};
use crate::plan::plan_input::{PlanInput, in_memory, named};
use crate::plan::words::{self, offset_option};

/// How both sides are opened, and where their alignments split the range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AccessPair {
    /// By [`Side::index`]; `existing` is decided later.
    pub(crate) access: [Access; 2],
    pub(crate) head_bytes: u32,
    pub(crate) tail_align_bytes: u32,
}

impl AccessPair {
    /// The alignment of block sizes.
    pub(crate) fn align_bytes(&self) -> u32 {
        self.access[0].offset_align_bytes.max(self.access[1].offset_align_bytes)
    }
}

/// The same access, with `existing` for a dest that may exist.
pub(crate) fn with_existing(access: Access, existing: Existing) -> Access {
    Access { existing, ..access }
}

/// The preferred access of one side: its alignment for direct I/O, or none; and the reason, a clause.
struct SideAccess {
    align: Option<u32>,
    /// There is no alternative: commands transfer only whole blocks.
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
    let mut accesses = [side_access(asked, range, Side::Source)?, side_access(asked, range, Side::Dest)?];
    align_ranges(asked, range, &mut accesses)?;
    let head = align_offsets(asked, range, overlap, &mut accesses)?;
    let head = if accesses.iter().any(|access| access.align.is_some()) { head } else { 0 };
    let one_file = asked.source.id.is_some() && asked.source.id == asked.dest.id;
    if (one_file || overlap.is_some()) && accesses.iter().any(|access| access.align.is_none()) {
        if overlap.is_some_and(|overlap| !overlap.one_cache) {
            let what = format!(
                "{} and {} are the same data under two names, and without direct I/O on both sides two caches would \
                 conflict",
                named(Side::Source, asked.source),
                named(Side::Dest, asked.dest)
            );
            return Err(Error::new(Kind::Refused, what).on(Side::Dest).advise(ONE_NAME));
        }
        if accesses.iter().any(|access| access.firm) {
            let what = "source and destination are one disk, with passthrough on one side and the page cache on the \
                other";
            return Err(Error::new(Kind::Refused, what).on(Side::Dest).advise(ONE_NAME));
        }
        for access in accesses.iter_mut().filter(|access| access.align.is_some()) {
            *access = SideAccess::none("source and destination are one file, and the other side does not support it");
        }
    }
    let any = accesses.iter().any(|access| access.align.is_some());
    let [source, dest] = [Side::Source, Side::Dest].map(|side| {
        let (facts, access) = (asked.facts(side), &accesses[side.index()]);
        // One file is accessed in one mode from both sides, regardless of the facts of each.
        let way = if one_file { asked.dest } else { facts };
        let passes_by = access.align.is_some() && facts.kind != EndpointKind::Nbd;
        let cache = if passes_by { Cache::Direct } else { buffered(way) };
        let way = asked.through(side).map(|through| format!("{} commands", through.node.commands.name()));
        let way = way.or_else(|| remote(facts.kind).map(str::to_owned));
        notes.chose_of(side, side.name(), way.unwrap_or_else(|| cache.name().to_owned()), access.because.clone());
        Access {
            cache,
            offset_align_bytes: access.align.unwrap_or(1),
            exclusive: side == Side::Dest && facts.kind == EndpointKind::Block,
            existing: Existing::Keep,
        }
    });
    let head_bytes = if any { head } else { 0 };
    if head_bytes > 0 {
        let choice = format!("first block of {}", words::block(head_bytes.into()));
        notes.chose("alignment", choice, "aligns the following blocks");
    }
    let tail_align_bytes = accesses[Side::Dest.index()].align.map_or(1, |align| align.max(TAIL_ALIGN_BYTES));
    Ok(AccessPair { access: [source, dest], head_bytes, tail_align_bytes })
}

/// Why a resource without ranges is read as a stream.
const HTTP_STREAM: &str = "one connection, from the first byte on: the server sends no ranges";

/// The protocol of a side on a server.
fn remote(kind: EndpointKind) -> Option<&'static str> {
    match kind {
        EndpointKind::Nbd => Some("NBD"),
        EndpointKind::Http | EndpointKind::HttpStream => Some("HTTP"),
        EndpointKind::Object => Some("object store"),
        _ => None,
    }
}

/// The best access for `side` alone.
fn side_access(asked: &PlanInput, range: &Range, side: Side) -> Result<SideAccess> {
    let facts = asked.facts(side);
    let no = |because: &str| Ok(SideAccess::none(because));
    let always = asked.options.direct == When::Always;
    let len = range.len;
    if let Some(through) = asked.through(side) {
        let asked_for = if through.node.named { "named by the user" } else { "--passthrough" };
        let because = format!("via {}: {asked_for}", through.node.node.display());
        return Ok(SideAccess { align: Some(facts.logical_block_bytes.max(1)), firm: true, because });
    }
    if facts.kind == EndpointKind::Nbd {
        // Buffered I/O would have to read partial blocks before writing them.
        let align = Some(facts.logical_block_bytes).filter(|&bytes| bytes > 1);
        return Ok(SideAccess { align, firm: false, because: "requests go to the server".to_owned() });
    }
    if facts.kind == EndpointKind::Compressed {
        return no("its decoder reads the file in order");
    }
    if facts.kind == EndpointKind::CompressedDest {
        return no("frames of any length are written to the file");
    }
    if matches!(facts.kind, EndpointKind::Http | EndpointKind::HttpStream) {
        return no(if facts.kind == EndpointKind::Http { "ranges of it, by several connections" } else { HTTP_STREAM });
    }
    if facts.kind == EndpointKind::Object {
        return no(if side == Side::Source {
            "ranges of it, by several connections"
        } else {
            "parts of it, joined at the end"
        });
    }
    if !matches!(facts.kind, EndpointKind::File | EndpointKind::Block) {
        return no("no page cache on this side");
    }
    if asked.options.direct == When::Never {
        return no("--direct never");
    }
    if in_memory(facts) {
        // Not refused with --direct always: there is no cache to bypass, because the pages are the file.
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

/// Alignment of offsets for direct I/O; `None` if it is not available.
pub(crate) fn alignment(facts: &Facts) -> Option<u32> {
    let direct = facts.direct?;
    let align = direct.offset_bytes.max(facts.logical_block_bytes);
    // No device has an alignment above a megabyte, and blocks could not be aligned to it.
    (align.is_power_of_two() && align <= 1 << 20).then_some(align)
}

/// Drops direct I/O if the offsets are unaligned, and returns the length of the first block, 0 for the block
/// size.
fn align_offsets(
    asked: &PlanInput,
    range: &Range,
    overlap: Option<Overlap>,
    accesses: &mut [SideAccess; 2],
) -> Result<u32> {
    let fits = |[source, dest]: [Option<u32>; 2]| {
        let head = head(range, source, dest)?;
        // A backward copy has no first block, and a head that is the whole copy would leave nothing for direct
        // I/O.
        let usable = head == 0 || overlap.is_none() && range.len.is_none_or(|len| u64::from(head) < len);
        usable.then_some(head)
    };
    if let Some(head) = fits(accesses.each_ref().map(|access| access.align)) {
        return Ok(head);
    }
    if asked.options.direct == When::Always {
        return Err(unaligned(asked, range, accesses));
    }
    // The dest keeps direct I/O if only one side can have it: buffered writes cost more than buffered reads.
    let attempts: [&[Side]; 3] = [&[Side::Source], &[Side::Dest], &Side::BOTH];
    for losers in attempts {
        if losers.iter().any(|side| accesses[side.index()].firm) {
            continue;
        }
        let aligns = Side::BOTH.map(|side| accesses[side.index()].align.filter(|_| !losers.contains(&side)));
        let Some(head) = fits(aligns) else { continue };
        for side in losers {
            if accesses[side.index()].align.is_none() {
                continue;
            }
            let because = match range.offset(*side) {
                0 => "the other side does not start at a multiple of its alignment".to_owned(),
                _ if range.is_listed() => "its first range does not match the alignment of both sides".to_owned(),
                offset => format!("{} {offset} does not match the alignment of both sides", offset_option(*side)),
            };
            accesses[side.index()] = SideAccess::none(&because);
        }
        return Ok(head);
    }
    // Buffered I/O supports any offset, so direct I/O was requested explicitly.
    Err(unaligned(asked, range, accesses))
}

/// Drops direct I/O if the borders between ranges do not allow it: direct and buffered I/O must not share a
/// page, so either all borders are aligned, or all borders within the copy lie between pages.
fn align_ranges(asked: &PlanInput, range: &Range, accesses: &mut [SideAccess; 2]) -> Result<()> {
    let Some(align) = accesses.iter().filter_map(|access| access.align).max().filter(|_| range.is_listed()) else {
        return Ok(());
    };
    let len = range.len.unwrap_or(0);
    let whole =
        |bytes: u32, within: bool| {
            let is_whole = |at: u64| at.is_multiple_of(bytes.into());
            range.pieces().all(|piece| {
                let (first, last) = (piece.copy.offset == 0, piece.copy.end() == len);
                accesses.iter().zip(piece.at).filter(|(access, _)| access.align.is_some()).all(|(_, at)| {
                    (within && first || is_whole(at)) && (within && last || is_whole(at + piece.copy.len))
                })
            })
        };
    let firm = accesses.iter().any(|access| access.firm);
    if whole(align, false) || !firm && whole(align.max(PAGE_BYTES), true) {
        return Ok(());
    }
    if firm || asked.options.direct == When::Always {
        let (asking, remedy) = match firm {
            true => ("passthrough", "name the block device without --passthrough"),
            false => ("--direct always", "omit --direct"),
        };
        let align = words::block(align.into());
        let list = range.maps.iter().find_map(AddressMap::name).unwrap_or_default();
        let what = format!("{asking}: the {list} do not all start and end at multiples of {align}");
        return Err(Error::new(Kind::Usage, what).advise(format!("Correct the list, or {remedy}.")));
    }
    for access in accesses.iter_mut().filter(|access| access.align.is_some()) {
        *access = SideAccess::none("the ranges are not aligned for direct I/O");
    }
    Ok(())
}

/// Length of a first block after which both sides are aligned; `None` if there is none.
fn head(range: &Range, source: Option<u32>, dest: Option<u32>) -> Option<u32> {
    let rest = |offset: u64, align: Option<u32>| offset % u64::from(align.unwrap_or(1));
    if rest(range.skip, source) == 0 && rest(range.seek, dest) == 0 {
        return Some(0);
    }
    // A head that begins within a sector of the dest is written through the page cache, and must end with a
    // page: if the rest of that page were written with direct I/O, writing the page back later would overwrite
    // it.
    let page = dest.map(|align| if rest(range.seek, dest) == 0 { align } else { align.max(PAGE_BYTES) });
    let missing = |offset: u64, align: Option<u32>| {
        let align = u64::from(align.unwrap_or(1));
        (align - offset % align) % align
    };
    // Alignments are powers of two: an offset that aligns the coarser side aligns the finer one, or none does.
    let candidates = [missing(range.skip, source), missing(range.seek, page)];
    let aligned = |head: &u64| rest(range.skip + head, source) == 0 && rest(range.seek + head, page) == 0;
    candidates.into_iter().find(aligned).and_then(|head| u32::try_from(head).ok())
}

fn unaligned(asked: &PlanInput, range: &Range, accesses: &[SideAccess; 2]) -> Error {
    let align = accesses.iter().filter_map(|access| access.align).max().unwrap_or(1);
    let side = if range.seek.is_multiple_of(align.into()) { Side::Source } else { Side::Dest };
    let offset = range.offset(side);
    let below = offset - offset % u64::from(align);
    let firm = accesses.iter().any(|access| access.firm);
    let (asking, remedy) = match firm {
        true => ("passthrough", "name the block device without --passthrough"),
        false => ("--direct always", "omit --direct"),
    };
    let given = match asked.options.ranges[side.index()] {
        Some(_) => format!("the first range of {} at byte", asked.options.ranges_option(side)),
        None => offset_option(side).to_owned(),
    };
    let what = format!(
        "{asking}: {given} {offset} is not aligned for {}, which requires multiples of {}",
        named(side, asked.facts(side)),
        words::block(align.into())
    );
    let near = below.saturating_add(align.into());
    Error::new(Kind::Usage, what).on(side).advise(format!("Give {below} or {near}, or {remedy}."))
}

/// The cache mode of a side without direct I/O.
pub(crate) fn buffered(facts: &Facts) -> Cache {
    match facts.kind {
        EndpointKind::File | EndpointKind::Block if in_memory(facts) => Cache::Keep,
        EndpointKind::File | EndpointKind::Block if facts.dontcache => Cache::DroppedByKernel,
        EndpointKind::File | EndpointKind::Block => Cache::Drop,
        EndpointKind::Compressed | EndpointKind::CompressedDest => {
            facts.compressed.as_ref().map_or(Cache::Keep, |content| buffered(&content.stored))
        }
        EndpointKind::Nbd
        | EndpointKind::Http
        | EndpointKind::HttpStream
        | EndpointKind::Object
        | EndpointKind::Pipe
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

/// Whether most of a source is in the page cache, `len` bytes of it or all.
pub(crate) fn mostly_cached(facts: &Facts, len: Option<u64>) -> bool {
    let whole = len.or(facts.size).unwrap_or(u64::MAX);
    facts.cached_bytes.is_some_and(|cached| cached.saturating_mul(2) >= whole)
}
