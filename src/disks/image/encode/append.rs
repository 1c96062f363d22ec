//! Writes bytes to an endpoint, wherever they are in memory.
use crate::core::{Arena, Buffer, Endpoint, Op, Request, Side};
use std::io;
use std::sync::Arc;

/// Bytes of a request, at most.
const REQUEST_BYTES: usize = 1 << 20;

/// Writes bytes at ascending offsets.
pub(super) struct Appender {
    end: Arc<dyn Endpoint>,
    /// `None` while a request has it.
    buffer: Option<Buffer>,
    ticket: u64,
}

impl Appender {
    /// # Errors
    /// No memory is left.
    pub(super) fn new(end: Arc<dyn Endpoint>) -> io::Result<Appender> {
        let buffer = Arena::lone(REQUEST_BYTES as u32)?;
        Ok(Appender { end, buffer: Some(buffer), ticket: 0 })
    }

    /// # Errors
    /// That of the endpoint.
    pub(super) fn write(&mut self, mut offset: u64, bytes: &[u8]) -> io::Result<()> {
        for piece in bytes.chunks(REQUEST_BYTES) {
            self.write_piece(offset, piece)?;
            offset += piece.len() as u64;
        }
        Ok(())
    }

    fn write_piece(&mut self, offset: u64, piece: &[u8]) -> io::Result<()> {
        let mut buffer = self.buffer.take().ok_or_else(|| io::Error::other("internal error in haul: no buffer"))?;
        buffer.bytes_mut()[..piece.len()].copy_from_slice(piece);
        let (ticket, len, side, op) = (self.ticket, piece.len() as u32, Side::Dest, Op::Write);
        self.ticket += 1;
        let mut request = Request { slot: 0, ticket, side, op, offset, len, done: 0, until: len, buffer };
        let mut result = Ok(());
        while request.done < len && result.is_ok() {
            match self.end.perform(&mut request) {
                Ok(0) => result = Err(io::ErrorKind::WriteZero.into()),
                Ok(moved) => request.done += moved,
                // Nothing has happened, as with requests in queues.
                Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => std::thread::yield_now(),
                Err(error) => result = Err(error),
            }
        }
        self.buffer = Some(request.buffer);
        result
    }
}
