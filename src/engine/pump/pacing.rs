//! Exchange of limits and results with the governor.
use super::Pump;
use crate::core::{Event, Limits, Request, Transferred};
use crate::engine::valves::{Governor, SteadyRate};
use std::sync::atomic::Ordering::Relaxed;

impl Pump<'_> {
    /// Passes the results of this round to the governor, and applies its limits.
    pub(super) fn govern(&mut self, governor: &mut Governor) {
        self.round.now = self.meter.elapsed();
        self.round.dest_bytes = self.totals.dest_bytes();
        self.round.finished = self.finished;
        if let Some(limits) = governor.observe(&self.round) {
            self.keep_to(limits);
            self.watch.observer.on_event(&Event::Paced { limits, because: &governor.because() });
        }
        let SteadyRate { time, bytes } = governor.steady_rate();
        self.watch.tally.note_settled(time, bytes);
    }

    /// Applies these limits from the next block on.
    pub(super) fn keep_to(&mut self, limits: Limits) {
        self.limits = limits;
        self.queues.set_limits(limits);
        self.watch.tally.block_bytes.store(limits.block_bytes, Relaxed);
        for (reported, most) in self.watch.tally.queue_depth.iter().zip(limits.in_flight) {
            reported.store(most, Relaxed);
        }
        self.watch.tally.pool_bytes.store(self.plan.tuning.pool_bytes, Relaxed);
    }

    /// In bursts, both sides take turns: the source until the pool is full, then the dest until it is empty, so that a
    /// shared rotational disk seeks twice per burst instead of twice per block. Called after all blocks that may be
    /// read were started.
    pub(super) fn take_turns(&mut self) {
        let in_turn = self.limits.bursts && !self.ending();
        let all_read = self.queues.towards(self.plan.route.reads_from()) == 0;
        self.writing = in_turn && self.in_hand > 0 && (self.writing || all_read);
        if in_turn && !self.writing { self.queues.dest_gate().close() } else { self.queues.dest_gate().open() }
    }

    /// Counts completed bytes and requests for the governor.
    pub(super) fn count(&mut self, request: &Request, result: &Transferred) {
        let Transferred::Moved(moved) = result else { return };
        let side = request.side.index();
        self.round.completed[side] += 1;
        self.round.completed_bytes[side] += u64::from(*moved);
        if request.side != self.plan.route.reads_from() {
            let least = self.round.wrote_block_bytes;
            self.round.wrote_block_bytes = if least == 0 { request.len } else { least.min(request.len) };
        }
    }
}
