//! Journals of earlier copies whose claims are about to become invalid: a process that writes to a dest removes
//! them first.
use super::waiting::Waiting;
use super::{about, foreign, place};
use crate::core::{Error, Facts, Kind, byte_count};
use crate::disks::probe;
use crate::files::{DirectoryEntry, FileError, Opening, canonical};
use crate::ledger::FaultKind;
use crate::ledger::journal::Head;
use std::path::{Path, PathBuf};

/// A journal that claims bytes of a dest, and must be removed before a write there.
pub(crate) struct Stale {
    path: PathBuf,
    /// Bytes that it claims; `None`: it is damaged, or in use.
    durable_bytes: Option<u64>,
    /// Another process is using it.
    busy: bool,
}

impl Stale {
    /// The journals about `dest`, except the one at `except`: that of the dest itself, those of the partitions
    /// of a disk, and that of the disk of a partition.
    pub(crate) fn of(dest: &Facts, except: Option<&Path>) -> Vec<Stale> {
        let mut found = Vec::new();
        let may_be = |path: &PathBuf| Some(path.as_path()) != except;
        let own = place::of(dest);
        let is_about = |path: &Path, head: &Head| match own.as_deref() == Some(path) {
            true => about::is_about(head, dest),
            false => about::is_about_related(head, dest),
        };
        for path in place::about(dest).into_iter().filter(may_be) {
            match place::open(&path) {
                Ok(None) => {}
                // A journal of a copy to another destination, stored there by `--journal`.
                Ok(Some(journal)) if !is_about(&path, journal.head()) => {}
                Ok(Some(journal)) => {
                    let durable_bytes = Some(journal.state().durable.total_bytes());
                    found.push(Stale { path, durable_bytes, busy: false });
                }
                // A file that is not a journal of this user must not be removed.
                Err(fault) if foreign::is_ignored(&path, &fault) => {}
                Err(fault)
                    if matches!(fault.kind, FaultKind::Busy)
                        && about::peek(&path).is_some_and(|head| !is_about(&path, &head)) => {}
                Err(fault) => {
                    let busy = matches!(fault.kind, FaultKind::Busy);
                    found.push(Stale { path, durable_bytes: None, busy });
                }
            }
        }
        found
    }

    /// A damaged one.
    pub(super) fn damaged(path: &Path) -> Stale {
        Stale { path: path.to_owned(), durable_bytes: None, busy: false }
    }

    /// Its path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The copy that could be resumed with it; `of_kin`: it is to another device that shares bytes with the
    /// dest.
    pub(super) fn waits(&self, of_related: bool) -> Option<Waiting> {
        let durable_bytes = self.durable_bytes.filter(|&bytes| bytes > 0)?;
        Some(Waiting { path: self.path.clone(), durable_bytes, of_related })
    }

    /// Those about the dest at `leads_there`, a path below /proc/self/fd or any other. It is probed only if
    /// there may be a journal.
    pub(crate) fn of_path(leads_there: &str) -> Vec<Stale> {
        let Ok(path) = canonical(Path::new(leads_there)) else { return Vec::new() };
        if !place::may_be_about(&path) {
            return Vec::new();
        }
        // A file that cannot be probed was opened anyway, and cannot be a dest of a copy.
        path.to_str().and_then(|path| probe::dest(path).ok()).map_or_else(Vec::new, |dest| Stale::of(&dest, None))
    }

    /// The warning: a clause.
    pub(crate) fn warning(&self) -> String {
        let path = self.path.display();
        match self.durable_bytes {
            _ if self.busy => format!("another process is using journal {path}, which covers the same bytes"),
            Some(bytes) => format!(
                "removed journal {path}: this write makes it impossible to resume that unfinished copy ({} durable)",
                byte_count(bytes)
            ),
            None => format!("removed journal {path}: this write makes it impossible to resume that unfinished copy"),
        }
    }

    /// Removes the journal.
    ///
    /// # Errors
    /// The file system fails; Refused if a running copy uses it.
    pub(crate) fn end(&self) -> Result<(), Error> {
        if self.busy {
            let what = format!("another copy is writing to the same bytes and uses journal {}", self.path.display());
            let advice = "Nothing was written. Wait until that copy ends, or stop it, then run the command again.";
            return Err(Error::new(Kind::Refused, what).advise(advice));
        }
        let removed = DirectoryEntry::of(&self.path).map_err(FileError::from).and_then(|place| {
            match place.open(Opening::Own)? {
                Some(file) => place.remove(file),
                None => Ok(()),
            }
        });
        removed.map_err(|error| {
            let what = format!("cannot remove journal {}", self.path.display());
            let error = Error::new(Kind::Io, what).because(error.into());
            error.advise("It would become wrong with this write. Remove it, then run the command again.")
        })
    }
}
