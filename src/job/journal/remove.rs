//! Journals that are to be removed, because nobody wants to continue their copies.
use super::pending::{PendingCopies, journal_of, nothing};
use crate::core::{Error, Kind, PendingCopy, Result};
use crate::ledger::journal::Journal;
use crate::ledger::{Fault, FaultKind};
use std::path::{Path, PathBuf};

/// A journal that is to be removed; locked until then, so that no copy begins that needs it.
pub(crate) struct Removal {
    path: PathBuf,
    /// `None`: it is damaged.
    journal: Option<Journal>,
    /// What would be given up; `None` where it is damaged.
    pub(crate) copy: Option<PendingCopy>,
}

impl Removal {
    /// The journal that `address` names: a journal itself, or the destination of an unfinished copy.
    ///
    /// # Errors
    /// There is none; it is something else; a running copy uses it: Refused.
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

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it.
    ///
    /// # Errors
    /// Another file has its name by now, or the file system fails.
    pub(crate) fn carry_out(self) -> Result<()> {
        match self.journal {
            Some(journal) => journal.remove(),
            None => Journal::remove_damaged(&self.path),
        }
        .map_err(|fault| fault.into_error(&self.path.display().to_string()))
    }
}

/// It is a journal, of which no copy can be continued.
fn is_broken(fault: &Fault) -> bool {
    matches!(fault.kind, FaultKind::Damaged | FaultKind::Truncated | FaultKind::Senseless(_))
}

fn running(path: &Path) -> Error {
    let what = format!("journal {} is in use: the copy is running", path.display());
    Error::new(Kind::Refused, what).advise("Nothing was removed. Stop that copy first, or wait until it has ended.")
}
