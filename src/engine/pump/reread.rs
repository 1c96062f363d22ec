//! Blocks that an earlier run copied, and that are read again because digests of all data need every byte.
use super::{Pump, Slot};
use crate::core::{Error, Kind, Request, Side};
use std::sync::atomic::Ordering::Relaxed;

impl Pump<'_> {
    /// A block that the dest has from an earlier run is only digested: it is not written, and is durable already.
    pub(super) fn on_reread(&mut self, request: Request) {
        if !self.may_write(&request) {
            self.retire(request);
            return;
        }
        let Slot { extent, zero, .. } = self.slots[request.slot as usize];
        self.totals.reread_bytes += if zero { 0 } else { extent.len };
        self.watch.tally.already_bytes.fetch_add(extent.len, Relaxed);
        self.digest(request);
    }

    /// A failure to read such a block, with what to do about it: the copy itself does not need the block.
    pub(super) fn advise_on_reread(&self, request: &Request, error: Error) -> Error {
        let is_reread = self.slots[request.slot as usize].reread;
        if !is_reread || error.kind != Kind::Io || request.side != Side::Source {
            return error;
        }
        error.advise(
            "An earlier run copied this data. To copy the rest without reading it again, omit --hash and --manifest; \
             with --on-error skip haul reads it from the destination.",
        )
    }
}
