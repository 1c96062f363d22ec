//! Unfinished copies that wait to be gone on with, when a copy is to begin at the start: nobody's work is given up
//! without a word.
use super::ExistingJournal;
use crate::core::{EndpointKind, Plan};
use std::path::PathBuf;

/// An unfinished copy whose journal says that some of its bytes are durable.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub(super) path: PathBuf,
    pub(super) durable_bytes: u64,
    /// It is to another device that shares bytes with the dest: its disk, or a partition of it.
    pub(super) of_kin: bool,
}

impl Waiting {
    /// A clause.
    fn words(&self, dest: &str) -> String {
        let whose = if self.of_kin { "a partition or the disk of destination" } else { "destination" };
        let (bytes, path) = (self.durable_bytes, self.path.display());
        format!("an unfinished copy to {whose} {dest} waits: {bytes} bytes of it are durable, as journal {path} says")
    }
}

/// What is to be asked about an unfinished copy.
pub(crate) struct Unfinished {
    /// Which it is: a clause.
    pub(crate) what: String,
    /// What the user can do where there is no terminal: the start of a sentence.
    pub(crate) ways: &'static str,
    /// This command can go on with it.
    pub(crate) can_resume: bool,
}

/// What is to become of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// It is gone on with.
    Resume,
    /// It is given up.
    Restart,
}

impl ExistingJournal {
    /// What a dry run says of unfinished copies that wait.
    pub(crate) fn foretell(&self, dest: &str) -> Vec<String> {
        let words = |waiting: &Waiting| {
            let ways = if waiting.of_kin || !self.source_lasts() {
                "--restart gives it up"
            } else {
                "--resume goes on with it, --restart gives it up"
            };
            format!("{}; this command asks on a terminal, and is refused elsewhere: {ways}", waiting.words(dest))
        };
        self.waiting.iter().map(words).collect()
    }

    /// Whether this copy's source can be read again, so that `--resume` can be said of it.
    fn source_lasts(&self) -> bool {
        let kind = self.head.source.kind.as_str();
        [EndpointKind::File, EndpointKind::Block].iter().any(|lasting| lasting.name() == kind)
    }

    /// The unfinished copy that waits, if any does; its `plan` is what would be done instead. `can_resume`: this
    /// command can go on with one.
    pub(crate) fn unfinished(&self, plan: &Plan, can_resume: bool) -> Option<Unfinished> {
        let waiting = self.waiting.first()?;
        // Of a journal in a place of its own this command knows nothing but that.
        let other = |waiting: &Waiting| waiting.of_kin || self.named && self.path.as_deref() != Some(&waiting.path);
        let can_resume = can_resume && self.source_lasts() && !self.waiting.iter().any(other);
        let ways = match (waiting.of_kin, can_resume) {
            (true, _) => "Finish that copy by its own command with --resume, or give it up with --restart",
            (false, false) if !self.source_lasts() => {
                "This copy's source cannot be read again, so it cannot go on with that one: begin with --restart"
            }
            (false, true) => "Go on with it by --resume, or begin anew with --restart",
            (false, false) => {
                "Go on with it by a copy to that destination alone with --resume, or begin anew with --restart"
            }
        };
        Some(Unfinished { what: waiting.words(&plan.dest.address), ways, can_resume })
    }
}
