//! A journal while a copy runs, and after it.
use super::journal_writer::JournalWriter;
use crate::core::{CheckpointPlan, Ended, Endpoint, Error, ExtentSet, Kept, Kind, Outcome, Result, Side};
use std::sync::Arc;

/// A journal of a copy that is about to run.
pub(crate) struct ActiveJournal {
    pub(crate) keeping: CheckpointPlan,
    pub(crate) left: FinishedJournal,
}

impl ActiveJournal {
    /// Records the data that `dest` already has according to a manifest: an interrupted copy is resumed from
    /// there, and the manifest is not used again before the copy completes.
    ///
    /// # Errors
    /// `dest` cannot be flushed, or the journal cannot be written.
    pub(crate) fn adopt(&mut self, present: &ExtentSet, dest: &Arc<dyn Endpoint>) -> Result<()> {
        dest.make_durable().map_err(|source| {
            Error::new(Kind::Io, "cannot flush the existing data of the destination").on(Side::Dest).because(source)
        })?;
        self.left.0.begin()?;
        if !present.is_empty() {
            self.keeping.sink.keep(&Kept { bytes: present.clone(), upload: None }, &ExtentSet::new())?;
        }
        self.keeping.already = present.clone();
        Ok(())
    }

    /// Removes the journal of a copy that is not made.
    pub(crate) fn discard(&self) {
        let _ = self.left.0.close(true, None);
    }
}

/// The journal after a copy.
pub(crate) struct FinishedJournal(pub(super) JournalWriter);

impl FinishedJournal {
    /// Removes the journal of a copy that no longer needs one; otherwise records its path in `outcome`. A
    /// complete copy with unreadable sectors still needs it: they may be readable another time. One of a damaged source
    /// is void: what was copied is wrong, and is not copied again. Nothing more is written to `dest`.
    pub(crate) fn close(&self, outcome: &mut Outcome, dest: &Arc<dyn Endpoint>) {
        let all_read = outcome.unread[Side::Source.index()].is_empty();
        let is_over = match &outcome.ended {
            Ended::Complete => all_read,
            Ended::Failed(error) => error.kind == Kind::Corrupt && error.side == Some(Side::Source),
            _ => false,
        };
        let journal_end = self.0.close(is_over, Some(dest));
        outcome.notes.extend(journal_end.note);
        if let Some(kept) = &mut outcome.kept {
            (kept.left, kept.unread_bytes) = (journal_end.left, journal_end.unread_bytes);
        }
    }
}
