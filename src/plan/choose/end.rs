//! Chooses what happens to the dest before and after the copy: creating, truncating, allocating, setting its
//! end, flushing.
use super::{Engines, Holes};
use crate::core::PlanNotes;
use crate::core::{EndpointKind, EngineKind, Existing, Extent, PART_BYTES_MAX, PARTS_MAX, Side, part_bytes};
use crate::plan::check::Range;
use crate::plan::numbers::PREALLOCATE_BYTES_MIN;
use crate::plan::plan_input::{PlanInput, in_memory};
use crate::plan::words;

/// What happens to the dest before and after the copy.
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
    if let (Some(len), EndpointKind::Object) = (range.len, asked.dest.kind) {
        let bytes = words::block(part_bytes(len).unwrap_or(PART_BYTES_MAX));
        notes.chose_of(Side::Dest, "parts", format!("{bytes} each"), format!("at most {PARTS_MAX} hold the object"));
    } else if preallocate {
        notes.chose("allocation", "before the first write", "detects a full file system early, and keeps extents long");
    }
    if let Some(rate) = asked.options.limit_bytes_per_s {
        notes.chose("limit", format!("{}/s", crate::plan::words::size(rate)), "--limit");
    }
    if let Some(time) = asked.options.time_limit {
        let choice = format!("{} s", time.as_secs());
        notes.chose("time limit", choice, "--time; an incomplete copy ends with status 4");
    }
    let can_flush = match asked.dest.kind {
        EndpointKind::File | EndpointKind::CompressedDest | EndpointKind::Block | EndpointKind::FileStream => true,
        // Without --no-flush, too: an object is either complete or not there.
        EndpointKind::Object => true,
        EndpointKind::Nbd => asked.dest.export.as_ref().is_some_and(|export| export.flush || export.fua),
        _ => false,
    };
    let is_object = asked.dest.kind == EndpointKind::Object;
    let durable = can_flush && (is_object || !asked.options.no_flush);
    let (choice, because) = match (can_flush, durable) {
        (false, _) if asked.dest.kind == EndpointKind::Nbd => {
            notes.warn("the server does not support flush: it is unknown when the data is durable");
            ("no", "the server does not support flush")
        }
        (false, _) => ("no", "the destination has nothing to flush"),
        (true, false) => ("no", "--no-flush"),
        (true, true) if is_object => ("by the store", "the object becomes visible when all of it is stored"),
        (true, true) if asked.dest.memory.is_some() => {
            ("at the end", "the destination is in memory or a volatile cache and does not survive a power loss")
        }
        (true, true) => ("at the end", "status 0 means that the data is durable"),
    };
    notes.chose("flush", choice, because);
    DestPreparation { existing, set_end, preallocate, durable }
}

/// What to do with an existing dest, and whether it ends where the copy ends.
fn file_end(asked: &PlanInput, range: &Range, notes: &mut PlanNotes) -> (Existing, bool) {
    if asked.dest.kind == EndpointKind::Object {
        let (choice, because) = match asked.dest.exists {
            true => ("replaced at the end", "it is not changed before all parts are stored"),
            false => ("created at the end", "it is not visible before all parts are stored"),
        };
        notes.chose_of(Side::Dest, "destination object", choice, because);
    }
    if !asked.dest.is_file() {
        return (Existing::Keep, false);
    }
    if !asked.dest.exists {
        notes.chose_of(Side::Dest, "destination file", "created", "it does not exist yet");
        return (Existing::Create, true);
    }
    let is_whole = !asked.range_given() || asked.dest.kind == EndpointKind::CompressedDest;
    if is_whole && asked.options.resume {
        notes.chose_of(Side::Dest, "destination file", "not truncated", "--resume keeps durable data");
        return (Existing::Keep, true);
    }
    if asked.options.rescue {
        notes.chose_of(Side::Dest, "destination file", "not truncated", "rescued data is kept");
        return (Existing::Keep, range.len.zip(asked.dest.size).is_some_and(|(len, size)| len > size));
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
    if asked.dest.kind == EndpointKind::CompressedDest {
        let because = "its old content is removed when the first frame is written";
        notes.chose_of(Side::Dest, "destination file", "replaced", because);
        return (Existing::Truncate, true);
    }
    if !asked.range_given() {
        notes.chose_of(Side::Dest, "destination file", "truncated first", "it becomes identical to the source");
        return (Existing::Truncate, true);
    }
    match range.maps[Side::Dest.index()].file() {
        Some(_) => {
            let option = asked.options.ranges_option(Side::Dest);
            notes.chose_of(Side::Dest, "destination file", "only the ranges change", option);
        }
        None => {
            notes.chose_of(
                Side::Dest,
                "destination file",
                "only the range changes",
                "--skip, --seek or --count was given",
            );
        }
    }
    // A hole at the end of the range does not extend the file.
    let grows = range.dest_end().zip(asked.dest.size).is_some_and(|(end, size)| end > size);
    (Existing::Keep, grows)
}

/// The bytes of the dest that change. They include those beyond a new end, even if another process writes them
/// during the copy. A copy to a part of a file that is not truncated leaves the other parts to concurrent
/// copies.
pub(crate) fn written(asked: &PlanInput, range: &Range, ends: &DestPreparation) -> Extent {
    let all_behind = |offset: u64| Extent::new(offset, u64::MAX - offset);
    match (ends.set_end || ends.existing != Existing::Keep, asked.range_given()) {
        (true, false) => all_behind(0),
        (true, true) => all_behind(range.hull(Side::Dest).offset),
        (false, _) => range.hull(Side::Dest),
    }
}

fn preallocate(asked: &PlanInput, range: &Range, holes: &Holes, engines: &Engines, existing: Existing) -> bool {
    if asked.dest.kind == EndpointKind::Object {
        // The length decides the size of its parts.
        return range.len.is_some();
    }
    // These compress or copy on write, so preallocated space would be wasted. Shared extents need none.
    let own_ways = matches!(asked.dest.filesystem.as_deref(), Some("btrfs" | "bcachefs" | "zfs" | "f2fs" | "nilfs2"));
    asked.dest_is_file()
        && !own_ways
        && !in_memory(asked.dest)
        // The gaps between ranges need no space.
        && !range.is_listed()
        && range.len.is_some_and(|len| len >= PREALLOCATE_BYTES_MIN)
        && !holes.ask
        && holes.detect_bytes.is_none()
        && engines.engine != EngineKind::Reflink
        // An existing file is already allocated, and its holes belong to other data.
        && (existing != Existing::Keep || asked.dest.size.is_some_and(|size| range.seek >= size))
}
