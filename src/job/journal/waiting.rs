//! Unfinished copies that wait to be continued, when a copy is to begin at the start: no work is abandoned without
//! notice.
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
    pub(super) fn words(&self, dest: &str) -> String {
        let whose = if self.of_kin { "a partition or the disk of destination" } else { "destination" };
        let (bytes, path) = (self.durable_bytes, self.path.display());
        format!("unfinished copy to {whose} {dest}: {bytes} bytes are durable, according to journal {path}")
    }
}

/// What is to be asked about an unfinished copy.
pub(crate) struct Unfinished {
    /// Which it is: a clause.
    pub(crate) what: String,
    /// What the user can do where there is no terminal: the start of a sentence.
    pub(crate) ways: &'static str,
    /// This command can continue it.
    pub(crate) can_resume: bool,
}

/// What is to become of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResumeChoice {
    /// It is continued.
    Resume,
    /// It is abandoned.
    Restart,
}
