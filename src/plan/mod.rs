//! Converts Options and Facts into a Plan: pure and deterministic, tested without a disk.
//!
//! First `check` refuses invalid and dangerous requests, then `choose` makes the remaining choices. No "auto"
//! survives [`make`]. This room does no I/O: it must not know how anything is opened, read or printed.
#![forbid(unsafe_code)]
mod block_map;
mod candidates;
mod certainty;
pub(crate) mod check;
mod checksum;
mod choose;
mod compare;
mod compression;
mod decompression;
mod notes;
pub(crate) mod numbers;
mod options;
pub(crate) mod plan_input;
mod read_back;
mod rescue;
mod several;
mod trailing;
mod undo;
pub(crate) mod words;

#[cfg(test)]
mod tests;

pub use block_map::{uses_block_map, with_block_map};
pub use candidates::{CHOOSE_MAX_BYTES, Candidates, Objection, candidates};
pub use checksum::{checksum, digest_of, kind_of_len, uses_checksum_beside};
pub use compare::{DigestComparison, DigestedCopy, compare, compare_digests};
pub use compression::{Compressing, compressing};
pub use decompression::{Decompression, decompression};
pub use numbers::{BLOCK_BYTES_ASKABLE, DEPTH_ASKABLE};
pub use options::{
    BlockMapChoice, Checksum, ChooseFrom, Compress, Decompress, Delta, Expectation, JournalChoice, Options,
    PassthroughMode, ProgressStyle, RangeLists, Verbosity, When,
};
pub use read_back::{digest_again, follow, read_back, read_back_of, rewrite};
pub use rescue::rescue_sector_bytes;
pub use several::{Plans, several};
pub use undo::to_put_back;

use crate::core::{Decision, Facts, Host, Plan, PlanNotes, PlanSide, Result, Side};
use certainty::{certainty, route};
use check::Range;
use plan_input::PlanInput;

/// Decides everything that `options` leave open about a copy from `source` to `dest` on this `host`, and makes
/// every refusal that is possible before anything is written.
///
/// # Errors
/// `Usage` for invalid options, `Refused` for dangerous requests, `Open` for a dest that may not be written,
/// `NoSpace` for a file system that cannot hold the data, `Unsupported` for something that was requested
/// explicitly and is not available.
pub fn make(options: &Options, source: &Facts, dest: &Facts, host: &Host) -> Result<Decision> {
    decide(PlanInput { options, source, dest, host, one_of_several: false })
}

fn decide(asked: PlanInput) -> Result<Decision> {
    let options = asked.options;
    let mut notes = PlanNotes::of(&asked);
    check::words(&asked)?;
    block_map::check(&asked)?;
    check::sides(&asked)?;
    let range = check::range(&asked)?;
    check::object(&asked, &range)?;
    let overlap = check::same(&asked, &range, &mut notes)?;
    compression::check(&asked, &range)?;
    check::warnings(&asked, &range, &mut notes);

    let mut certainty = certainty(&asked, overlap, &mut notes)?;
    let holes = choose::holes(&asked, &range, overlap, &mut notes)?;
    let mut engine_notes = PlanNotes::default();
    let engines = choose::engine(&asked, &range, overlap, &mut engine_notes)?;
    holes.add_notes(&engines, &mut notes);
    notes.append(engine_notes);
    check::room(&asked, &range, &engines, &mut notes)?;
    let reach = choose::access(&asked, &range, overlap, &mut notes)?;
    let tuning = choose::pace(&asked, &range, &engines, &reach, &mut notes)?;
    let order = choose::order(&asked, overlap, &mut notes);
    let end = choose::end(&asked, &range, &holes, &engines, &mut notes);
    notes.on_error(&asked);
    let journal = choose::journal(&asked, &range, overlap, &engines, &end, &mut notes)?;
    notes.range(&asked, &range);
    let device_copy = choose::device_copy(&asked, &range, &engines);

    let route = route(&asked, overlap, reach.align_bytes(), &mut notes)?;
    if let Some(read_back) = &mut certainty.read_back {
        trailing::trailing(&asked, &range, reach.access[Side::Dest.index()], route, read_back, &mut notes);
    }

    let [source_access, dest_access] = reach.access;
    let plan = Plan {
        source: side(&asked, Side::Source, &range, source_access),
        dest: dest_side(&asked, &range, &end, dest_access),
        len: range.len,
        route,
        pattern: None,
        dests: Vec::new(),
        engine: engines.engine,
        engine_instead: engines.instead,
        device_copy,
        head_bytes: reach.head_bytes,
        tail_align_bytes: reach.tail_align_bytes,
        direction: order.direction,
        write_order: order.write_order,
        overlaps: overlap.is_some(),
        zeros: holes.zeros,
        ask_holes: holes.ask,
        // A piece is at most a block; both must be multiples of the alignments.
        detect_zeros_bytes: holes.detect_bytes.map(|bytes| bytes.max(reach.align_bytes()).min(tuning.block_bytes_min)),
        tuning: tuning.with_buffers(route.buffers_per_block()),
        hashes: certainty.hashes,
        digest_blocks: certainty.digest_blocks,
        read_back: certainty.read_back,
        block_map: options.block_map.clone(),
        checks_memory: options.verify.is_some(),
        set_end: end.set_end,
        preallocate: end.preallocate,
        durable: end.durable,
        on_error: options.on_error,
        journal,
        limit_bytes_per_s: options.limit_bytes_per_s,
        time_limit: options.time_limit,
    };
    let plan = if options.rescue { rescue::rescue(plan, &asked)? } else { plan };
    Ok(Decision { plan, notes })
}

/// Whether the user must confirm before the first write, unless `--yes` was given: the data on a device will be
/// lost, and one wrong letter selects another device.
pub fn needs_confirmation(plan: &Plan, dest: &Facts) -> bool {
    dest.kind.is_fixed_size() && plan.len != Some(0)
}

fn side(asked: &PlanInput, side: Side, range: &Range, access: crate::core::Access) -> PlanSide {
    let facts = asked.facts(side);
    PlanSide {
        address: facts.address.clone(),
        path: facts.path.clone(),
        kind: facts.kind,
        map: range.maps[side.index()].clone(),
        access,
        lock: Some(range.hull(side)),
        moves_head: asked.rotational(side),
        through: asked.through(side),
    }
}

fn dest_side(asked: &PlanInput, range: &Range, end: &choose::DestPreparation, access: crate::core::Access) -> PlanSide {
    let access = choose::with_existing(access, end.existing);
    PlanSide { lock: Some(choose::written(asked, range, end)), ..side(asked, Side::Dest, range, access) }
}
