//! Files that are not journals, at paths where a journal is searched for or created.
use crate::core::{Error, Kind, byte_count};
use crate::ledger::{Fault, FaultKind};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// Whether `fault` means that the file at `path` is not a journal of this user.
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

/// Whether a process that writes to the destination may ignore the file at `path`: it is not a journal, or this
/// user cannot distinguish it from a forged one. Any user may create such a file in a world-writable directory,
/// and a symbolic link there may refer to any file.
pub(super) fn is_ignored(path: &Path, fault: &Fault) -> bool {
    let Ok(found) = path.symlink_metadata() else { return matches!(fault.kind, FaultKind::Other) };
    match &fault.kind {
        FaultKind::Other | FaultKind::Refused(_) => true,
        FaultKind::Io(_) => !found.is_file() || found.uid() != rustix::process::geteuid().as_raw(),
        _ => false,
    }
}

/// The error: what exists at `path`, who owns it, and what to do. The file is not changed.
pub(super) fn refusal(path: &Path, fault: &Fault, named: bool) -> Error {
    let found = path.symlink_metadata().ok();
    let what = found.as_ref().map_or_else(
        || "not a journal".to_owned(),
        |facts| format!("{} owned by {}{}", description(facts), owner(facts.uid()), flaw(facts, fault)),
    );
    let text = format!("cannot use {} as the journal: it is {what}", path.display());
    let elsewhere = if named { "name another file with --journal" } else { "use --journal FILE" };
    // Other programs may need a device node or a directory of this name; haul never suggests removing those.
    let advice = match found.is_some_and(|facts| facts.is_file()) {
        true => format!("Nothing was written. Remove it if it is not needed, or {elsewhere}, or use --no-journal."),
        false => format!("Nothing was written. To copy, {elsewhere}, or use --no-journal."),
    };
    Error::new(Kind::Refused, text).advise(advice)
}

/// The type of the file, with its article.
fn description(facts: &Metadata) -> String {
    let kind = facts.file_type();
    if kind.is_file() {
        return match facts.len() {
            0 => "an empty file".to_owned(),
            bytes => format!("a file of {}", byte_count(bytes)),
        };
    }
    let name = if kind.is_dir() {
        "a directory"
    } else if kind.is_symlink() {
        "a symbolic link"
    } else if kind.is_fifo() {
        "a FIFO"
    } else if kind.is_block_device() || kind.is_char_device() {
        "a device"
    } else {
        "a special file"
    };
    name.to_owned()
}

/// Why it cannot be used as a journal, if its type does not explain that already: a clause.
fn flaw(facts: &Metadata, fault: &Fault) -> &'static str {
    match &fault.kind {
        FaultKind::Io(_) if facts.is_file() => " that this user cannot read",
        _ if facts.is_file() && facts.len() > 0 => ", not a journal",
        _ => "",
    }
}

/// The user's name from /etc/passwd, else the number.
fn owner(uid: u32) -> String {
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then(|| name.to_owned())
    });
    name.map_or_else(|| format!("user {uid}"), |name| format!("user {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::RecordFile;

    #[test]
    fn a_refusal_names_the_kind_the_owner_and_the_flaw_of_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let refused = |kind: FaultKind| {
            let fault = Fault { record_file: RecordFile::Journal, line: 0, kind };
            refusal(&path, &fault, true).to_string()
        };
        let me = owner(rustix::process::geteuid().as_raw());
        let start = format!("cannot use {} as the journal: it is", path.display());
        fs::write(&path, "notes").unwrap();
        assert_eq!(refused(FaultKind::Other), format!("{start} a file of 5 bytes owned by {me}, not a journal"));
        let unreadable = FaultKind::Io(io::ErrorKind::PermissionDenied.into());
        assert_eq!(refused(unreadable), format!("{start} a file of 5 bytes owned by {me} that this user cannot read"));
        fs::write(&path, "").unwrap();
        assert_eq!(refused(FaultKind::Other), format!("{start} an empty file owned by {me}"));
        fs::remove_file(&path).unwrap();
        assert_eq!(refused(FaultKind::Other), format!("{start} not a journal"));
    }

    #[test]
    fn a_refusal_suggests_the_removal_of_regular_files_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let advice = || {
            let fault = Fault { record_file: RecordFile::Journal, line: 0, kind: FaultKind::Other };
            refusal(&path, &fault, false).advice
        };
        fs::write(&path, "notes").unwrap();
        assert!(advice().contains("Remove it if it is not needed, or use --journal FILE"), "{}", advice());
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(advice(), "Nothing was written. To copy, use --journal FILE, or use --no-journal.");
    }
}
