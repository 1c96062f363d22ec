//! Determines which destination a journal is about: its path does not show it, because `--journal` names any
//! path.
use crate::core::{EndpointKind, Error, Facts, FileId, Kind, Side};
use crate::files::open_to_read;
use crate::ledger::journal::{Head, Journal, read};
use crate::ledger::{Mismatch, SideIdentity};
use std::io::BufReader;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Whether the journal with this first line, found at the path for `dest`, is about `dest`.
pub(super) fn is_about(head: &Head, dest: &Facts) -> bool {
    if dest.is_file() {
        return head.dest.is_file() && is_file(Path::new(&head.dest.path), dest);
    }
    let now = SideIdentity::of(dest, head.dest.offset_bytes);
    // The same disk may have been formatted to another block size.
    let is_same = |mismatch: &Mismatch| matches!(mismatch, Mismatch::LogicalBlock { .. });
    head.dest.mismatches(Side::Dest, &now).iter().all(is_same)
}

/// Whether it may be about a device that shares bytes with `dest`: its disk, or a partition of it.
pub(super) fn is_about_related(head: &Head, dest: &Facts) -> bool {
    let recorded = &head.dest;
    let is_device = recorded.kind == EndpointKind::Block.name();
    is_device && recorded.serial == dest.identity.serial && recorded.wwn == dest.identity.wwn
}

/// Whether `path` is `dest`, or was before a directory above it was moved.
fn is_file(path: &Path, dest: &Facts) -> bool {
    match path.metadata() {
        _ if path.to_string_lossy() == dest.path.to_string_lossy() => true,
        Ok(found) => dest.id == Some(FileId::File(found.dev(), found.ino())),
        Err(_) => path.file_name() == dest.path.file_name(),
    }
}

/// The first line of a journal that another process has locked.
pub(super) fn peek(path: &Path) -> Option<Head> {
    Some(read(BufReader::new(open_to_read(path).ok()?)).ok()?.head)
}

/// The error for a copy whose journal would have the path of `journal`, which is about another destination.
pub(super) fn refusal(journal: &Journal, named: bool) -> Error {
    let (path, dest) = (journal.path().display(), &journal.head().dest.path);
    let what = format!(
        "cannot create the journal {path}: it already holds the journal of an unfinished copy to destination {dest}"
    );
    let elsewhere =
        if named { "Use --journal to name another file" } else { "Use --journal to name another file for this copy" };
    let advice = format!(
        "Nothing was written. {elsewhere}, or use --no-journal. Or finish that copy first with --resume --journal \
         {path}, or remove its journal."
    );
    Error::new(Kind::Refused, what).advise(advice)
}
