//! Comparison of both sides without writing: the same bytes of the dest are read and compared with each block.
use crate::core::stages::{differences, first_difference};
use crate::core::{AddressMap, Buffer, Differences, Extent, ExtentSet, Facts, Plan, Request, Route, Unread};
use std::ops::Range;

/// State of a comparison.
pub(super) struct Comparing {
    /// Blocks of the source, by the slot of the request that reads the same bytes of the dest.
    pub(super) waiting: Vec<Option<Request>>,
    /// A reserved slot and buffer for the bytes of the dest, by the slot of the block.
    pub(super) spares: Vec<Option<(u32, Buffer)>>,
    /// Granularity of reported differences, in bytes of the dest.
    pub(super) sector_bytes: u64,
    /// Maps offsets of the copy to the dest.
    pub(super) on_dest: AddressMap,
    /// Size of the dest.
    pub(super) end: u64,
    pub(super) differences: Differences,
}

impl Comparing {
    pub(super) fn new(plan: &Plan, dest: &Facts, slots: usize) -> Self {
        // At least 512 for a file too: differences are analyzed in sectors.
        let sector_bytes = u64::from(dest.logical_block_bytes.max(512));
        let mut differences = Differences::default();
        if let Route::Compare { shorter, .. } = plan.route {
            differences.shorter = shorter.map(|(side, lacks)| (side, Some(lacks)));
        }
        let on_dest = plan.dest.map.clone();
        let end = plan.len.map(|len| on_dest.end(len)).or(dest.size).unwrap_or(u64::MAX);
        let waiting = std::iter::repeat_with(|| None).take(slots).collect();
        let spares = std::iter::repeat_with(|| None).take(slots).collect();
        Comparing { waiting, spares, sector_bytes, on_dest, end, differences }
    }

    pub(super) fn park(&mut self, slot: u32, block: Request) {
        self.waiting[slot as usize] = Some(block);
    }

    /// The request that is parked with the block in `slot`.
    pub(super) fn beside(&self, slot: u32) -> Option<&Request> {
        self.waiting[slot as usize].as_ref()
    }

    /// Removes the block of the source that waits for the read in `slot`.
    pub(super) fn take(&mut self, slot: u32) -> Option<Request> {
        self.waiting[slot as usize].take()
    }

    /// Compares `part` of a block, whose offset in the copy is `offset`, with the dest.
    pub(super) fn compare(&mut self, offset: u64, source: &Request, dest: &Request, part: Range<u32>) {
        let bytes = part.start as usize..part.end as usize;
        let (ours, theirs) = (&source.buffer.bytes()[bytes.clone()], &dest.buffer.bytes()[bytes]);
        let (found, sector) = (&mut self.differences, self.sector_bytes);
        let run = self.on_dest.run_around(offset);
        let run_start = self.on_dest.at(run.offset);
        let end = self.end.min(run_start + run.len);
        let (offset, on_dest) = (offset + u64::from(part.start), dest.offset + u64::from(part.start));
        differences(ours, theirs, on_dest, sector, |extent| {
            let within = (extent.offset - on_dest) as usize..(extent.end() - on_dest) as usize;
            let (one, other) = (&ours[within.clone()], &theirs[within.clone()]);
            let count = one.iter().zip(other).filter(|(one, other)| one != other).count() as u64;
            let first = within.start + first_difference(one, other).unwrap_or(0);
            // Extend to whole sectors, even if the block begins or ends inside one.
            let start = (extent.offset - extent.offset % sector).max(run_start);
            let stop = extent.end().next_multiple_of(sector).min(end);
            found.add(Extent::new(run.offset + (start - run_start), stop - start), offset + first as u64, count);
        });
    }
}

/// The parts of `block` that could be read on both sides. `at` has its offsets on the sides; the result counts in the
/// copy.
pub(super) fn readable(unread: &[Unread; 2], at: [u64; 2], block: Extent) -> ExtentSet {
    let mut parts: ExtentSet = [block].into_iter().collect();
    for (unread, at) in unread.iter().zip(at) {
        let bad = unread.runs.within(Extent::new(at, block.len));
        bad.for_each(|bad| parts.remove(Extent::new(block.offset + (bad.offset - at), bad.len)));
    }
    parts
}
