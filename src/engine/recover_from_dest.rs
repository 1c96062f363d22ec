//! What a resumed copy reads from the dest, because the source cannot give it any more.
//!
//! A resumed copy goes over the bytes beside a gap again, where direct I/O wants whole pages. Of those that cannot be
//! read any more the dest has what an earlier run read, and must not get zeros. A disk may try for half a minute before
//! it answers, so these reads go to a helper of the dest, one at a time, while the other blocks go on.
use super::pump::Pump;
use super::unreadable::finest_bytes;
use crate::core::{
    Arena, Buffer, Completion, ExtentSet, Facts, Op, PAGE_BYTES, Plan, Request, RequestError, Side, Transferred,
};
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
    waiting: VecDeque<BadPlace>,
    /// The one that is read.
    now: Option<BadPlace>,
    /// What is read into; away while it is in use.
    buffer: Option<Buffer>,
}

impl DestRecovery {
    /// Has memory for the largest bad place of this source, with what the dest's alignment adds to it.
    ///
    /// # Errors
    /// What `mmap(2)` says, mostly ENOMEM.
    pub(super) fn new(plan: &Plan, source: &Facts) -> io::Result<Self> {
        let len = finest_bytes(plan, Side::Source, source) + 2 * align_bytes(plan);
        Ok(DestRecovery { waiting: VecDeque::new(), now: None, buffer: Some(Arena::lone(len)?) })
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
fn align_bytes(plan: &Plan) -> u32 {
    plan.dest.access.offset_align_bytes.max(PAGE_BYTES as u32)
}

impl Pump<'_> {
    /// Reads from the dest what it has of a bad place, when the place's turn comes.
    pub(super) fn recover(&mut self, place: BadPlace) {
        let Some(recovery) = &mut self.recovery else { return };
        recovery.waiting.push_back(place);
        self.recover_next();
    }

    fn recover_next(&mut self) {
        let ending = self.ending();
        let Some(recovery) = self.recovery.as_mut().filter(|recovery| recovery.now.is_none() && !ending) else {
            return;
        };
        let Some(place) = recovery.waiting.pop_front() else { return };
        let Some(buffer) = recovery.buffer.take() else { return };
        let (start, align) = (self.plan.dest.offset, u64::from(align_bytes(self.plan)));
        let first = place.durable.iter().next().map_or(0, |extent| extent.offset);
        let offset = (start + first) / align * align;
        let len = ((start + place.durable.end()).next_multiple_of(align) - offset) as u32;
        let Request { slot, ticket, .. } = place.request;
        recovery.now = Some(place);
        let (side, op) = (Side::Dest, Op::Read);
        self.queues.submit_alone(Request { slot, ticket, side, op, offset, len, done: 0, until: len, buffer });
    }

    /// Bytes of the dest have come for a bad place of the source.
    pub(super) fn on_recovery_read(&mut self, completion: Completion) {
        let Completion { request: mut read, result } = completion;
        let Some(recovery) = &mut self.recovery else { return };
        let Some(mut place) = recovery.now.take() else { return };
        let wanted_end = self.plan.dest.offset + place.durable.end();
        let failed = match result {
            Transferred::Retry => None,
            Transferred::Failed(error) => Some(error.source),
            Transferred::Moved(0) => Some(io::ErrorKind::UnexpectedEof.into()),
            Transferred::Moved(moved) => {
                read.done += moved;
                None
            }
        };
        if failed.is_none() && read.at() < wanted_end {
            recovery.now = Some(place);
            self.queues.submit_alone(read);
            return;
        }
        if failed.is_none() {
            let bad_offset = place.request.at() - self.plan.source.offset;
            for extent in place.durable.iter() {
                let len = extent.len as usize;
                let from = (self.plan.dest.offset + extent.offset - read.offset) as usize;
                let to = (extent.offset - bad_offset) as usize;
                place.request.rest_mut()[to..to + len].copy_from_slice(&read.buffer.bytes()[from..from + len]);
            }
        }
        recovery.buffer = Some(read.buffer);
        match failed {
            Some(error) => self.fail_rather_than_lose(place.request, error),
            None => self.skip_place(place),
        }
        self.recover_next();
    }

    /// On the way out: those that wait are given up.
    pub(super) fn give_up_recoveries(&mut self) {
        while let Some(place) = self.recovery.as_mut().and_then(|recovery| recovery.waiting.pop_front()) {
            self.give_up(place.request, place.error);
        }
    }
}
