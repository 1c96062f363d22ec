//! What a manifest says of a dest.
use crate::core::stages::Checklist;
use crate::core::{DigestedBlock, Error, Facts, Kind, Result, Side};
use crate::ledger::manifest::{Head, Manifest};
use crate::ledger::{FaultKind, SideIdentity};
use crate::plan::Options;
use std::io;
use std::path::Path;

/// The manifest at `path`, whole.
///
/// # Errors
/// It does not exist, no manifest, of a newer haul, damaged, or not whole.
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

/// The copy was of a part of its source, or to a part of its dest: what continues behind it is not different for that.
pub(crate) fn is_range(manifest: &Manifest) -> bool {
    if manifest.head.range {
        return true;
    }
    let source = &manifest.head.source;
    let end = source.offset_bytes.saturating_add(manifest.closing.len_bytes);
    source.offset_bytes > 0 || source.size_bytes.is_some_and(|size| end < size)
}

/// Where the copy begins on the dest: where it was asked for, else where it began on the side that the dest is.
pub(crate) fn offset_on(options: &Options, head: &Head, dest: &Facts) -> Result<u64> {
    if let Some(seek) = options.seek_bytes {
        return Ok(seek);
    }
    let (from, to) = (head.source.offset_bytes, head.dest.offset_bytes);
    let side = if is_a_dest(head, dest) { Some(to) } else { is(&head.source, Side::Source, dest).then_some(from) };
    side.or((from == to).then_some(to)).ok_or_else(|| {
        let what = format!(
            "the copy began at byte {from} of source {} and at byte {to} of destination {}; destination {} is neither \
             of them",
            head.source.path, head.dest.path, dest.address
        );
        Error::new(Kind::Usage, what).on(Side::Dest).advise("Give the start offset with --seek.")
    })
}

/// The dest is the side that a manifest remembers.
pub(crate) fn is(then: &SideIdentity, side: Side, dest: &Facts) -> bool {
    then.mismatches(side, &SideIdentity::of(dest, then.offset_bytes)).is_empty()
}

fn is_a_dest(head: &Head, dest: &Facts) -> bool {
    head.dests().any(|then| is(then, Side::Dest, dest))
}

/// What to know before the dest is compared with a manifest of other things.
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
