//! What this machine and this process may do, apart from either side.

/// What this machine and this process may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Why io_uring cannot be used here; `None`: it can.
    pub ring_refused: Option<String>,
}
