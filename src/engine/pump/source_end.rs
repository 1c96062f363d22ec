//! The end of the source.
use super::Pump;
use crate::core::{Request, Side};
use std::io;

impl Pump<'_> {
    /// Called when a read returned no bytes: the end of a stream, and an error for a source with a known size.
    pub(in crate::engine) fn source_ended(&mut self, request: Request) {
        let source = &self.ends[Side::Source.index()];
        if source.facts().size.is_some() {
            self.failed_by(request, io::ErrorKind::UnexpectedEof);
            return;
        }
        let end = self.slots[request.slot as usize].extent.offset + u64::from(request.done);
        self.end_at(end);
        self.ended_short = self.plan.len.is_some();
        // Later reads of the stream would return the same.
        let mut never = Vec::new();
        self.queues.cancel_pending(Side::Source, &mut never);
        never.into_iter().for_each(|request| self.retire(request));
        self.write_block_read(request);
    }

    /// Continues with the part of a block that has been read; no more of it follows.
    pub(in crate::engine) fn write_block_read(&mut self, mut request: Request) {
        if request.done == 0 {
            self.retire(request);
            return;
        }
        request.len = request.done;
        self.slots[request.slot as usize].extent.len = u64::from(request.len);
        self.queues.release_ticket(Side::Source, request.ticket);
        self.on_block_ready(request);
    }
}
