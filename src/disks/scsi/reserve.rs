//! The reserved buffer of the sg driver, which saves allocations for commands.
use super::node::Node;
use crate::core::Transfers;
use crate::sys::sg;

/// Maximum number of requests to enlarge the buffer: auto-tuning finds the block size in a few steps.
const RESERVE_REQUESTS_MAX: u32 = 32;

/// The reserved buffer of a descriptor. A command that fits into it, while no other command uses it, needs no memory
/// allocation and clearing, which is half the cost of an indirect transfer.
pub(super) struct Reserve {
    /// Whether the driver copies data; otherwise it does not use the buffer.
    of_use: bool,
    /// Current or expected size of the buffer.
    bytes: u32,
    /// Number of requests to enlarge it.
    requests: u32,
}

impl Reserve {
    /// The state for a new descriptor.
    pub(super) fn new(transfers: Transfers) -> Self {
        Reserve { of_use: transfers == Transfers::Copied, bytes: 0, requests: 0 }
    }

    /// Records whether a transfer requested as direct I/O was direct.
    pub(super) fn moved(&mut self, direct: bool) {
        self.of_use |= !direct;
    }

    /// Enlarges the buffer for commands of `len` bytes.
    pub(super) fn fit(&mut self, node: &Node, len: u32) {
        if !self.of_use || len <= self.bytes || self.requests >= RESERVE_REQUESTS_MAX {
            return;
        }
        self.requests += 1;
        // Fails while a command uses the buffer; the next request tries again. A failure has no effect on commands.
        if let Ok(reserved) = sg::reserve(node.fd(), len) {
            self.bytes = reserved.max(len);
        }
    }
}
