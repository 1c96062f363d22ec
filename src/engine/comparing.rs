//! A block's way when nothing is written: the same bytes of the dest are read beside it, and both are compared.
use crate::core::stages::{differences, first_difference};
use crate::core::{Buffer, Differences, Extent, ExtentSet, Facts, Plan, Request, Route, Unread};
use std::ops::Range;

/// What is compared with what, and the result of it so far.
pub(super) struct Comparing {
    /// Blocks of the source, by the slot of the request that reads the same bytes of the dest.
    pub(super) waiting: Vec<Option<Request>>,
    /// A slot and memory for the bytes of the dest, by the slot of the block that will need them.
    pub(super) spares: Vec<Option<(u32, Buffer)>>,
    /// Differences are reported in runs of this many bytes of the dest.
    pub(super) sector_bytes: u64,
    /// The end of the dest, or of what is compared of it.
    pub(super) end: u64,
    pub(super) differences: Differences,
}

impl Comparing {
    pub(super) fn new(plan: &Plan, dest: &Facts, slots: usize) -> Self {
        // Of a file too: damage is analyzed in sectors.
        let sector_bytes = u64::from(dest.logical_block_bytes.max(512));
        let mut differences = Differences::default();
        if let Route::Compare { shorter, .. } = plan.route {
            differences.shorter = shorter.map(|(side, lacks)| (side, Some(lacks)));
        }
        let end = plan.len.map(|len| plan.dest.offset + len).or(dest.size).unwrap_or(u64::MAX);
        let waiting = std::iter::repeat_with(|| None).take(slots).collect();
        let spares = std::iter::repeat_with(|| None).take(slots).collect();
        Comparing { waiting, spares, sector_bytes, end, differences }
    }

    pub(super) fn park(&mut self, slot: u32, block: Request) {
        self.waiting[slot as usize] = Some(block);
    }

    /// What is kept beside the block in `slot`.
    pub(super) fn beside(&self, slot: u32) -> Option<&Request> {
        self.waiting[slot as usize].as_ref()
    }

    /// The block of the source that waits for what `slot` reads.
    pub(super) fn take(&mut self, slot: u32) -> Option<Request> {
        self.waiting[slot as usize].take()
    }

    /// Compares the bytes `part` of a block, which begins at `offset` of the copy, with those of the dest.
    pub(super) fn compare(&mut self, offset: u64, source: &Request, dest: &Request, part: Range<u32>) {
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
pub(super) fn readable(unread: &[Unread; 2], starts: [u64; 2], block: Extent) -> ExtentSet {
    let mut parts: ExtentSet = [block].into_iter().collect();
    for (unread, start) in unread.iter().zip(starts) {
        let there = Extent::new(start + block.offset, block.len);
        unread.runs.within(there).for_each(|bad| parts.remove(Extent::new(bad.offset - start, bad.len)));
    }
    parts
}
