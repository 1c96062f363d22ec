//! Any source as a reader: its bytes from the first to the last.
use crate::core::{Arena, Buffer, Endpoint, Op, Request, Side};
use std::io::{self, Read};
use std::sync::Arc;

/// Bytes of a request, at most.
const REQUEST_BYTES: usize = 1 << 20;

/// Reads an endpoint from an offset on, one request at a time.
pub(super) struct Sequential {
    end: Arc<dyn Endpoint>,
    offset: u64,
    /// `None` while a request has it.
    buffer: Option<Buffer>,
    ticket: u64,
}

impl Sequential {
    /// # Errors
    /// No memory is left.
    pub(super) fn new(end: Arc<dyn Endpoint>, offset: u64) -> io::Result<Self> {
        let buffer = Arena::lone(REQUEST_BYTES as u32)?;
        Ok(Sequential { end, offset, buffer: Some(buffer), ticket: 0 })
    }
}

impl Read for Sequential {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let buffer = self.buffer.take().ok_or_else(|| io::Error::other("internal error in haul: no buffer"))?;
        let len = bytes.len().min(REQUEST_BYTES) as u32;
        let (ticket, offset) = (self.ticket, self.offset);
        let (side, op) = (Side::Source, Op::Read);
        let mut request = Request { slot: 0, ticket, side, op, offset, len, done: 0, until: len, buffer };
        let result = self.end.perform(&mut request);
        if let Ok(moved) = &result {
            let moved = *moved as usize;
            bytes[..moved].copy_from_slice(&request.buffer.bytes()[..moved]);
            self.offset += moved as u64;
            self.ticket += 1;
        }
        self.buffer = Some(request.buffer);
        result.map(|moved| moved as usize)
    }
}
