//! What is done to bytes that are held.

/// What is done to the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// They are read: nobody is to write them meanwhile.
    Read,
    /// They are written: nobody is to read or write them meanwhile.
    Write,
}
