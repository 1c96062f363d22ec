//! Block size and depth.
use super::{Engines, Reach, one_head};
use crate::core::PlanNotes;
use crate::core::{EndpointKind, EngineKind, Error, Facts, Kind, Result, SavedPace, Side, Tuning};
use crate::plan::asked::PlanInput;
use crate::plan::check::Range;
use crate::plan::numbers::*;
use crate::plan::words;

/// Block size and depth, and the size of bursts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    pub(crate) tuning: Tuning,
    pub(crate) burst_bytes: Option<u32>,
}

/// Where a copy begins: block size, depth and why.
struct Start {
    block: u32,
    depth: u32,
    /// Smaller blocks may be more of them.
    many: bool,
    /// It was measured.
    tuned: bool,
    because: String,
}

/// Chooses block size and depth to begin with, and the bounds of the search for better ones.
pub(crate) fn pace(
    asked: &PlanInput,
    range: &Range,
    engines: &Engines,
    reach: &Reach,
    notes: &mut PlanNotes,
) -> Result<Pace> {
    let options = asked.options;
    let align = reach.align_bytes();
    // Block sizes that we choose are whole pages too. Both are powers of two, so the larger is a multiple of the other.
    let unit = align.max(PAGE_BYTES);
    let engine = engines.moving();
    let head = if engine == EngineKind::Sync { None } else { one_head(asked) };
    let start = start(asked, engine, head);

    let (block, block_because) = match options.block_bytes {
        Some(block) => (asked_block(block, align)?, "--block-size".to_owned()),
        None => own_block(asked, &start, unit),
    };
    let (depth, depth_because) = match options.depth {
        Some(depth) => (depth, "--depth".to_owned()),
        None => own_depth(asked, range, &start, block),
    };
    notes.chose("block size", words::size(block.into()), block_because);
    notes.chose("depth", depth.to_string(), depth_because);

    let long = range.len.is_none_or(|len| len >= ADAPTIVE_BYTES_MIN);
    let open = options.block_bytes.is_none() && options.depth.is_none() && options.limit_bytes_per_s.is_none();
    let adaptive = open && long && engine != EngineKind::Sync && head.is_none();
    if adaptive {
        let because = "neither --block-size nor --depth nor --limit was given";
        match start.tuned {
            true => notes.chose(
                "search",
                "if it takes long",
                format!("{because}, and what haul tune saved is near the best"),
            ),
            false => notes.chose("search", "on the way", because),
        }
    }
    let bytes = memory(block, depth);
    if bytes > IN_FLIGHT_BYTES_PROMISED {
        notes.warn(format!("blocks in flight take {}: more than 64 MiB of memory in all", words::size(bytes)));
    }
    if depth == 1 && engine != EngineKind::Sync && range.len.is_none_or(|len| len > u64::from(block)) {
        notes.warn("only one block is in flight: reads and writes do not overlap");
    }
    let tuning = Tuning { tuned: start.tuned, ..tuning(asked, block, depth, adaptive, unit) };
    let burst = u64::from(block) * u64::from(depth);
    let burst_bytes = head.filter(|_| depth > 1).and_then(|_| u32::try_from(burst).ok());
    if let (Some(name), Some(bytes)) = (head, burst_bytes) {
        let choice = format!("{} read, then written, in turn", words::size(bytes.into()));
        notes.chose("bursts", choice, format!("both sides lie on {name}, which moves one head"));
    }
    Ok(Pace { tuning, burst_bytes })
}

/// Memory that `depth` blocks take: each begins on a page.
fn memory(block: u32, depth: u32) -> u64 {
    u64::from(block).next_multiple_of(PAGE_BYTES.into()) * u64::from(depth)
}

fn tuning(asked: &PlanInput, block: u32, depth: u32, adaptive: bool, unit: u32) -> Tuning {
    if !adaptive {
        // Fixed: memory for more than this is never touched.
        let in_flight_bytes_max = u32::try_from(memory(block, depth)).unwrap_or(u32::MAX);
        return Tuning {
            block_bytes: block,
            depth,
            adaptive,
            tuned: false,
            block_bytes_min: block,
            block_bytes_max: block,
            depth_max: depth,
            in_flight_bytes_max,
        };
    }
    Tuning {
        block_bytes: block,
        depth,
        adaptive,
        tuned: false,
        block_bytes_min: BLOCK_BYTES_MIN.max(unit).min(block),
        block_bytes_max: command_bytes_max(asked).map_or(BLOCK_BYTES_MAX, |most| most - most % unit).max(block),
        depth_max: DEPTH_MAX.min(requests_max(asked)).max(depth),
        in_flight_bytes_max: IN_FLIGHT_BYTES,
    }
}

/// Where a copy between these two begins.
fn start(asked: &PlanInput, engine: EngineKind, head: Option<&str>) -> Start {
    let start =
        |block, depth, because: &str| Start { block, depth, many: false, tuned: false, because: because.to_owned() };
    if engine == EngineKind::Sync && asked.options.engine.is_none() {
        start(WARM_BLOCK_BYTES, 1, "it stays in the processor's cache between both sides")
    } else if engine == EngineKind::Sync {
        start(SYNC_BLOCK_BYTES, 1, "the plain loop")
    } else if let Some(name) = head {
        let because = format!("both sides lie on {name}, which moves one head");
        Start { block: BURST_BLOCK_BYTES, depth: BURST_DEPTH, many: false, tuned: false, because }
    } else {
        let usual = usual_start(asked);
        saved_start(asked, &usual).unwrap_or(usual)
    }
}

/// Where a copy begins whose disks nobody has tuned.
fn usual_start(asked: &PlanInput) -> Start {
    let start =
        |block, depth, because: &str| Start { block, depth, many: false, tuned: false, because: because.to_owned() };
    let many = |block, depth, because: &str| Start { many: true, ..start(block, depth, because) };
    let is = |kind: EndpointKind| asked.source.kind == kind || asked.dest.kind == kind;
    if asked.rotational(Side::Source) || asked.rotational(Side::Dest) {
        start(ROTATIONAL_BLOCK_BYTES, ROTATIONAL_DEPTH, "a head moves: few large requests, half of them a side")
    } else if is(EndpointKind::Pipe) {
        start(PIPE_BLOCK_BYTES, PIPE_DEPTH, "a pipe holds 1 MiB")
    } else if is(EndpointKind::File) {
        many(FILE_BLOCK_BYTES, FILE_DEPTH, "start for files")
    } else if asked.options.digests() {
        let because = "start for devices without a moving head; digests take blocks in order, so some wait";
        many(SOLID_BLOCK_BYTES, SOLID_DIGEST_DEPTH, because)
    } else {
        many(SOLID_BLOCK_BYTES, SOLID_DEPTH, "start for devices without a moving head")
    }
}

/// What `haul tune --save` found for the sides, where it was asked; for a side of which nothing is known, half of the
/// `usual` start. Of two block sizes the larger: a side that is fast enough with its own is no slower with larger ones,
/// if as many bytes are in flight.
fn saved_start(asked: &PlanInput, usual: &Start) -> Option<Start> {
    let sides = [
        (asked.source.saved.as_ref(), "reading", &asked.source.address),
        (asked.dest.saved_write.as_ref(), "writing", &asked.dest.address),
    ];
    let told = |(saved, doing, address): (Option<&SavedPace>, &str, &String)| {
        let SavedPace { block_bytes, depth, date, .. } = saved?;
        let pace = format!("{} × {depth}", words::size((*block_bytes).into()));
        Some(format!("saved by haul tune on {date}: {pace} for {doing} {address}"))
    };
    let because: Vec<String> = sides.into_iter().filter_map(told).collect();
    if because.is_empty() {
        return None;
    }
    let usual_pace = (usual.block, usual.depth.div_ceil(2));
    let paces = sides.map(|(saved, ..)| saved.map_or(usual_pace, |saved| (saved.block_bytes, saved.depth)));
    let block = paces[0].0.max(paces[1].0).clamp(BLOCK_BYTES_MIN, BLOCK_BYTES_MAX);
    let depth_of = |(block_bytes, depth): (u32, u32)| {
        let bytes = u64::from(block_bytes) * u64::from(depth);
        // Of two requests one waits while the other is worked on, which one long request cannot do.
        let fewest = depth.min(2);
        u32::try_from(bytes.div_ceil(block.into())).unwrap_or(u32::MAX).clamp(fewest, depth.max(fewest))
    };
    // The depth of a copy counts the blocks of both sides.
    let depth = paces.into_iter().map(depth_of).fold(0, u32::saturating_add);
    let depth = depth.clamp(2, DEPTH_MAX);
    Some(Start { block, depth, many: false, tuned: true, because: because.join("; ") })
}

/// The block size asked for, if direct I/O can have it.
fn asked_block(block: u32, align: u32) -> Result<u32> {
    if block.is_multiple_of(align) {
        return Ok(block);
    }
    let what = format!("--block-size {block}: direct I/O needs a multiple of {} here", words::size(align.into()));
    let (below, above) = (block - block % align, block - block % align + align);
    let near = if below == 0 || above > BLOCK_BYTES_ASKABLE {
        below.max(above.min(BLOCK_BYTES_ASKABLE)).to_string()
    } else {
        format!("{below} or {above}")
    };
    Err(Error::new(Kind::Usage, what).advise(format!("Give {near}, or --direct never.")))
}

/// Our own block size: a whole number of `unit`, fitted to the devices and to what else was asked for.
fn own_block(asked: &PlanInput, start: &Start, unit: u32) -> (u32, String) {
    let mut block = start.block.next_multiple_of(unit);
    let mut because = start.because.clone();
    let largest = [asked.source, asked.dest].map(|facts| facts.queue.max_request_bytes).into_iter().filter(|b| *b > 0);
    if let Some(most) = largest.min().map(|bytes| bytes.saturating_mul(SPLITS_MAX)) {
        // A device that says less than a page a request is not believed.
        let most = (most - most % unit).max(BLOCK_BYTES_MIN.max(unit));
        if block > most {
            block = most;
            because = format!("{SPLITS_MAX} of the largest requests of the device");
        }
    }
    for facts in [asked.source, asked.dest] {
        let optimal = optimal(facts, unit);
        if let Some(optimal) = optimal.filter(|optimal| !block.is_multiple_of(*optimal)) {
            block = block.next_multiple_of(optimal);
            because = format!("a multiple of {}, which {} prefers", words::size(optimal.into()), facts.address);
        }
    }
    let mut cap = |most: u64, why: &str| {
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        let most = (most - most % unit).max(unit);
        if block > most {
            block = most;
            because = why.to_owned();
        }
    };
    if let Some(most) = command_bytes_max(asked) {
        cap(most.into(), "the longest command of the disk");
    }
    if let Some(depth) = asked.options.depth {
        cap(u64::from(IN_FLIGHT_BYTES) / u64::from(depth), "as large as memory allows with --depth");
    }
    if let Some(rate) = asked.options.limit_bytes_per_s {
        cap((rate / LIMIT_BLOCKS_PER_S).max(BLOCK_BYTES_MIN.into()), "short enough for an even pace under --limit");
    }
    (block, because)
}

/// The longest command of a side that is reached by commands: nobody splits those.
fn command_bytes_max(asked: &PlanInput) -> Option<u32> {
    let through = Side::BOTH.into_iter().filter(|side| asked.through(*side).is_some());
    through.map(|side| asked.facts(side).queue.max_request_bytes).filter(|bytes| *bytes > 0).min()
}

/// The request size that the device prefers, where that can be meant.
fn optimal(facts: &Facts, unit: u32) -> Option<u32> {
    let bytes = facts.queue.optimal_io_bytes;
    (bytes > unit && bytes <= OPTIMAL_IO_BYTES_BELIEVED && bytes.is_multiple_of(unit)).then_some(bytes)
}

/// Our own depth for blocks of this size.
///
/// Blocks that had to be smaller than the start's are more of them, so that as many bytes are in flight; not where a
/// head moves, nor on a pipe, which take one after the other anyway.
fn own_depth(asked: &PlanInput, range: &Range, start: &Start, block: u32) -> (u32, String) {
    let times = if start.many { (start.block / block).max(1) } else { 1 };
    let wanted = start.depth.saturating_mul(times).min(DEPTH_MAX.max(start.depth));
    let blocks = range.len.map_or(u64::MAX, |len| len.div_ceil(block.into()).max(1));
    let room = u64::from(IN_FLIGHT_BYTES) / memory(block, 1);
    let limits = [
        (u64::from(requests_max(asked)), "as many requests as the devices' queues hold"),
        (room, "as many blocks as memory allows"),
        (blocks, "there are no more blocks"),
    ];
    let least = limits.into_iter().min_by_key(|(most, _)| *most);
    match least {
        Some((most, why)) if most < u64::from(wanted) => (u32::try_from(most.max(1)).unwrap_or(1), why.to_owned()),
        _ if wanted > start.depth => (wanted, "small blocks, so more of them".to_owned()),
        _ => (start.depth, start.because.clone()),
    }
}

/// Requests that both queues hold, if each were as short as the shorter one: the depth counts the blocks of both sides,
/// so that one side's queue alone would leave the other side's idle.
fn requests_max(asked: &PlanInput) -> u32 {
    let known = [asked.source, asked.dest].map(|facts| facts.queue.requests_max).into_iter().filter(|max| *max > 0);
    known.min().map_or(u32::MAX, |shorter| shorter.saturating_mul(2))
}
