//! Recovery of unreadable source bytes from the dest of an earlier run.
//!
//! A resumed copy reads some durable bytes around a gap again, because direct I/O needs whole pages. If they have
//! become unreadable on the source, the dest still has them, and they must not be replaced with zeros. A disk may take
//! half a minute to complete such reads, so a helper thread of the dest makes them, one at a time, while other blocks
//! continue.
use crate::core::{Arena, Buffer, Cache, ExtentSet, Facts, PAGE_BYTES, Plan, Request, RequestError, Side};
use std::collections::VecDeque;
use std::io;

/// A block of the source with an unreadable place, which is its current transfer.
pub(super) struct BadPlace {
    pub(super) request: Request,
    /// Bytes of the place that the dest has. Offsets count from the first byte of the copy.
    pub(super) durable: ExtentSet,
    /// The read error of the source.
    pub(super) error: RequestError,
}

/// The unreadable places of the source that are read from the dest.
pub(super) struct DestRecovery {
    /// Waiting places, in no queue.
    pub(super) waiting: VecDeque<BadPlace>,
    /// The place that is being read.
    pub(super) now: Option<BadPlace>,
    /// The buffer to read into; `None` while it is in use.
    pub(super) buffer: Option<Buffer>,
    /// Number of bytes recovered from the dest.
    pub(super) recovered_bytes: u64,
}

impl DestRecovery {
    /// Allocates memory for the largest possible place, plus the alignment of the dest.
    ///
    /// # Errors
    /// The error of `mmap(2)`, usually ENOMEM.
    pub(super) fn new(plan: &Plan, source: &Facts) -> io::Result<Self> {
        let len = finest_bytes(plan, Side::Source, source) + 2 * align_bytes(plan);
        let buffer = Some(Arena::lone(len)?);
        Ok(DestRecovery { waiting: VecDeque::new(), now: None, buffer, recovered_bytes: 0 })
    }

    /// Number of waiting blocks, which are in no queue.
    pub(super) fn waiting(&self) -> u32 {
        self.waiting.len() as u32
    }

    /// Whether bytes for the block in this slot are being read from the dest.
    pub(super) fn reads_for(&self, slot: u32) -> bool {
        self.now.as_ref().is_some_and(|place| place.request.slot == slot)
    }
}

/// Alignment of the extents that are read from the dest, in bytes.
pub(super) fn align_bytes(plan: &Plan) -> u32 {
    plan.dest.access.offset_align_bytes.max(PAGE_BYTES as u32)
}

/// Smallest readable unit of a side, in bytes.
pub(super) fn finest_bytes(plan: &Plan, side: Side, facts: &Facts) -> u32 {
    let access = plan.side(side).access;
    let direct = if access.cache == Cache::Direct { access.offset_align_bytes } else { 1 };
    facts.logical_block_bytes.max(512).max(direct)
}
