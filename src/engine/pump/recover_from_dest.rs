//! Places that the source gives no more, read from the dest of an earlier run.
use super::Pump;
use crate::core::{Completion, Op, Request, Side, Transferred};
use crate::engine::recover_from_dest::{BadPlace, align_bytes};
use std::io;

impl Pump<'_> {
    /// Reads from the dest what it has of a bad place, when the place's turn comes.
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
    pub(in crate::engine) fn on_recovery_read(&mut self, completion: Completion) {
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
            recovery.recovered_bytes += place.durable.total_bytes();
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
    pub(in crate::engine) fn give_up_recoveries(&mut self) {
        while let Some(place) = self.recovery.as_mut().and_then(|recovery| recovery.waiting.pop_front()) {
            self.give_up(place.request, place.error);
        }
    }
}
