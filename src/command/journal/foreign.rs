//! Files that are no journals, where one is looked for or is to be.
use crate::contract::{EndpointKind, Error, Facts, FileId, Kind, Result, Side};
use crate::ledger::{Fault, FaultKind};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Whether `fault` says that what is at `path` is not a journal of this user's.
pub(super) fn is_foreign(path: &Path, fault: &Fault) -> bool {
    match &fault.kind {
        FaultKind::Other => true,
        FaultKind::Io(error) => {
            let kinds = [io::ErrorKind::PermissionDenied, io::ErrorKind::IsADirectory];
            kinds.contains(&error.kind()) && path.symlink_metadata().is_ok()
        }
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
    let text = format!("the journal of this copy belongs in {}, and there is {what}{whose}", path.display());
    let elsewhere =
        if named { "name another file with --journal" } else { "keep the journal elsewhere by --journal FILE" };
    let advice = format!(
        "Nothing was written. Look at it, and remove it if nobody wants it; or {elsewhere}, or keep none by \
         --no-journal."
    );
    Error::new(Kind::Refused, text).advise(advice)
}

fn description(facts: &Metadata) -> String {
    let kind = facts.file_type();
    if kind.is_file() {
        return match facts.len() {
            0 => "an empty file".to_owned(),
            bytes => format!("a file of {bytes} bytes that is not a journal or may not be read"),
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
        "no regular file"
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

/// Refuses a journal at `path` that would go over a side of the copy, whatever name it has, or that is no regular file.
///
/// # Errors
/// Refused, saying which side.
pub(super) fn apart(path: &Path, sides: [(Side, &Facts); 2]) -> Result<()> {
    // A journal is made under another name, and written anew under a third.
    let with = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    for name in [with(""), with(".new"), with(".compact")] {
        if let Some((side, facts)) = sides.into_iter().find(|(_, facts)| is_side(&name, facts)) {
            let word = match side {
                Side::Source => "source",
                Side::Dest => "destination",
            };
            let what = format!("the journal {} would be written over {word} {}", path.display(), facts.address);
            let advice = "Nothing was written. Give the journal a file of its own with --journal FILE.";
            return Err(Error::new(Kind::Refused, what).on(side).advise(advice));
        }
    }
    match path.metadata() {
        // Opening a FIFO would wait for somebody.
        Ok(facts) if !facts.is_file() => Err(refusal(path, true)),
        _ => Ok(()),
    }
}

/// `path` leads to what `facts` are about, or will once both are made.
fn is_side(path: &Path, facts: &Facts) -> bool {
    match (path.metadata(), facts.id) {
        (Ok(found), Some(FileId::File(dev, inode))) => (found.dev(), found.ino()) == (dev, inode),
        (Ok(found), Some(FileId::Device(number) | FileId::Node(number))) => {
            let kind = found.file_type();
            (kind.is_block_device() || kind.is_char_device()) && found.rdev() == number
        }
        _ => facts.kind == EndpointKind::File && place(path).is_some_and(|place| place == facts.path),
    }
}

/// Where `path` leads, or will once it is made.
fn place(path: &Path) -> Option<PathBuf> {
    let mut path = path.to_owned();
    // As many links as the kernel follows.
    for _ in 0..40 {
        let Ok(onward) = fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("/")).join(onward);
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(fs::canonicalize(parent).ok()?.join(path.file_name()?))
}
