//! What is done to bytes that are held.

/// What is done to the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// They are read: no process may write them meanwhile.
    Read,
    /// They are written: no process may read or write them meanwhile.
    Write,
}
