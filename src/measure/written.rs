//! What was written over for measuring, and what became of it.
use crate::core::Extent;
use std::path::PathBuf;

/// What was written over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// A file that was made for it.
    NewFile,
    /// Places of a device whose bytes were kept.
    Kept,
    /// A device whose bytes are lost.
    All,
}

impl Ground {
    /// The word for programs.
    pub fn name(self) -> &'static str {
        match self {
            Ground::NewFile => "new file",
            Ground::Kept => "kept",
            Ground::All => "all",
        }
    }
}

/// What was written over for measuring, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// What it was.
    pub ground: Ground,
    /// Bytes that measuring may have written over.
    pub bytes: u64,
    /// Places they lie in.
    pub places: usize,
    /// Of what was kept: bytes that had been written over, and have their originals again. `None`: putting them back
    /// failed, or nothing was kept.
    pub put_back_bytes: Option<u64>,
    /// What could not be put back; `None` where everything was, or nothing was kept.
    pub left: Option<NotRestored>,
}

/// What could not be put back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotRestored {
    /// The undo journal, in which its originals are.
    pub journal: PathBuf,
    /// Where it is. None: all is back, but the journal could not be removed.
    pub places: Vec<Extent>,
}
