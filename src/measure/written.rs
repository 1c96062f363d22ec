//! What a measurement has overwritten, and what was restored.
use crate::core::Extent;
use std::path::PathBuf;

/// What was overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// A new file.
    NewFile,
    /// Extents of a device whose original data is in an undo journal.
    Kept,
    /// A device whose data is lost.
    All,
}

impl Ground {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Ground::NewFile => "new file",
            Ground::Kept => "kept",
            Ground::All => "all",
        }
    }
}

/// What a measurement has overwritten, and what was restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// What was overwritten.
    pub ground: Ground,
    /// Maximum number of overwritten bytes.
    pub bytes: u64,
    /// Number of extents that contain them.
    pub places: usize,
    /// Number of overwritten bytes whose original data was restored; `None` if restoring failed, or nothing was saved.
    pub put_back_bytes: Option<u64>,
    /// What could not be restored; `None` if everything was, or nothing was saved.
    pub left: Option<NotRestored>,
}

/// Original data that could not be restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotRestored {
    /// Path of the undo journal with the original data.
    pub journal: PathBuf,
    /// The extents that were not restored; empty if only removing the journal failed.
    pub places: Vec<Extent>,
}
