//! Checks that a block did not change in memory between reading and writing. Otherwise faulty memory, or a bug in haul
//! that mixes up blocks, would be digested as if correct: digests are computed from what was written.
use super::Pump;
use crate::core::stages::fingerprint;
use crate::core::{Error, Kind, Request, Route, Side};

impl Pump<'_> {
    /// Computes the fingerprint of a block, if requested, before it is submitted to the dest.
    pub(super) fn take_fingerprint(&mut self, request: &Request) {
        let slot = &self.slots[request.slot as usize];
        let writes = matches!(self.plan.route, Route::Copy | Route::Delta { .. });
        if self.memory_check.is_none() || !writes || slot.zero && !self.fills_zeros() {
            return;
        }
        let taken = fingerprint_of(request, slot.extent.offset);
        self.slots[request.slot as usize].fingerprint = Some(taken);
    }

    /// Whether the bytes of a written block differ from those that were read.
    pub(super) fn has_changed(&mut self, request: &Request) -> bool {
        let slot = &mut self.slots[request.slot as usize];
        let (Some(check), Some(taken)) = (&mut self.memory_check, slot.fingerprint.take()) else { return false };
        let same = taken == fingerprint_of(request, slot.extent.offset);
        if same {
            check.unchanged_bytes += u64::from(request.len);
        }
        !same
    }

    /// Fails the copy: nothing from this block on is claimed.
    pub(super) fn fail_changed(&mut self, request: Request) {
        let extent = self.slots[request.slot as usize].extent;
        let (address, at) = (&self.plan.dest.address, self.plan.dest.map.at(extent.offset));
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
