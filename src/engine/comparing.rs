//! A block's way when nothing is written: the same bytes of the dest are read beside it, and both are compared.
use super::pump::{Pump, Slot};
use crate::core::stages::{differences, first_difference};
use crate::core::{Differences, Extent, ExtentSet, Facts, Op, Plan, Request, Route, Side, Unread};
use std::io;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

/// What is compared with what, and what came of it so far.
pub(super) struct Comparing {
    /// Blocks of the source, by the slot of the request that reads the same bytes of the dest.
    waiting: Vec<Option<Request>>,
    parked: u32,
    /// Differences are told in runs of this many bytes of the dest.
    sector_bytes: u64,
    /// The end of the dest, or of what is compared of it.
    end: u64,
    pub(super) differences: Differences,
}

impl Comparing {
    pub(super) fn new(plan: &Plan, dest: &Facts) -> Self {
        // Of a file too: whoever looks for damage thinks in sectors.
        let sector_bytes = u64::from(dest.logical_block_bytes.max(512));
        let mut differences = Differences::default();
        if let Route::Compare { shorter, .. } = plan.route {
            differences.shorter = shorter.map(|(side, lacks)| (side, Some(lacks)));
        }
        let end = plan.len.map(|len| plan.dest.offset + len).or(dest.size).unwrap_or(u64::MAX);
        Comparing { waiting: Vec::new(), parked: 0, sector_bytes, end, differences }
    }

    /// There are so many slots from now on; nothing waits.
    pub(super) fn slots(&mut self, count: usize) {
        self.waiting.clear();
        self.waiting.resize_with(count, || None);
    }

    /// Blocks that wait for the bytes of the dest.
    pub(super) fn parked(&self) -> u32 {
        self.parked
    }

    pub(super) fn park(&mut self, slot: u32, block: Request) {
        self.waiting[slot as usize] = Some(block);
        self.parked += 1;
    }

    /// What is kept beside the block in `slot`.
    pub(super) fn beside(&self, slot: u32) -> Option<&Request> {
        self.waiting[slot as usize].as_ref()
    }

    /// The block of the source that waits for what `slot` reads.
    pub(super) fn take(&mut self, slot: u32) -> Option<Request> {
        let block = self.waiting[slot as usize].take()?;
        self.parked -= 1;
        Some(block)
    }

    /// Compares the bytes `part` of a block, which begins at `offset` of the copy, with those of the dest.
    fn compare(&mut self, offset: u64, source: &Request, dest: &Request, part: Range<u32>) {
        let bytes = part.start as usize..part.end as usize;
        let (ours, theirs) = (&source.buffer.bytes()[bytes.clone()], &dest.buffer.bytes()[bytes]);
        let (found, sector, end) = (&mut self.differences, self.sector_bytes, self.end);
        let whole_start = dest.offset - offset;
        let (offset, on_dest) = (offset + u64::from(part.start), dest.offset + u64::from(part.start));
        differences(ours, theirs, on_dest, sector, |extent| {
            let within = (extent.offset - on_dest) as usize..(extent.end() - on_dest) as usize;
            let (one, other) = (&ours[within.clone()], &theirs[within.clone()]);
            let count = one.iter().zip(other).filter(|(one, other)| one != other).count() as u64;
            let first = within.start + first_difference(one, other).unwrap_or(0);
            // Whole sectors, though a block may begin or end within one.
            let start = (extent.offset - extent.offset % sector).max(whole_start);
            let stop = extent.end().next_multiple_of(sector).min(end);
            found.add(Extent::new(start - whole_start, stop - start), offset + first as u64, count);
        });
    }
}

/// The parts of `block` that could be read on both sides, which begin at `starts`. Offsets are those of the copy.
fn readable(unread: &[Unread; 2], starts: [u64; 2], block: Extent) -> ExtentSet {
    let mut parts: ExtentSet = [block].into_iter().collect();
    for (unread, start) in unread.iter().zip(starts) {
        let there = Extent::new(start + block.offset, block.len);
        unread.runs.within(there).for_each(|bad| parts.remove(Extent::new(bad.offset - start, bad.len)));
    }
    parts
}

impl Pump<'_> {
    /// There is a slot for another block: one that is compared needs a second for the bytes of the dest.
    pub(super) fn has_room(&self) -> bool {
        match self.plan.route {
            Route::Copy | Route::ReadBack => !self.free.is_empty(),
            Route::Compare { .. } | Route::Delta { .. } => {
                self.free.len() as u32 > self.in_hand - self.comparing.parked() + 1
            }
        }
    }

    /// Reads the bytes of the dest that a block of the source is to be compared with.
    pub(super) fn start_comparing(&mut self, mut request: Request) {
        let extent = self.slots[request.slot as usize].extent;
        let there = self.dest_bytes_from(extent.offset);
        if there < u64::from(request.len) {
            // Only a stream can be longer than the plan knew.
            self.comparing.differences.shorter = Some((Side::Dest, None));
            self.end_at(extent.offset + there);
            request.len = there as u32;
            self.slots[request.slot as usize].extent.len = there;
        }
        if !self.may_write(&request) || request.len == 0 {
            self.queues.release_ticket(Side::Dest, request.ticket);
            self.retire(request);
            return;
        }
        let len = request.len;
        self.read_beside(request, len);
    }

    /// Bytes that the dest has from `offset` of the copy on.
    pub(super) fn dest_bytes_from(&self, offset: u64) -> u64 {
        let size = self.ends[Side::Dest.index()].facts().size;
        size.map_or(u64::MAX, |size| size.saturating_sub(self.plan.dest.offset + offset))
    }

    /// Reads `len` bytes of the dest into a second slot, at the place of a block that waits there for them.
    pub(super) fn read_beside(&mut self, block: Request, len: u32) {
        let (slot, buffer) = self.take_slot();
        let (ticket, extent) = (block.ticket, self.slots[block.slot as usize].extent);
        let (side, op, offset) = (Side::Dest, Op::Read, self.plan.dest.offset + extent.offset);
        self.slots[slot as usize] = Slot::of(extent);
        self.comparing.park(slot, block);
        self.queues.submit(Request { slot, ticket, side, op, offset, len, done: 0, until: len, buffer });
    }

    /// Bytes of the dest have come.
    pub(super) fn on_dest_read(&mut self, mut request: Request, moved: u32) {
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
        if moved == 0 {
            self.failed_by(request, io::ErrorKind::UnexpectedEof);
        } else if request.done < request.len {
            self.submit_rest(request);
        } else if self.plan.route == Route::ReadBack {
            self.on_block_done(request);
        } else {
            self.all_read(request);
        }
    }

    /// The bytes of the dest that a block is to be compared with are there.
    pub(super) fn on_both_read(&mut self, request: Request) {
        let block = self.comparing.take(request.slot).expect("every read of the dest is for a block");
        let offset = self.slots[block.slot as usize].extent.offset;
        if self.unread.iter().all(Unread::is_empty) {
            self.comparing.compare(offset, &block, &request, 0..request.len);
        } else {
            let starts = [self.plan.source.offset, self.plan.dest.offset];
            for part in readable(&self.unread, starts, Extent::new(offset, request.len.into())).iter() {
                let within = (part.offset - offset) as u32..(part.end() - offset) as u32;
                self.comparing.compare(offset, &block, &request, within);
            }
        }
        self.give_back(request);
        self.on_block_done(block);
    }

    /// What differs, if the sides were compared. To be asked at the end.
    pub(super) fn differences(&mut self) -> Option<Differences> {
        let Route::Compare { ends_together, .. } = self.plan.route else { return None };
        let mut differences = std::mem::take(&mut self.comparing.differences);
        let dest = self.ends[Side::Dest.index()].facts();
        let reached = self.plan.dest.offset + self.claimed().end();
        if let (true, None, None, Some(size)) = (ends_together, self.plan.len, differences.shorter, dest.size) {
            let lacks = size.saturating_sub(reached);
            differences.shorter = (lacks > 0).then_some((Side::Source, Some(lacks)));
        }
        Some(differences)
    }
}
