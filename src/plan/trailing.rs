//! Whether the dest is read back behind the writer.
use super::asked::PlanInput;
use super::check::Range;
use super::words;
use crate::core::PlanNotes;
use crate::core::{Access, Cache, EndpointKind, Portion, ReadBack, Route, Side};

/// What was written as many bytes ago has left the cache of every drive of flash that we know of, whatever came in
/// between: those keep some megabytes of data, and use the rest of their memory for maps.
const WINDOW_BYTES: u64 = 1 << 30;

/// Ways in by which disks are attached that stay where they are. A stick may lie about its size: it writes what lies
/// beyond the truth over what was verified before.
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
        Err(why) => notes.chose("read back", "when everything is written", why),
        Ok(()) => {
            read_back.window_bytes = Some(WINDOW_BYTES);
            let choice = format!("{} behind the writer, while the source is slower", words::block(WINDOW_BYTES));
            notes.chose("read back", choice, "the dest moves no head; the rest, and a sample once more, at the end");
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
        (!options.also.is_empty(), "all dests are read back at once then"),
        (route != Route::Copy || options.delta.is_some(), "not all of it is written"),
        (options.resume, "the copy is gone on with"),
        (options.ranges.is_some(), "only ranges are written"),
        (options.limit_bytes_per_s.is_some(), "--limit is to spare the disks"),
        (asked.dest.kind != EndpointKind::Block, "the dest is no disk"),
        (asked.through(Side::Dest).is_some(), "its own commands go one way at a time"),
        (dest.cache != Cache::Direct, "what is in the page cache is not on the medium"),
        (asked.rotational(Side::Dest), "the dest moves a head, which reading would take away from the writes"),
        (on_one, "source and dest lie on one disk, which has no time to spare"),
        (
            !transport.is_some_and(|transport| FIXED.contains(&transport)),
            "a stick may lie about its size, which shows only when everything is written",
        ),
        (range.len.is_some_and(|len| len <= 2 * WINDOW_BYTES), "a drive's cache may hold much of so short a copy"),
    ];
    hindrances.into_iter().find(|(there, _)| *there).map_or(Ok(()), |(_, why)| Err(why))
}
