//! Blocks of the route Delta: the same bytes of the dest are read first, and only differing pieces are written.
use super::{Pump, Slot};
use crate::core::stages::same_prefix;
use crate::core::{Request, Route};
use crate::engine::delta_method::Method;

impl Pump<'_> {
    /// Reads the bytes of the dest for comparison with a block, if that is not slower than writing it. Bytes past the
    /// end of the dest count as different.
    pub(in crate::engine) fn start_delta(&mut self, block: Request) {
        let Slot { extent, zero, .. } = self.slots[block.slot as usize];
        let len = self.dest_bytes_from(extent.offset).min(u64::from(block.len)) as u32;
        if len == 0 || !self.may_write(&block) {
            self.start_writing(block);
            return;
        }
        // Zeros that the dest has already must not allocate anything.
        let method = if zero { Method::WriteDifferences } else { self.assign_method(&block) };
        match method {
            Method::WriteDifferences => self.read_beside(block, len),
            Method::WriteAll => self.start_writing(block),
        }
    }

    fn assign_method(&mut self, block: &Request) -> Method {
        let (method, batch) = self.delta.assign(block.len.into());
        self.slots[block.slot as usize].batch = Some(batch);
        method
    }

    /// Passes a finished block to the choice of the method.
    pub(super) fn measure_method(&mut self, block: &Request) {
        let Slot { batch, is_written, .. } = self.slots[block.slot as usize];
        if let Some(batch) = batch {
            let disturbed = self.queues.waited_for_time;
            self.delta.complete(batch, block.len.into(), is_written, disturbed, self.meter.elapsed().as_secs_f64());
        }
    }

    /// Called when the bytes of the dest were read, as far as they are readable.
    pub(in crate::engine) fn on_dest_known(&mut self, mut dest_read: Request) {
        dest_read.len = dest_read.done;
        let block = self.comparing.take(dest_read.slot).expect("every read of the destination is for a block");
        // From here on they are parked with the block and released with it.
        self.comparing.park(block.slot, dest_read);
        self.start_writing(block);
    }

    /// Whether the dest already has the bytes from `request.done` on, and the number of bytes for which that stays the
    /// same, in whole pieces; `None` if the content of the dest is unknown.
    pub(in crate::engine) fn is_unchanged(&self, request: &Request) -> Option<(bool, u32)> {
        let Route::Delta { piece_bytes } = self.plan.route else { return None };
        let dest_read = self.comparing.beside(request.slot).filter(|dest_read| request.done < dest_read.len)?;
        let into_piece = request.done % piece_bytes;
        if into_piece > 0 {
            // A short write ended inside a differing piece.
            return Some((false, (piece_bytes - into_piece).min(request.len - request.done)));
        }
        let from = request.done as usize;
        let (ours, theirs) = (
            &request.buffer.bytes()[from..dest_read.len as usize],
            &dest_read.buffer.bytes()[from..dest_read.len as usize],
        );
        let (same, len) = same_prefix(ours, theirs, piece_bytes as usize);
        Some((same, len as u32))
    }
}
