//! What a resumed copy reads from the dest, because the source cannot give it any more.
//!
//! A resumed copy goes over the bytes beside a gap again, where direct I/O needs whole pages. Of those that cannot be
//! read any more the dest has what an earlier run read, and must not get zeros. A disk may try for half a minute before
//! it answers, so these reads go to a helper of the dest, one at a time, while the other blocks go on.
use crate::core::{Arena, Buffer, Cache, ExtentSet, Facts, PAGE_BYTES, Plan, Request, RequestError, Side};
use std::collections::VecDeque;
use std::io;

/// A block of the source with a bad place, which is its present transfer.
pub(super) struct BadPlace {
    pub(super) request: Request,
    /// Bytes of the place that the dest has; offsets count from the first byte of the copy.
    pub(super) durable: ExtentSet,
    /// Why the source could not be read there.
    pub(super) error: RequestError,
}

/// Bad places of the source that are read from the dest.
pub(super) struct DestRecovery {
    /// Those that wait, in no queue.
    pub(super) waiting: VecDeque<BadPlace>,
    /// The one that is read.
    pub(super) now: Option<BadPlace>,
    /// What is read into; away while it is in use.
    pub(super) buffer: Option<Buffer>,
    /// Bytes that the dest gave instead of the source.
    pub(super) recovered_bytes: u64,
}

impl DestRecovery {
    /// Has memory for the largest bad place of this source, with what the dest's alignment adds to it.
    ///
    /// # Errors
    /// What `mmap(2)` says, mostly ENOMEM.
    pub(super) fn new(plan: &Plan, source: &Facts) -> io::Result<Self> {
        let len = finest_bytes(plan, Side::Source, source) + 2 * align_bytes(plan);
        let buffer = Some(Arena::lone(len)?);
        Ok(DestRecovery { waiting: VecDeque::new(), now: None, buffer, recovered_bytes: 0 })
    }

    /// Blocks that wait, in no queue.
    pub(super) fn waiting(&self) -> u32 {
        self.waiting.len() as u32
    }

    /// Bytes for the block in this slot are being read from the dest.
    pub(super) fn reads_for(&self, slot: u32) -> bool {
        self.now.as_ref().is_some_and(|place| place.request.slot == slot)
    }
}

/// What the extents that are read from the dest are multiples of, in bytes.
pub(super) fn align_bytes(plan: &Plan) -> u32 {
    plan.dest.access.offset_align_bytes.max(PAGE_BYTES as u32)
}

/// The least that can be read of a side, in bytes.
pub(super) fn finest_bytes(plan: &Plan, side: Side, facts: &Facts) -> u32 {
    let access = plan.side(side).access;
    let direct = if access.cache == Cache::Direct { access.offset_align_bytes } else { 1 };
    facts.logical_block_bytes.max(512).max(direct)
}
