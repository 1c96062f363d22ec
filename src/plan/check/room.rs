//! Checks that the dest is large enough.
use super::Range;
use crate::core::PlanNotes;
use crate::core::{EndpointKind, EngineKind, Error, Extent, Kind, Result, Side};
use crate::plan::choose::Engines;
use crate::plan::numbers::FAT_FILE_BYTES_MAX;
use crate::plan::plan_input::{PlanInput, named};
use crate::plan::{When, words};

/// Refuses a dest that is certainly too small, and warns if it may be.
pub(in crate::plan) fn room(asked: &PlanInput, range: &Range, engines: &Engines, notes: &mut PlanNotes) -> Result<()> {
    match asked.dest.kind {
        EndpointKind::Block | EndpointKind::Nbd => on_device(asked, range, notes),
        EndpointKind::File => {
            fat(asked, range)?;
            // Shared extents need no space, but only an attempt shows whether they can be shared.
            if engines.engine == EngineKind::Reflink { Ok(()) } else { on_file_system(asked, range, notes) }
        }
        _ => Ok(()),
    }
}

fn on_device(asked: &PlanInput, range: &Range, notes: &mut PlanNotes) -> Result<()> {
    let Some(size) = asked.dest.size else { return Ok(()) };
    let name = named(Side::Dest, asked.dest);
    let Some(len) = range.len else {
        let least =
            asked.source.compressed.as_ref().map_or(0, |content| content.least_bytes.saturating_sub(range.skip));
        if range.seek.saturating_add(least) > size {
            return Err(too_small(asked, range, size, least));
        }
        notes.warn(format!(
            "the source may be longer than {name}, which has {}: its size is unknown until end of stream",
            words::exact(size)
        ));
        return if range.seek <= size { Ok(()) } else { Err(too_small(asked, range, size, 0)) };
    };
    if range.dest_end().is_some_and(|end| end > size) { Err(too_small(asked, range, size, len)) } else { Ok(()) }
}

fn too_small(asked: &PlanInput, range: &Range, size: u64, len: u64) -> Error {
    let name = named(Side::Dest, asked.dest);
    let missing = words::exact(range.seek + len - size);
    let from = if range.seek > 0 { format!(" from --seek {}", range.seek) } else { String::new() };
    let what = format!(
        "{name} is too small by {missing}: it has {}, {} has {} to copy{from}",
        words::exact(size),
        named(Side::Source, asked.source),
        words::exact(len)
    );
    let advice = "Nothing was written. Use a larger device. --count copies less.";
    Error::new(Kind::Refused, what).on(Side::Dest).advise(advice)
}

fn fat(asked: &PlanInput, range: &Range) -> Result<()> {
    let end = range.dest_end().unwrap_or(range.seek);
    let fat = matches!(asked.dest.filesystem.as_deref(), Some("vfat" | "msdos"));
    if !fat || end <= FAT_FILE_BYTES_MAX {
        return Ok(());
    }
    let what = format!(
        "{} would have {}, but the largest file on FAT has 4 GiB minus 1 byte",
        named(Side::Dest, asked.dest),
        words::exact(end)
    );
    Err(Error::new(Kind::NoSpace, what).on(Side::Dest).advise("Nothing was written. Use exFAT or another file system."))
}

fn on_file_system(asked: &PlanInput, range: &Range, notes: &mut PlanNotes) -> Result<()> {
    let (Some(len), Some(free)) = (range.len, asked.dest.free_bytes) else { return Ok(()) };
    let dest = asked.dest;
    let size = if dest.exists { dest.size.unwrap_or(0) } else { 0 };
    // The space of an old file is freed, or reused in place.
    let fresh = if asked.dest_begins_empty() && !range.is_listed() {
        len.saturating_sub(size)
    } else {
        let places = range.maps[Side::Dest.index()].places(Extent::new(0, len));
        places.map(|place| place.end().saturating_sub(size.max(place.offset))).sum()
    };
    if fresh <= free {
        return Ok(());
    }
    let name = named(Side::Dest, dest);
    let what = format!(
        "{name} needs {} more than it has, and its file system has {} free",
        words::exact(fresh),
        words::exact(free)
    );
    // With holes, compression or existing blocks it may fit; on other file systems each byte of data needs
    // space.
    let plain =
        matches!(dest.filesystem.as_deref(), Some("ext2" | "ext3" | "ext4" | "xfs" | "vfat" | "exfat" | "tmpfs"));
    let sparse = asked.source.sparse && asked.options.sparse != When::Never || asked.options.sparse == When::Always;
    if plain && !sparse && size == 0 {
        return Err(Error::new(Kind::NoSpace, what)
            .on(Side::Dest)
            .advise("Nothing was written. Free space there. --count copies less."));
    }
    notes.warn(format!("{what}: the copy may not fit"));
    Ok(())
}
