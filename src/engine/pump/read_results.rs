//! Results of reads, for a schedule that depends on them.
use super::Pump;
use crate::core::{Extent, Op, Request, RequestError, Side};

impl Pump<'_> {
    /// Whether the schedule decides what happens after this failure.
    pub(super) fn reports_failure(&self, request: &Request, error: &RequestError) -> bool {
        let reads = request.side == Side::Source && request.op == Op::Read;
        self.reports_reads && reads && error.depends_on_offset()
    }

    /// Reports a failed read to the schedule. What was read of the block before is written; the rest ends here.
    pub(super) fn report_failure(&mut self, mut request: Request, error: &RequestError) {
        let took = self.queues.took(request.slot);
        let unread = &mut self.unread[Side::Source.index()];
        unread.failed_reads += 1;
        unread.failing += took;
        let block = self.slots[request.slot as usize].extent;
        let read = Extent::new(block.offset, request.done.into());
        let failed = Extent::new(read.end(), block.len - read.len);
        // The device counts on its side, the schedule in the copy; both are contiguous within a block.
        let bad = error.error_offset().and_then(|at| Some(failed.offset + at.checked_sub(request.at())?));
        self.schedule.on_failed(failed, took, bad);
        if let Some(checkpoints) = &mut self.checkpoints {
            checkpoints.unread(failed);
        }
        if read.is_empty() {
            Side::BOTH.into_iter().for_each(|side| self.queues.release_ticket(side, request.ticket));
            self.retire(request);
            return;
        }
        self.slots[request.slot as usize].extent = read;
        (request.len, request.until) = (request.done, request.done);
        self.all_read(request);
    }

    /// Reports that all of a block was read.
    pub(super) fn report_read(&mut self, request: &Request) {
        let extent = self.slots[request.slot as usize].extent;
        self.schedule.on_read(extent, self.queues.took(request.slot));
    }
}
