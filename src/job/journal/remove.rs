//! Removes journals of copies that will not be resumed.
use super::pending::{PendingCopies, journal_of, nothing};
use crate::core::{Error, Kind, PendingCopy, Result};
use crate::ledger::journal::Journal;
use crate::ledger::{Fault, FaultKind};
use std::path::{Path, PathBuf};

/// A journal to be removed; locked until then, so that no copy begins that needs it.
pub(crate) struct Removal {
    path: PathBuf,
    /// `None`: it is damaged.
    journal: Option<Journal>,
    /// The unfinished copy that would be discarded; `None` if the journal is damaged.
    pub(crate) copy: Option<PendingCopy>,
}

impl Removal {
    /// The journal that `address` names: a journal itself, or the destination of an unfinished copy.
    ///
    /// # Errors
    /// It does not exist; it is not a journal; a running copy uses it: Refused.
    pub(crate) fn of(address: &str) -> Result<Removal> {
        let path = journal_of(address)?;
        let mut found = PendingCopies::default();
        found.take_named(address)?;
        let copy = found.copies.pop();
        match Journal::open(&path) {
            Ok(Some((journal, _))) => Ok(Removal { path, journal: Some(journal), copy }),
            Ok(None) => Err(nothing(address)),
            Err(Fault { kind: FaultKind::Busy, .. }) => Err(running(&path)),
            Err(fault) if is_broken(&fault) => Ok(Removal { path, journal: None, copy: None }),
            Err(fault) => Err(fault.into_error(&path.display().to_string())),
        }
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the journal.
    ///
    /// # Errors
    /// Another file now has its name, or the file system fails.
    pub(crate) fn carry_out(self) -> Result<()> {
        match self.journal {
            Some(journal) => journal.remove(),
            None => Journal::remove_damaged(&self.path),
        }
        .map_err(|fault| fault.into_error(&self.path.display().to_string()))
    }
}

/// Whether it is a journal from which no copy can be resumed.
fn is_broken(fault: &Fault) -> bool {
    matches!(fault.kind, FaultKind::Damaged | FaultKind::Truncated | FaultKind::Invalid(_))
}

fn running(path: &Path) -> Error {
    let what = format!("journal {} is in use: the copy is running", path.display());
    Error::new(Kind::Refused, what).advise("Nothing was removed. Stop that copy first, or wait until it has ended.")
}
