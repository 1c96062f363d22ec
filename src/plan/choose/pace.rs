//! Chooses block size and queue depth.
use super::{AccessPair, Engines, OneGround, mostly_cached, one_ground};
use crate::core::{
    Bursts, Cache, EndpointKind, EngineKind, Error, Facts, Kind, Limits, PlanNotes, Result, SavedPace, Side, Tuning,
};
use crate::plan::check::Range;
use crate::plan::numbers::*;
use crate::plan::plan_input::PlanInput;
use crate::plan::words;

/// The initial block size and requests in flight on each side, and the reason.
struct Start {
    block: u32,
    in_flight: [u32; 2],
    /// The values were measured.
    tuned: bool,
    because: String,
}

impl Start {
    fn both(block: u32, in_flight: u32, because: &str) -> Self {
        Start { block, in_flight: [in_flight; 2], tuned: false, because: because.to_owned() }
    }
}

/// Chooses the initial block size and queue depth, and the bounds for auto-tuning.
pub(crate) fn pace(
    asked: &PlanInput,
    range: &Range,
    engines: &Engines,
    reach: &AccessPair,
    notes: &mut PlanNotes,
) -> Result<Tuning> {
    let options = asked.options;
    let align = reach.align_bytes();
    // Block sizes that haul chooses are also whole pages. Both are powers of two, so the larger is a multiple
    // of the other.
    let unit = align.max(PAGE_BYTES);
    let is_sync = engines.moving() == EngineKind::Sync;
    // A source in the page cache is as fast as an SSD.
    let is_cached = reach.access[Side::Source.index()].cache != Cache::Direct && mostly_cached(asked.source, range.len);
    // A decoder reads little, in its own thread: it does not wait for its turn.
    let is_decoded = asked.source.kind == EndpointKind::Compressed;
    let ground = if is_sync || is_cached || is_decoded { None } else { one_ground(asked) };
    let start = start(asked, is_sync);

    let (block, block_because) = match options.block_bytes {
        Some(block) => (asked_block(block, align)?, "--block-size".to_owned()),
        None => own_block(asked, &start, unit),
    };
    notes.chose("block size", words::block(block.into()), block_because);
    let mut tuning = match options.depth {
        Some(depth) => {
            notes.chose("queue depth", depth.to_string(), "--depth, for both sides together");
            by_depth(asked, block, depth)
        }
        None if is_sync => {
            notes.chose("queue depth", "1", start.because.clone());
            Tuning::fixed(block, 1)
        }
        None => {
            let (in_flight, because) = own_in_flight(asked, &start, block);
            notes.chose("queue depth", words::queue_depth(in_flight), because);
            searched(asked, range, block, in_flight, unit)
        }
    };
    tuning.tuned = start.tuned;
    if let Some(bytes_per_s) = options.limit_bytes_per_s {
        tuning.adaptive = false;
        // Blocks in the pool are neither written nor claimed: as few as the rate requires.
        let held = (bytes_per_s / LIMIT_POOLS_PER_S).max(memory(block, 2));
        tuning.pool_bytes = tuning.pool_bytes.min(u32::try_from(held).unwrap_or(u32::MAX));
    }
    if let Some(ground) = ground.filter(|_| tuning.blocks() > 1) {
        take_turns(&mut tuning, &ground, notes);
    }
    note_tuning(&tuning, is_sync, range, notes);
    Ok(tuning)
}

/// Both sides are on one disk: auto-tuning tries bursts, with which a copy on a rotational disk begins.
fn take_turns(tuning: &mut Tuning, ground: &OneGround<'_>, notes: &mut PlanNotes) {
    tuning.limits.bursts = ground.rotational;
    tuning.bursts = match (tuning.adaptive, ground.rotational) {
        (true, _) => Bursts::Try,
        (false, true) => Bursts::Always,
        (false, false) => Bursts::Never,
    };
    if ground.rotational {
        tuning.limits.in_flight = tuning.limits.in_flight.map(|most| most.min(IN_FLIGHT));
        let choice = format!("{} read, then written, alternating", words::block(tuning.pool_bytes.into()));
        notes.chose("bursts", choice, format!("both sides are on {}, which is rotational", ground.name));
    } else if tuning.adaptive {
        notes.chose("bursts", "tried during the copy", format!("both sides are on {}", ground.name));
    }
}

fn note_tuning(tuning: &Tuning, is_sync: bool, range: &Range, notes: &mut PlanNotes) {
    if tuning.adaptive && tuning.tuned {
        let because = "neither --depth nor --limit is given, and haul tune saved near-optimal values";
        notes.chose("auto-tune", "for long copies", because);
    } else if tuning.adaptive {
        notes.chose("auto-tune", "during the copy", "neither --depth nor --limit is given");
    }
    let bytes = u64::from(tuning.pool_bytes);
    if bytes > IN_FLIGHT_BYTES_PROMISED {
        notes.warn(format!("blocks in flight take {}: more than 64 MiB of memory in all", words::block(bytes)));
    }
    let block = u64::from(tuning.limits.block_bytes);
    if tuning.blocks() == 1 && !is_sync && range.len.is_none_or(|len| len > block) {
        notes.warn("only one block is in flight: reads and writes do not overlap");
    }
}

/// This many blocks at a time, with either side or between both; half of them per side on rotational disks.
fn by_depth(asked: &PlanInput, block: u32, depth: u32) -> Tuning {
    let mut tuning = Tuning::fixed(block, depth);
    for side in Side::BOTH.into_iter().filter(|side| asked.rotational(*side)) {
        tuning.limits.in_flight[side.index()] = (depth / 2).max(1);
    }
    tuning
}

/// A copy that is auto-tuned.
fn searched(asked: &PlanInput, range: &Range, block: u32, in_flight: [u32; 2], unit: u32) -> Tuning {
    let fixed = asked.options.block_bytes.is_some();
    let smallest = BLOCK_BYTES_MIN.max(unit);
    let (mut block_bytes_min, mut block_bytes_max) = (block, block);
    while !fixed && block_bytes_min / 2 >= smallest && (block_bytes_min / 2).is_multiple_of(unit) {
        block_bytes_min /= 2;
    }
    let largest = command_bytes_max(asked).map_or(BLOCK_BYTES_MAX, |most| most.min(BLOCK_BYTES_MAX));
    while !fixed && block_bytes_max.saturating_mul(2) <= largest {
        block_bytes_max *= 2;
    }
    // Small requested blocks are limited in number: each occupies an entry in the tables of a ring.
    // An object is collected in parts, whose memory counts too.
    let most = if asked.dest.kind == EndpointKind::Object { POOL_BYTES / 2 } else { POOL_BYTES };
    let pool = memory(block, 1).saturating_mul(POOL_BLOCKS_MAX.into()).min(most.into()).max(memory(block, 2));
    let needed = range.len.map_or(u64::MAX, |len| len.next_multiple_of(memory(block_bytes_max, 1)));
    let pool_bytes = u32::try_from(pool.min(needed.max(memory(block_bytes_max, 1)))).unwrap_or(u32::MAX);
    Tuning {
        limits: Limits { block_bytes: block, in_flight, bursts: false },
        adaptive: true,
        tuned: false,
        bursts: Bursts::Never,
        block_bytes_min,
        block_bytes_max,
        in_flight_max: IN_FLIGHT_MAX.min(requests_max(asked)).max(in_flight[0]).max(in_flight[1]),
        pool_bytes,
    }
}

/// Memory for `count` blocks: each begins at a page.
fn memory(block: u32, count: u32) -> u64 {
    u64::from(block).next_multiple_of(PAGE_BYTES.into()) * u64::from(count)
}

/// The initial pace between these two sides.
fn start(asked: &PlanInput, is_sync: bool) -> Start {
    if is_sync && asked.options.engine.is_none() {
        Start::both(WARM_BLOCK_BYTES, 1, "fits in the CPU cache between both sides")
    } else if is_sync {
        Start::both(BLOCK_BYTES, 1, "simple read and write loop")
    } else {
        let usual = usual_start(asked);
        saved_start(asked, &usual).unwrap_or(usual)
    }
}

/// The initial pace if the disks are not tuned: suitable for a rotational disk, which suffers from more, and
/// almost free for others until auto-tuning raises it. Devices that are known to process many requests in
/// parallel begin higher.
fn usual_start(asked: &PlanInput) -> Start {
    let transport = |side: Side| asked.facts(side).identity.transport.as_deref();
    let is = |side: Side, names: &[&str]| transport(side).is_some_and(|name| names.contains(&name));
    let is_nvme = Side::BOTH.map(|side| is(side, &["nvme"]));
    let is_nbd = Side::BOTH.map(|side| is(side, &["nbd"]));
    let block = match (is_nvme, is_nbd) {
        ([true, true], _) => NVME_BLOCK_BYTES,
        (_, [true, true]) => NBD_BLOCK_BYTES,
        _ => BLOCK_BYTES,
    };
    let in_flight = Side::BOTH.map(|side| {
        let of_network = |name: &str| NETWORK_FILE_SYSTEMS.contains(&name);
        if is_nvme[side.index()] {
            NVME_IN_FLIGHT_BYTES / block
        } else if is_nbd[side.index()] {
            NBD_IN_FLIGHT_BYTES / block
        } else if is(side, &NETWORK_TRANSPORTS) || asked.facts(side).filesystem.as_deref().is_some_and(of_network) {
            NETWORK_IN_FLIGHT
        } else {
            IN_FLIGHT
        }
    });
    let because = if is_nvme.contains(&true) {
        "NVMe drives process many requests in parallel"
    } else if is_nbd.contains(&true) || in_flight.contains(&NETWORK_IN_FLIGHT) {
        "network storage has a high latency per request"
    } else if [asked.source, asked.dest].iter().any(|facts| facts.kind == EndpointKind::Pipe) {
        "a pipe holds 1 MiB"
    } else {
        "keeps the device busy between requests; increased if that is faster"
    };
    Start { block, in_flight, tuned: false, because: because.to_owned() }
}

/// The pace that `haul tune --save` found for the sides; for a side without one, the `usual`
/// pace. The larger of two block sizes: a side that is fast enough with the smaller one is no slower with the
/// larger, if as many bytes are in flight.
fn saved_start(asked: &PlanInput, usual: &Start) -> Option<Start> {
    let sides = [
        (asked.source.saved.as_ref(), "reading", &asked.source.address),
        (asked.dest.saved_write.as_ref(), "writing", &asked.dest.address),
    ];
    let describe = |(saved, doing, address): (Option<&SavedPace>, &str, &String)| {
        let SavedPace { block_bytes, depth, date, .. } = saved?;
        let pace = format!("{} × {depth}", words::block((*block_bytes).into()));
        Some(format!("saved by haul tune on {date}: {pace} for {doing} {address}"))
    };
    let because: Vec<String> = sides.into_iter().filter_map(describe).collect();
    if because.is_empty() {
        return None;
    }
    let paces = Side::BOTH.map(|side| match sides[side.index()].0 {
        Some(saved) => (saved.block_bytes, saved.depth),
        None => (usual.block, usual.in_flight[side.index()]),
    });
    let block = paces[0].0.max(paces[1].0).clamp(BLOCK_BYTES_MIN, BLOCK_BYTES_MAX);
    let in_flight = paces.map(|(block_bytes, depth)| {
        let bytes = u64::from(block_bytes) * u64::from(depth);
        // One of two requests waits while the other is processed, which one long request cannot do.
        let fewest = depth.min(2);
        let most = (POOL_BYTES / 2 / block).max(fewest);
        u32::try_from(bytes.div_ceil(block.into())).unwrap_or(u32::MAX).clamp(fewest, most)
    });
    Some(Start { block, in_flight, tuned: true, because: because.join("; ") })
}

/// The requested block size, if direct I/O supports it.
fn asked_block(block: u32, align: u32) -> Result<u32> {
    if block.is_multiple_of(align) {
        return Ok(block);
    }
    let what = format!("--block-size {block}: direct I/O needs a multiple of {} here", words::block(align.into()));
    let (below, above) = (block - block % align, block - block % align + align);
    let near = if below == 0 || above > BLOCK_BYTES_ASKABLE {
        below.max(above.min(BLOCK_BYTES_ASKABLE)).to_string()
    } else {
        format!("{below} or {above}")
    };
    Err(Error::new(Kind::Usage, what).advise(format!("Give {near}, or use --direct never.")))
}

/// The block size that haul chooses: a multiple of `unit`, adapted to the devices and to the other options.
fn own_block(asked: &PlanInput, start: &Start, unit: u32) -> (u32, String) {
    let mut block = start.block.next_multiple_of(unit);
    let mut because = start.because.clone();
    for side in Side::BOTH {
        let largest = asked.facts(side).queue.max_request_bytes;
        // A rotational disk may serve the parts of two requests in any order, and each interleaving costs a
        // rotation.
        let splits = if asked.rotational(side) && largest >= BLOCK_BYTES_MIN { 1 } else { SPLITS_MAX };
        let most = largest.saturating_mul(splits);
        // A reported limit below a page per request is ignored.
        let most = (most - most % unit).max(BLOCK_BYTES_MIN.max(unit));
        if largest > 0 && block > most {
            block = most;
            because = match splits {
                1 => "largest request of the rotational device".to_owned(),
                _ => format!("{SPLITS_MAX} times the largest request of the device"),
            };
        }
    }
    for facts in [asked.source, asked.dest] {
        let optimal = optimal(facts, unit);
        if let Some(optimal) = optimal.filter(|optimal| !block.is_multiple_of(*optimal)) {
            block = block.next_multiple_of(optimal);
            because = format!("a multiple of {}, preferred by {}", words::block(optimal.into()), facts.address);
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
        cap(most.into(), "the largest command of a side");
    }
    if let Some(depth) = asked.options.depth {
        cap(u64::from(POOL_BYTES) / u64::from(depth), "limited by memory with --depth");
    }
    if let Some(rate) = asked.options.limit_bytes_per_s {
        cap((rate / LIMIT_BLOCKS_PER_S).max(BLOCK_BYTES_MIN.into()), "small enough for a steady rate under --limit");
    }
    (block, because)
}

/// The maximum transfer size of a side that is reached by commands: those are not split.
fn command_bytes_max(asked: &PlanInput) -> Option<u32> {
    let is_command = |side: &Side| asked.through(*side).is_some() || asked.facts(*side).kind == EndpointKind::Nbd;
    let through = Side::BOTH.into_iter().filter(is_command);
    through.map(|side| asked.facts(side).queue.max_request_bytes).filter(|bytes| *bytes > 0).min()
}

/// The request size that the device prefers, if it is plausible.
fn optimal(facts: &Facts, unit: u32) -> Option<u32> {
    let bytes = facts.queue.optimal_io_bytes;
    (bytes > unit && bytes <= OPTIMAL_IO_BYTES_BELIEVED && bytes.is_multiple_of(unit)).then_some(bytes)
}

/// Requests in flight on each side for blocks of this size, with as many bytes in flight as at the start;
/// limited by the devices' queues.
fn own_in_flight(asked: &PlanInput, start: &Start, block: u32) -> ([u32; 2], String) {
    let mut because = start.because.clone();
    let in_flight = start.in_flight.map(|most| {
        let bytes = u64::from(most) * u64::from(start.block);
        // The number of requests matters for overlap; devices that process many in parallel, and small blocks,
        // need a number of bytes.
        let by_bytes = most > NETWORK_IN_FLIGHT || asked.options.block_bytes.is_some();
        let wanted = if by_bytes { u32::try_from(bytes.div_ceil(block.into())).unwrap_or(u32::MAX) } else { most };
        if wanted > most {
            "more requests because the blocks are small".clone_into(&mut because);
        }
        let most = wanted.clamp(most.min(IN_FLIGHT), SMALL_BLOCKS_IN_FLIGHT.max(most));
        if most > requests_max(asked) {
            "limited by the device queues".clone_into(&mut because);
        }
        most.min(requests_max(asked))
    });
    (in_flight, because)
}

/// Requests that fit both queues, if each queue were as short as the shorter one.
fn requests_max(asked: &PlanInput) -> u32 {
    let known = [asked.source, asked.dest].map(|facts| facts.queue.requests_max).into_iter().filter(|max| *max > 0);
    known.min().unwrap_or(u32::MAX)
}
