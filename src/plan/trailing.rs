//! Whether the dest is read back behind the writer.
use super::check::Range;
use super::plan_input::PlanInput;
use super::words;
use crate::core::PlanNotes;
use crate::core::{Access, Cache, EndpointKind, Portion, ReadBack, Route, Side};

/// What was written as many bytes ago has left the cache of every drive of flash that we know of, whatever came in
/// between: those keep some megabytes of data, and use the rest of their memory for maps.
const WINDOW_BYTES: u64 = 1 << 30;

/// Transports of disks that stay attached. A USB stick may report a false capacity: writes beyond the real one
/// overwrite data that was verified before.
const FIXED: [&str; 9] = ["nvme", "sata", "sas", "scsi", "fc", "iscsi", "virtio", "xen", "loop"];

/// Settles it, with the reason.
pub(super) fn trailing(
    asked: &PlanInput,
    range: &Range,
    dest: Access,
    route: Route,
    read_back: &mut ReadBack,
    notes: &mut PlanNotes,
) {
    match hindrance(asked, range, dest, route, read_back.portion) {
        // A sample is read in no time.
        Err("") => {}
        Err(why) => notes.chose("read back", "after everything is written", why),
        Ok(()) => {
            read_back.window_bytes = Some(WINDOW_BYTES);
            let choice =
                format!("{} behind the writer, while the source is the bottleneck", words::block(WINDOW_BYTES));
            notes.chose("read back", choice, "the destination is an SSD; the rest, and a sample again, at the end");
        }
    }
}

/// Why it is not.
fn hindrance(
    asked: &PlanInput,
    range: &Range,
    dest: Access,
    route: Route,
    portion: Portion,
) -> Result<(), &'static str> {
    let transport = asked.dest.identity.transport.as_deref();
    let (source, options) = (asked.source, asked.options);
    let on_one = source.id.is_some() && source.id == asked.dest.id
        || asked.dest.ground.iter().any(|to| source.ground.iter().any(|from| from.id == to.id))
        || source.ground.iter().any(|ground| Some(ground.id) == asked.dest.id)
        || asked.dest.ground.iter().any(|ground| Some(ground.id) == source.id);
    let hindrances = [
        (matches!(portion, Portion::Sample { .. }), ""),
        (portion == Portion::Afterwards, "--verify=afterwards"),
        (!options.also.is_empty(), "all destinations are then read back in parallel"),
        (route != Route::Copy || options.delta.is_some(), "the copy writes only what differs"),
        (options.resume, "the copy is resumed"),
        (options.ranges.is_some(), "the copy writes only ranges"),
        (options.limit_bytes_per_s.is_some(), "--limit is to reduce the load on the disks"),
        (asked.dest.kind != EndpointKind::Block, "the destination is not a disk"),
        (asked.through(Side::Dest).is_some(), "passthrough does not read and write at the same time"),
        (dest.cache != Cache::Direct, "data in the page cache is not on the medium"),
        (asked.rotational(Side::Dest), "the destination is rotational, and reads would slow the writes"),
        (on_one, "source and destination are on one disk, which is already busy"),
        (
            !transport.is_some_and(|transport| FIXED.contains(&transport)),
            "a USB stick may report a false capacity, which only a full write reveals",
        ),
        (range.len.is_some_and(|len| len <= 2 * WINDOW_BYTES), "the drive cache may hold much of such a short copy"),
    ];
    hindrances.into_iter().find(|(there, _)| *there).map_or(Ok(()), |(_, why)| Err(why))
}
