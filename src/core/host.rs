//! Capabilities of this machine and process, independent of the sides of a copy.

/// Capabilities of this machine and process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Why io_uring cannot be used; `None` if it can.
    pub ring_refused: Option<String>,
}
