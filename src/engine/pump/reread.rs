//! Blocks that an earlier run copied, and that are read again because digests of all data need them.
use super::{Pump, Slot};
use crate::core::{Error, Kind, Request, Side};
use std::sync::atomic::Ordering::Relaxed;

impl Pump<'_> {
    /// Passes a block that an earlier run copied to the digests: it is durable already and not written.
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

    /// Adds advice to a failure to read such a block: the copy itself does not need it.
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
