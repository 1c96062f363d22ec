//! Recovery of unreadable source bytes from the dest of an earlier run.
use super::Pump;
use crate::core::{Completion, Extent, ExtentSet, Op, Plan, Request, Side, Transferred};
use crate::engine::recover_from_dest::{BadPlace, align_bytes};
use std::io;

impl Pump<'_> {
    /// Queues a unreadable place of which the dest has some bytes, to be read from there.
    pub(in crate::engine) fn recover(&mut self, place: BadPlace) {
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
        let (location, align) = (on_dest(self.plan, &place.durable), u64::from(align_bytes(self.plan)));
        let offset = location.offset / align * align;
        let len = (location.end().next_multiple_of(align) - offset) as u32;
        let Request { slot, ticket, .. } = place.request;
        recovery.now = Some(place);
        let (side, op) = (Side::Dest, Op::Read);
        self.queues.submit_alone(Request { slot, ticket, side, op, offset, len, done: 0, until: len, buffer });
    }

    /// Called when bytes of the dest were read for a unreadable place of the source.
    pub(in crate::engine) fn on_recovery_read(&mut self, completion: Completion) {
        let Completion { request: mut read, result } = completion;
        let Some(recovery) = &mut self.recovery else { return };
        let Some(mut place) = recovery.now.take() else { return };
        let wanted_end = on_dest(self.plan, &place.durable).end();
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
            recovery.recovered_bytes += place.durable.total_bytes();
            let Request { slot, done, .. } = place.request;
            let bad_offset = self.slots[slot as usize].extent.offset + u64::from(done);
            for extent in place.durable.iter() {
                let len = extent.len as usize;
                let from = (self.plan.dest.map.at(extent.offset) - read.offset) as usize;
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

    /// When the run ends: abandons the waiting requests.
    pub(in crate::engine) fn abandon_recoveries(&mut self) {
        while let Some(place) = self.recovery.as_mut().and_then(|recovery| recovery.waiting.pop_front()) {
            self.abandon_search(place.request, place.error);
        }
    }
}

/// The smallest extent of the dest that contains these bytes of one block.
fn on_dest(plan: &Plan, durable: &ExtentSet) -> Extent {
    let first = durable.iter().next().map_or(0, |extent| extent.offset);
    plan.dest.map.place(Extent::new(first, durable.end().saturating_sub(first)))
}
