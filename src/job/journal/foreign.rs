//! Files that are no journals, where one is searched for or is to be.
use crate::core::{Error, Kind};
use crate::ledger::{Fault, FaultKind};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// Whether `fault` says that what is at `path` is not a journal of this user's.
pub(super) fn is_foreign(path: &Path, fault: &Fault) -> bool {
    match &fault.kind {
        FaultKind::Other => true,
        FaultKind::Io(error) => {
            let kinds = [io::ErrorKind::PermissionDenied, io::ErrorKind::IsADirectory];
            kinds.contains(&error.kind()) && path.symlink_metadata().is_ok()
        }
        FaultKind::Refused(_) => path.symlink_metadata().is_ok_and(|found| !found.is_file()),
        _ => false,
    }
}

/// Whether what is at `path` can be skipped by a process that writes to the destination: it is no journal, or one that
/// this user cannot distinguish from a forged one. Anybody may put such a file into a folder that all can write to, and
/// a symbolic link there may lead anywhere.
pub(super) fn is_ignored(path: &Path, fault: &Fault) -> bool {
    let Ok(found) = path.symlink_metadata() else { return matches!(fault.kind, FaultKind::Other) };
    match &fault.kind {
        FaultKind::Other | FaultKind::Refused(_) => true,
        FaultKind::Io(_) => !found.is_file() || found.uid() != rustix::process::geteuid().as_raw(),
        _ => false,
    }
}

/// The refusal of it: what is there, whose it is, and what to do. Nothing of it is touched.
pub(super) fn refusal(path: &Path, named: bool) -> Error {
    let found = path.symlink_metadata();
    let (what, whose) = found.map_or_else(
        |_| ("something".to_owned(), String::new()),
        |facts| (description(&facts), format!(" of {}", owner(facts.uid()))),
    );
    let text = format!("cannot create the journal {}: the name is taken by {what}{whose}", path.display());
    let elsewhere = if named { "name another file with --journal" } else { "use --journal FILE" };
    let advice = format!("Nothing was written. Remove it if it is not needed, or {elsewhere}, or use --no-journal.");
    Error::new(Kind::Refused, text).advise(advice)
}

fn description(facts: &Metadata) -> String {
    let kind = facts.file_type();
    if kind.is_file() {
        return match facts.len() {
            0 => "an empty file".to_owned(),
            bytes => format!("a file of {bytes} bytes that is not a journal or is not readable"),
        };
    }
    let name = if kind.is_dir() {
        "a directory"
    } else if kind.is_symlink() {
        "a symbolic link to something that is not a journal"
    } else if kind.is_fifo() {
        "a FIFO"
    } else if kind.is_block_device() || kind.is_char_device() {
        "a device"
    } else {
        "a special file"
    };
    name.to_owned()
}

/// The user, by name where /etc/passwd has one.
fn owner(uid: u32) -> String {
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then(|| name.to_owned())
    });
    name.map_or_else(|| format!("user {uid}"), |name| format!("user {name}"))
}
