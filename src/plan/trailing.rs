//! Decides whether the dest is read back during the copy.
use super::check::Range;
use super::plan_input::PlanInput;
use super::words;
use crate::core::PlanNotes;
use crate::core::{Access, Cache, EndpointKind, Portion, ReadBack, Route, Side};

/// Data older than this many written bytes has left the cache of every known flash drive: those cache some
/// megabytes of data, and use the rest of their memory for mapping tables.
const WINDOW_BYTES: u64 = 1 << 30;

/// Transports of disks that stay attached. A USB stick may report a false capacity: writes beyond the real one
/// overwrite data that was verified before.
const FIXED: [&str; 9] = ["nvme", "sata", "sas", "scsi", "fc", "iscsi", "virtio", "xen", "loop"];

/// Decides it, with the reason.
pub(super) fn trailing(
    asked: &PlanInput,
    range: &Range,
    dest: Access,
    route: Route,
    read_back: &mut ReadBack,
    notes: &mut PlanNotes,
) {
    match hindrance(asked, range, dest, route, read_back.portion) {
        // Reading a sample takes very little time.
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

/// Why the dest is not read back during the copy.
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
        (range.is_listed(), "the copy writes only ranges"),
        (options.limit_bytes_per_s.is_some(), "--limit reduces the load on the disks"),
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
    hindrances.into_iter().find(|(applies, _)| *applies).map_or(Ok(()), |(_, why)| Err(why))
}
