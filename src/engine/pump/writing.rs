//! Writing a block to the dest, in one piece or in pieces of data and zeros.
use super::Pump;
use crate::core::stages::zero_prefix;
use crate::core::{Op, Request, RunKind, Side, Zeros};
use std::io;
use std::sync::atomic::Ordering::Relaxed;

impl Pump<'_> {
    /// Starts writing a block that has been read, or need not be.
    pub(in crate::engine) fn start_writing(&mut self, mut request: Request) {
        if !self.may_write(&request) {
            self.retire(request);
            return;
        }
        request.side = Side::Dest;
        request.offset = self.plan.dest.map.at(self.slots[request.slot as usize].extent.offset);
        request.done = 0;
        self.write_on(request);
    }

    /// Submits the next piece of a block; skips pieces that need no I/O.
    fn write_on(&mut self, mut request: Request) {
        while request.done < request.len {
            let mut left = request.len - request.done;
            match self.is_unchanged(&request) {
                Some((true, len)) => {
                    self.totals.unchanged_bytes += u64::from(len);
                    self.watch.tally.unchanged_bytes.fetch_add(u64::from(len), Relaxed);
                    request.done += len;
                    continue;
                }
                Some((false, len)) => left = len,
                None => {}
            }
            let (kind, len) = self.next_piece(&request, left);
            request.until = request.done + len;
            match (kind, self.plan.zeros) {
                (RunKind::Zero, Zeros::Leave) => {
                    self.totals.hole_runs += 1;
                    self.totals.hole_bytes += u64::from(len);
                    self.watch.tally.hole_bytes.fetch_add(u64::from(len), Relaxed);
                    request.done = request.until;
                    continue;
                }
                (RunKind::Zero, Zeros::Device | Zeros::Each) => request.op = Op::Zero,
                (RunKind::Zero, Zeros::Write) | (RunKind::Data, _) => request.op = Op::Write,
            }
            self.slots[request.slot as usize].is_written = true;
            self.queues.submit(request);
            return;
        }
        self.on_block_done(request);
    }

    /// Kind and length of the piece at `request.done`, of at most `left` bytes.
    fn next_piece(&self, request: &Request, left: u32) -> (RunKind, u32) {
        if self.slots[request.slot as usize].zero {
            return (RunKind::Zero, left);
        }
        let Some(piece_bytes) = self.plan.detect_zeros_bytes else { return (RunKind::Data, left) };
        let into_piece = request.done % piece_bytes;
        if into_piece > 0 {
            // A short write ended inside a piece of data.
            return (RunKind::Data, left.min(piece_bytes - into_piece));
        }
        let bytes = &request.buffer.bytes()[request.done as usize..(request.done + left) as usize];
        let (kind, len) = zero_prefix(bytes, piece_bytes as usize);
        (kind, len as u32)
    }

    pub(in crate::engine) fn on_write(&mut self, mut request: Request, moved: u32) {
        self.totals.write_requests += 1;
        if moved == 0 {
            self.failed_by(request, io::ErrorKind::WriteZero);
            return;
        }
        let bytes = u64::from(moved);
        if request.op == Op::Zero {
            self.totals.zeroed_bytes += bytes;
            self.watch.tally.zeroed_bytes.fetch_add(bytes, Relaxed);
        } else {
            self.totals.written_bytes += bytes;
            self.watch.tally.written_bytes.fetch_add(bytes, Relaxed);
        }
        self.watch.tally.note_parts(Side::Dest, &*self.ends[Side::Dest.index()]);
        request.done += moved;
        if request.done < request.until {
            self.queues.submit(request);
        } else {
            self.totals.zeroed_runs += u64::from(request.op == Op::Zero);
            self.write_on(request);
        }
    }
}
