//! Comparing a manifest with a dest.
use crate::core::stages::Checklist;
use crate::core::{AddressMap, DigestedBlock, Error, Facts, Kind, Result, Side, byte_count};
use crate::ledger::manifest::{Head, Manifest};
use crate::ledger::{FaultKind, SideIdentity};
use crate::plan::Options;
use std::io;
use std::path::Path;

/// Opens the complete manifest at `path`.
///
/// # Errors
/// It does not exist, is not a manifest, was written by a newer haul, is damaged, or is incomplete.
pub(crate) fn open(path: &str) -> Result<Manifest> {
    Manifest::open(Path::new(path)).map_err(|fault| match fault.kind {
        FaultKind::Io(source) if source.kind() == io::ErrorKind::NotFound => {
            Error::new(Kind::Open, format!("manifest {path}: no such file")).advise("Check the path.")
        }
        _ => fault.into_error(path),
    })
}

/// The digests of its blocks, to compare with.
pub(crate) fn checklist(manifest: &Manifest) -> Checklist {
    let pieces = manifest.pieces().iter().map(|&(extent, digest)| DigestedBlock { extent, digest });
    Checklist::new(manifest.head.algorithm, pieces.collect())
}

/// Whether the copy was of a part of its source, or to a part of its dest: then bytes after it are not a
/// difference.
pub(crate) fn is_range(manifest: &Manifest) -> bool {
    if manifest.head.range || manifest.is_listed() {
        return true;
    }
    let source = &manifest.head.source;
    let end = source.offset_bytes.saturating_add(manifest.closing.len_bytes);
    source.offset_bytes > 0 || source.size_bytes.is_some_and(|size| end < size)
}

/// The address map of the copy on the dest: as requested, else that of the side that the dest is.
pub(crate) fn map_on(options: &Options, manifest: &Manifest, dest: &Facts) -> Result<AddressMap> {
    if let Some(map) = &options.ranges[Side::Dest.index()] {
        return as_long(map, manifest);
    }
    if let Some(seek) = options.seek_bytes {
        return Ok(AddressMap::from(seek));
    }
    let head = &manifest.head;
    let of_side = |side: Side, then: &SideIdentity| {
        let ranges = manifest.ranges[side.index()].clone();
        let listed = AddressMap::listed("the manifest", ranges, true).ok();
        listed.unwrap_or_else(|| AddressMap::from(then.offset_bytes))
    };
    let (from, to) = (of_side(Side::Source, &head.source), of_side(Side::Dest, &head.dest));
    if is_a_dest(head, dest) || from == to {
        return Ok(to);
    }
    if is(&head.source, Side::Source, dest) {
        return Ok(from);
    }
    let (what, advice) = if manifest.is_listed() {
        let what = format!(
            "the copy was of ranges of source {} and destination {}, which lie elsewhere on either; destination {} is \
             neither of them",
            head.source.path, head.dest.path, dest.address
        );
        (what, "Give the ranges of the destination with --ranges, or --seek if they are consecutive there.")
    } else {
        let what = format!(
            "the copy began at byte {} of source {} and at byte {} of destination {}; destination {} is neither \
             of them",
            from.start(),
            head.source.path,
            to.start(),
            head.dest.path,
            dest.address
        );
        (what, "Give the start offset with --seek.")
    };
    Err(Error::new(Kind::Usage, what).on(Side::Dest).advise(advice))
}

/// The requested ranges, which must have the length of the copy.
fn as_long(map: &AddressMap, manifest: &Manifest) -> Result<AddressMap> {
    let (listed, len) = (map.listed_bytes().unwrap_or(0), manifest.closing.len_bytes);
    if listed == len {
        return Ok(map.clone());
    }
    let list = map.file().unwrap_or_default();
    let what = format!("list {list} has {}, the copy of the manifest has {len}", byte_count(listed));
    Err(Error::new(Kind::Usage, what).on(Side::Dest).advise("Give the ranges to which that copy wrote."))
}

/// Whether the dest is the side described in a manifest.
pub(crate) fn is(then: &SideIdentity, side: Side, dest: &Facts) -> bool {
    then.mismatches(side, &SideIdentity::of(dest, then.offset_bytes)).is_empty()
}

fn is_a_dest(head: &Head, dest: &Facts) -> bool {
    head.dests().any(|then| is(then, Side::Dest, dest))
}

/// A warning if the manifest describes another dest.
pub(crate) fn doubts(head: &Head, dest: &Facts, offset: u64) -> Option<String> {
    let one_of_them = is_a_dest(head, dest) || is(&head.source, Side::Source, dest);
    let from = if offset > 0 { format!(" from byte {offset}") } else { String::new() };
    (!one_of_them).then(|| {
        format!(
            "the manifest describes a copy from {} to {}; {}{from} is neither of them by name and identity",
            head.source.path, head.dest.path, dest.address
        )
    })
}
