//! A source that has no more bytes.
use super::Pump;
use crate::core::{Request, Side};
use std::io;

impl Pump<'_> {
    /// A read gave nothing: the end of a stream, and an error for everything that had a size.
    pub(in crate::engine) fn source_ended(&mut self, request: Request) {
        let source = &self.ends[Side::Source.index()];
        if source.facts().size.is_some() {
            self.failed_by(request, io::ErrorKind::UnexpectedEof);
            return;
        }
        let end = self.slots[request.slot as usize].extent.offset + u64::from(request.done);
        self.end_at(end);
        self.ended_short = self.plan.len.is_some();
        // Reads that wait for their turn on the stream would only fail the same way.
        let mut never = Vec::new();
        self.queues.cancel_pending(Side::Source, &mut never);
        never.into_iter().for_each(|request| self.retire(request));
        self.write_what_came(request);
    }

    /// Goes on with the part of a block that has been read; there will be no more of it.
    pub(in crate::engine) fn write_what_came(&mut self, mut request: Request) {
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
