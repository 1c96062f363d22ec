//! Whether a block's bytes are the same when it has been written as when it had been read. Bad memory, or a fault of
//! this program that mixes blocks up, would otherwise arrive with the right digest: digests are taken of what was
//! written.
use super::Pump;
use crate::core::stages::fingerprint;
use crate::core::{Error, Kind, Request, Route, Side};

impl Pump<'_> {
    /// Remembers what the bytes of a block are, where that is asked for; the block is not on its way to the dest yet.
    pub(super) fn take_fingerprint(&mut self, request: &Request) {
        let slot = &self.slots[request.slot as usize];
        let writes = matches!(self.plan.route, Route::Copy | Route::Delta { .. });
        if self.memory_check.is_none() || !writes || slot.zero && !self.fills_zeros() {
            return;
        }
        let taken = fingerprint_of(request, slot.extent.offset);
        self.slots[request.slot as usize].fingerprint = Some(taken);
    }

    /// Whether the bytes of a block that was written are no longer those that were read.
    pub(super) fn has_changed(&mut self, request: &Request) -> bool {
        let slot = &mut self.slots[request.slot as usize];
        let (Some(check), Some(taken)) = (&mut self.memory_check, slot.fingerprint.take()) else { return false };
        let same = taken == fingerprint_of(request, slot.extent.offset);
        if same {
            check.unchanged_bytes += u64::from(request.len);
        }
        !same
    }

    /// Ends the copy: nothing from this block on is claimed.
    pub(super) fn fail_changed(&mut self, request: Request) {
        let extent = self.slots[request.slot as usize].extent;
        let (address, at) = (&self.plan.dest.address, self.plan.dest.offset + extent.offset);
        let end = at + extent.len;
        let what = format!(
            "bytes {at} to {end} for destination {address} changed in memory between reading and writing: wrong data \
             may have been written"
        );
        let error = Error { offset: Some(at), ..Error::new(Kind::Io, what).on(Side::Dest) };
        let error = error.advise("Test the memory of this computer (memtest86+) before copying again.");
        if let Some(check) = self.memory_check.as_mut().filter(|check| check.changed_at.is_none_or(|first| at < first))
        {
            check.changed_at = Some(at);
        }
        self.fail_block(request, error);
    }
}

fn fingerprint_of(request: &Request, offset: u64) -> u128 {
    fingerprint(offset, &request.buffer.bytes()[..request.len as usize])
}
