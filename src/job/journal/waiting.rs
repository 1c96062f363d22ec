//! Unfinished copies that could be resumed, when a copy is to start from the beginning: none is discarded
//! without asking.
use crate::core::count;
use std::path::PathBuf;

/// An unfinished copy whose journal claims bytes.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub(super) path: PathBuf,
    pub(super) durable_bytes: u64,
    /// It is to another device that shares bytes with the dest: its disk, or a partition of it.
    pub(super) of_related: bool,
}

impl Waiting {
    /// The copy: a clause.
    pub(super) fn words(&self, dest: &str) -> String {
        let whose = if self.of_related { "a partition or the disk of destination" } else { "destination" };
        let (durable, path) = (count(self.durable_bytes, "byte is", "bytes are"), self.path.display());
        format!("unfinished copy to {whose} {dest}: {durable} durable, according to journal {path}")
    }
}

/// The question about an unfinished copy.
pub(crate) struct Unfinished {
    /// The copy: a clause.
    pub(crate) what: String,
    /// What the user can do without a terminal: the start of a sentence.
    pub(crate) ways: &'static str,
    /// This command can resume it.
    pub(crate) can_resume: bool,
}

/// The decision about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResumeChoice {
    /// Resume it.
    Resume,
    /// Discard it.
    Restart,
}
