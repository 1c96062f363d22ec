//! Locating the bad block among those that failed together.
use super::Pump;
use crate::core::{Completion, Kind, Op, Order, Request, RequestError, Transferred};
use crate::engine::bad_block_search::{BadBlockSearch, Block, Step};

impl Pump<'_> {
    /// Whether locating the failed byte of a request may help.
    pub(in crate::engine) fn is_suspect(&self, request: &Request, error: &RequestError) -> bool {
        let order = self.ends[request.side.index()].facts().order;
        request.op == Op::Read && order == Order::Any && error.kind == Kind::Io && error.error_offset().is_none()
    }

    /// Keeps the block whose read failed first, to locate the bad sector.
    pub(in crate::engine) fn set_suspect(&mut self, request: Request) {
        self.clear_suspect();
        self.suspect.parked = Some(request);
    }

    /// Releases the suspect, because another failure is reported.
    pub(in crate::engine) fn clear_suspect(&mut self) {
        if let Some(request) = self.suspect.parked.take() {
            self.retire(request);
        }
    }

    /// Once nothing else is in flight, reads the suspect in pieces.
    pub(in crate::engine) fn search_suspect(&mut self) {
        if self.in_hand != 1 {
            return;
        }
        let Some(mut request) = self.suspect.parked.take() else { return };
        if self.stop_requested() {
            self.retire(request);
            return;
        }
        let mut around = BadBlockSearch::default();
        self.suspect.search_until = Some(request.until);
        // The whole request failed: read it again in pieces, or once more if it is a single logical block.
        if let Step::ReadTo(until) = around.failed(self.suspect_block(&request), request.done, request.until, None, 1) {
            request.until = until;
        }
        self.slots[request.slot as usize].around = around;
        self.queues.submit_again(request);
    }

    /// Called when a piece of the suspect has completed.
    pub(in crate::engine) fn on_suspect_read(&mut self, completion: Completion) {
        let Completion { mut request, result } = completion;
        let Some(end) = self.suspect.search_until else { return };
        let block = self.suspect_block(&request);
        let around = &mut self.slots[request.slot as usize].around;
        let found = match result {
            Transferred::Retry => None,
            Transferred::Moved(moved) if moved > 0 => {
                request.done += moved;
                if request.done < end && request.done == request.until {
                    request.until = around.on_block_ready(block, request.done).min(end);
                }
                (request.done == end).then_some(None)
            }
            failed => {
                let error_offset = if let Transferred::Failed(error) = failed { error.error_offset() } else { None };
                match around.failed(block, request.done, request.until, error_offset, 0) {
                    Step::ReadTo(until) => {
                        request.until = until;
                        None
                    }
                    Step::Again => None,
                    Step::Bad => Some(Some(request.at())),
                }
            }
        };
        if found.is_none() && !self.stop_requested() {
            self.queues.submit_again(request);
            return;
        }
        self.suspect.search_until = None;
        self.retire(request);
        match (found, &mut self.failure) {
            (Some(Some(offset)), Some(failure)) => failure.error.offset = Some(offset),
            (Some(None), Some(failure)) => {
                "A second read of the same bytes succeeded: the error may be transient. Try again."
                    .clone_into(&mut failure.error.advice);
            }
            _ => {}
        }
    }

    /// The block of a request. Its smallest unit is the logical block: pieces too small for direct I/O are read through
    /// the page cache.
    fn suspect_block(&self, request: &Request) -> Block {
        let finest_bytes = self.ends[request.side.index()].facts().logical_block_bytes.max(512);
        Block { offset: request.offset, len: request.len, finest_bytes }
    }
}
