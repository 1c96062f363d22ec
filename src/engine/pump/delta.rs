//! A block's way when only what differs is written: the same bytes of the dest are read first, and stay beside it until
//! it has arrived.
use super::Pump;
use crate::core::stages::same_prefix;
use crate::core::{Request, Route};

impl Pump<'_> {
    /// Reads the bytes of the dest that a block may not differ from. What lies behind its end differs.
    pub(in crate::engine) fn start_delta(&mut self, block: Request) {
        let extent = self.slots[block.slot as usize].extent;
        let len = self.dest_bytes_from(extent.offset).min(u64::from(block.len)) as u32;
        if len == 0 || !self.may_write(&block) { self.start_writing(block) } else { self.read_beside(block, len) }
    }

    /// The bytes of the dest have come, or as many of them as can be read.
    pub(in crate::engine) fn on_dest_known(&mut self, mut there: Request) {
        there.len = there.done;
        let block = self.comparing.take(there.slot).expect("every read of the destination is for a block");
        // From here on they go with the block and are given back with it.
        self.comparing.park(block.slot, there);
        self.start_writing(block);
    }

    /// Whether the bytes from `request.done` on are on the dest already, and how many are alike in that, in whole
    /// pieces; `None`: nothing is known of what is there.
    pub(in crate::engine) fn is_there(&self, request: &Request) -> Option<(bool, u32)> {
        let Route::Delta { piece_bytes } = self.plan.route else { return None };
        let there = self.comparing.beside(request.slot).filter(|there| request.done < there.len)?;
        let into_piece = request.done % piece_bytes;
        if into_piece > 0 {
            // A short write left off inside a piece that differs.
            return Some((false, (piece_bytes - into_piece).min(request.len - request.done)));
        }
        let from = request.done as usize;
        let (ours, theirs) =
            (&request.buffer.bytes()[from..there.len as usize], &there.buffer.bytes()[from..there.len as usize]);
        let (same, len) = same_prefix(ours, theirs, piece_bytes as usize);
        Some((same, len as u32))
    }
}
