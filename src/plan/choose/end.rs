//! What happens to the dest before and after: made, emptied, allocated, ended, flushed.
use super::{Engines, Holes};
use crate::core::PlanNotes;
use crate::core::{EndpointKind, EngineKind, Existing, Extent, Side};
use crate::plan::check::Range;
use crate::plan::numbers::PREALLOCATE_BYTES_MIN;
use crate::plan::plan_input::{PlanInput, in_memory};

/// What happens to the dest before and after.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DestPreparation {
    pub(crate) existing: Existing,
    pub(crate) set_end: bool,
    pub(crate) preallocate: bool,
    pub(crate) durable: bool,
}

/// Chooses what happens to the dest before and after the copy.
pub(crate) fn end(
    asked: &PlanInput,
    range: &Range,
    holes: &Holes,
    engines: &Engines,
    notes: &mut PlanNotes,
) -> DestPreparation {
    let (existing, set_end) = file_end(asked, range, notes);
    let preallocate = preallocate(asked, range, holes, engines, existing);
    if preallocate {
        notes.chose("allocation", "before the first write", "detects a full file system early, and keeps extents long");
    }
    if let Some(rate) = asked.options.limit_bytes_per_s {
        notes.chose("limit", format!("{}/s", crate::plan::words::size(rate)), "--limit");
    }
    if let Some(time) = asked.options.time_limit {
        let choice = format!("{} s", time.as_secs());
        notes.chose("time limit", choice, "--time; an incomplete copy ends with status 4");
    }
    let can_flush = matches!(asked.dest.kind, EndpointKind::File | EndpointKind::Block | EndpointKind::FileStream);
    let durable = can_flush && !asked.options.no_flush;
    let (choice, because) = match (can_flush, durable) {
        (false, _) => ("no", "the destination has nothing to flush"),
        (true, false) => ("no", "--no-flush"),
        (true, true) if asked.dest.memory.is_some() => {
            ("at the end", "the destination is in memory and does not survive a power loss")
        }
        (true, true) => ("at the end", "status 0 means that the data is durable"),
    };
    notes.chose("flush", choice, because);
    DestPreparation { existing, set_end, preallocate, durable }
}

/// What to do about the dest being there, and whether it ends where the copy ends.
fn file_end(asked: &PlanInput, range: &Range, notes: &mut PlanNotes) -> (Existing, bool) {
    if !asked.dest_is_file() {
        return (Existing::Keep, false);
    }
    if !asked.dest.exists {
        notes.chose_of(Side::Dest, "destination file", "created", "it does not exist yet");
        return (Existing::Create, true);
    }
    if !asked.range_given() && asked.options.resume {
        notes.chose_of(Side::Dest, "destination file", "not truncated", "--resume keeps durable data");
        return (Existing::Keep, true);
    }
    if !asked.range_given() && asked.options.delta.is_some() {
        notes.chose_of(
            Side::Dest,
            "destination file",
            "only what differs",
            "--delta; it becomes identical to the source",
        );
        return (Existing::Keep, true);
    }
    if !asked.range_given() {
        notes.chose_of(Side::Dest, "destination file", "truncated first", "it becomes identical to the source");
        return (Existing::Truncate, true);
    }
    match asked.options.ranges {
        Some(_) => notes.chose_of(Side::Dest, "destination file", "only the ranges change", "--ranges"),
        None => {
            notes.chose_of(
                Side::Dest,
                "destination file",
                "only the range changes",
                "--skip, --seek or --count was given",
            );
        }
    }
    // A hole at the end of the range does not move the end of the file by itself.
    let grows = range.len.zip(asked.dest.size).is_some_and(|(len, size)| range.seek + len > size);
    (Existing::Keep, grows)
}

/// The bytes of the dest that change. Those behind a new end do, too, whoever has written them meanwhile; a part of a
/// file that ends no sooner leaves the others to other copies at the same time.
pub(crate) fn written(asked: &PlanInput, range: &Range, ends: &DestPreparation) -> Extent {
    let all_behind = |offset: u64| Extent::new(offset, u64::MAX - offset);
    match (ends.set_end || ends.existing != Existing::Keep, asked.range_given()) {
        (true, false) => all_behind(0),
        (true, true) => all_behind(range.seek),
        (false, _) => range.extent(Side::Dest),
    }
}

fn preallocate(asked: &PlanInput, range: &Range, holes: &Holes, engines: &Engines, existing: Existing) -> bool {
    // Those compress or copy on write: space set aside is lost on them. Shared extents bring their own.
    let own_ways = matches!(asked.dest.filesystem.as_deref(), Some("btrfs" | "bcachefs" | "zfs" | "f2fs" | "nilfs2"));
    asked.dest_is_file()
        && !own_ways
        && !in_memory(asked.dest)
        // What lies between ranges is not to take room.
        && asked.options.ranges.is_none()
        && range.len.is_some_and(|len| len >= PREALLOCATE_BYTES_MIN)
        && !holes.ask
        && holes.detect_bytes.is_none()
        && engines.engine != EngineKind::Reflink
        // What already exists is allocated, and its holes belong to other data.
        && (existing != Existing::Keep || asked.dest.size.is_some_and(|size| range.seek >= size))
}
