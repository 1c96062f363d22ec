//! Blocks that are compared with the dest.
use super::{Pump, Slot};
use crate::core::{Differences, Extent, Op, Request, Route, Side, Unread};
use crate::engine::comparing::readable;
use std::io;
use std::sync::atomic::Ordering::Relaxed;

impl Pump<'_> {
    /// Reads the bytes of the dest that a block of the source is compared with.
    pub(in crate::engine) fn start_comparing(&mut self, mut request: Request) {
        let extent = self.slots[request.slot as usize].extent;
        let dest_bytes = self.dest_bytes_from(extent.offset);
        if dest_bytes < u64::from(request.len) {
            // Only a stream can be longer than planned.
            self.comparing.differences.shorter = Some((Side::Dest, None));
            self.end_at(extent.offset + dest_bytes);
            request.len = dest_bytes as u32;
            self.slots[request.slot as usize].extent.len = dest_bytes;
        }
        if !self.may_write(&request) || request.len == 0 {
            self.queues.release_ticket(Side::Dest, request.ticket);
            self.retire(request);
            return;
        }
        let len = request.len;
        self.read_beside(request, len);
    }

    /// Number of bytes of the dest from `offset` of the copy on.
    pub(in crate::engine) fn dest_bytes_from(&self, offset: u64) -> u64 {
        let size = self.ends[Side::Dest.index()].facts().size;
        size.map_or(u64::MAX, |size| size.saturating_sub(self.plan.dest.map.at(offset)))
    }

    /// Reads `len` bytes of the dest into a second slot, and parks the block meanwhile.
    pub(in crate::engine) fn read_beside(&mut self, block: Request, len: u32) {
        let spare = self.comparing.spares[block.slot as usize].take();
        let (slot, buffer) = spare.expect("reserved with the block's own");
        let (ticket, extent) = (block.ticket, self.slots[block.slot as usize].extent);
        let (side, op, offset) = (Side::Dest, Op::Read, self.plan.dest.map.at(extent.offset));
        self.slots[slot as usize] = Slot::of(extent);
        self.comparing.park(slot, block);
        self.queues.submit(Request { slot, ticket, side, op, offset, len, done: 0, until: len, buffer });
    }

    /// Called when bytes of the dest were read.
    pub(in crate::engine) fn on_dest_read(&mut self, mut request: Request, moved: u32) {
        request.done += moved;
        if let (Route::Delta { .. }, true) = (self.plan.route, request.done == request.len) {
            self.on_dest_known(request);
            return;
        }
        if !self.plan.route.writes() {
            self.totals.write_requests += 1;
            self.totals.compared_bytes += u64::from(moved);
            self.watch.tally.compared_bytes.fetch_add(u64::from(moved), Relaxed);
        }
        if moved == 0 && !self.plan.route.writes() && self.ends[Side::Dest.index()].facts().size.is_none() {
            self.compared_dest_ended(request);
        } else if moved == 0 {
            self.failed_by(request, io::ErrorKind::UnexpectedEof);
        } else if request.done < request.len {
            self.submit_rest(request);
        } else if self.plan.route == Route::ReadBack {
            self.on_block_done(request);
        } else {
            self.all_read(request);
        }
    }

    /// Called when a dest of unknown size has ended: the rest of its block, and later ones, are compared with nothing.
    fn compared_dest_ended(&mut self, mut request: Request) {
        let mut block = self.comparing.take(request.slot).expect("every read of the destination is for a block");
        let extent = &mut self.slots[block.slot as usize].extent;
        extent.len = request.done.into();
        let end = extent.end();
        self.comparing.differences.shorter = Some((Side::Dest, None));
        self.end_at(end);
        (request.len, block.len) = (request.done, request.done);
        if request.len == 0 {
            self.release(request);
            self.retire(block);
        } else {
            self.comparing.park(request.slot, block);
            self.all_read(request);
        }
    }

    /// Called when the bytes of both sides were read.
    pub(in crate::engine) fn on_both_read(&mut self, request: Request) {
        let block = self.comparing.take(request.slot).expect("every read of the destination is for a block");
        let offset = self.slots[block.slot as usize].extent.offset;
        if self.unread.iter().all(Unread::is_empty) {
            self.comparing.compare(offset, &block, &request, 0..request.len);
        } else {
            let block_at = Side::BOTH.map(|side| self.plan.side(side).map.at(offset));
            for part in readable(&self.unread, block_at, Extent::new(offset, request.len.into())).iter() {
                let within = (part.offset - offset) as u32..(part.end() - offset) as u32;
                self.comparing.compare(offset, &block, &request, within);
            }
        }
        self.release(request);
        self.on_block_done(block);
    }

    /// Whether a dest of unknown size has bytes after those that were compared. Only where all before them were.
    fn dest_continues(&mut self) -> bool {
        let reached = self.plan.dest.map.end(self.claimed().end());
        let is_whole = self.failure.is_none() && self.finished && self.in_hand == 0;
        let Some((slot, buffer)) = self.take_slot().filter(|_| is_whole) else { return false };
        let (ticket, side, op, len) = (0, Side::Dest, Op::Read, 1);
        let mut request = Request { slot, ticket, side, op, offset: reached, len, done: 0, until: len, buffer };
        let continues = self.ends[Side::Dest.index()].perform(&mut request).is_ok_and(|moved| moved > 0);
        self.release(request);
        continues
    }

    /// The differences, if the sides were compared. Called at the end.
    pub(in crate::engine) fn differences(&mut self) -> Option<Differences> {
        let Route::Compare { ends_together, .. } = self.plan.route else { return None };
        let mut differences = std::mem::take(&mut self.comparing.differences);
        let dest = self.ends[Side::Dest.index()].facts();
        let reached = self.plan.dest.map.end(self.claimed().end());
        if ends_together && differences.shorter.is_none() && dest.size.is_none() && self.dest_continues() {
            differences.shorter = Some((Side::Source, None));
        }
        if let (true, None, None, Some(size)) = (ends_together, self.plan.len, differences.shorter, dest.size) {
            let lacks = size.saturating_sub(reached);
            differences.shorter = (lacks > 0).then_some((Side::Source, Some(lacks)));
        }
        Some(differences)
    }
}
