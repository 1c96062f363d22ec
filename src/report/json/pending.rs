use super::{SCHEMA, object};
use crate::core::{PendingCopy, PendingSide};
use crate::report::pending::command;
use crate::report::printable::shell_line_as_it_is;
use serde::Serialize;
use std::path::PathBuf;

/// Unfinished copies as JSON, and the journals that cannot be read with the reason.
pub fn journals(copies: &[PendingCopy], faults: &[(PathBuf, String)]) -> impl Serialize {
    let unreadable = |(path, error): &(PathBuf, String)| {
        let error = error.clone();
        object! { journal: path.to_string_lossy().into_owned(), error }
    };
    object! {
        schema: SCHEMA,
        report: "journals",
        copies: copies.iter().map(pending).collect::<Vec<_>>(),
        unreadable: faults.iter().map(unreadable).collect::<Vec<_>>(),
    }
}

/// One unfinished copy.
pub(super) fn pending(copy: &PendingCopy) -> impl Serialize {
    object! {
        journal: copy.journal.to_string_lossy(),
        source: side(&copy.source),
        dest: side(&copy.dest),
        dest_now: copy.dest_now.as_ref().map(|path| path.to_string_lossy()),
        len_bytes: copy.len_bytes,
        durable_bytes: copy.durable_bytes,
        unread_bytes: copy.unread_bytes,
        of_ranges: copy.of_ranges,
        began: &copy.began,
        saved: &copy.saved,
        running: copy.running,
        continue_command: command(copy).map(shell_line_as_it_is),
    }
}

fn side(side: &PendingSide) -> impl Serialize {
    let PendingSide { path, kind, offset_bytes, size_bytes, model, serial } = side;
    object! { path, kind, offset_bytes, size_bytes, model, serial }
}
