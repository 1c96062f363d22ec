//! Memory that the driver of a node keeps for commands, so that it need not look for some.
use super::node::Node;
use crate::core::Transfers;
use crate::sys::sg;

/// How often the driver is asked to keep more memory: block sizes are found in a few steps.
const RESERVE_ASKED_MAX: u32 = 32;

/// The memory that the driver keeps for a descriptor. A command that fits into it, while no other has it, needs none
/// that is found and cleared for it: half of what an indirect transfer costs.
pub(super) struct Reserve {
    /// The driver copies: it has no use for such memory otherwise.
    of_use: bool,
    /// Bytes that it has, or had to give.
    bytes: u32,
    /// How often it was asked for more.
    asked: u32,
}

impl Reserve {
    /// Of a descriptor that has been asked for nothing yet.
    pub(super) fn new(transfers: Transfers) -> Self {
        Reserve { of_use: transfers == Transfers::Copied, bytes: 0, asked: 0 }
    }

    /// A transfer that was to go without a copy did, or did not.
    pub(super) fn moved(&mut self, direct: bool) {
        self.of_use |= !direct;
    }

    /// Has the driver keep memory for commands of `len` bytes.
    pub(super) fn fit(&mut self, node: &Node, len: u32) {
        if !self.of_use || len <= self.bytes || self.asked >= RESERVE_ASKED_MAX {
            return;
        }
        self.asked += 1;
        // Busy while a command has it: the next one asks again. Whatever it says, commands go as they did.
        if let Ok(kept) = sg::reserve(node.fd(), len) {
            self.bytes = kept.max(len);
        }
    }
}
