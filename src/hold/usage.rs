//! The use of locked bytes.

/// The use of locked bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Reading: no other process may write them meanwhile.
    Read,
    /// Writing: no other process may read or write them meanwhile.
    Write,
}
