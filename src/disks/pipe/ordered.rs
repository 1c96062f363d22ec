//! A stream as an endpoint.
use super::stream::Stream;
use crate::core::{Endpoint, EndpointKind, Facts, Kind, Op, Request, Result, Side};
use crate::disks::opening::Opening;
use crate::disks::zeros::with_zeros;
use crate::hold::Held;
use rustix::fs::OFlags;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// A stream: accepts one request at a time, in ascending order.
#[derive(Debug)]
pub(super) struct Ordered {
    facts: Facts,
    stream: Stream,
    /// Offset of the next byte. Bytes of a source before the first requested one are read and discarded.
    position: AtomicU64,
    /// The lock on the bytes of a redirected file.
    #[allow(dead_code, reason = "it lives as long as this")]
    held: Option<Held>,
    /// Whether the end was reached: on a terminal the user would otherwise have to enter it twice.
    ended: AtomicBool,
}

impl Ordered {
    pub(super) fn open(opening: Opening<'_>) -> Result<Self> {
        let failed = |error: io::Error| opening.error(Kind::Open, "").because(error);
        let standard = opening.plan.address == "-";
        let mut held = None;
        let stream = if standard {
            let fd = standard_descriptor(opening.side).map_err(failed)?;
            held = opening.hold_redirected(fd.as_fd())?;
            Stream::inherited(fd, opening.side)
        } else {
            let fd = opening.open(OFlags::empty())?;
            Stream::own(fd)
        };
        let first = if opening.side == Side::Source { 0 } else { opening.plan.map.start() };
        Ok(Ordered { held, ..Ordered::over(opening.facts.clone(), stream.map_err(failed)?, first) })
    }

    /// Wraps an open stream whose next byte has the offset `first`.
    pub(super) fn over(facts: Facts, stream: Stream, first: u64) -> Self {
        Ordered { facts, stream, position: first.into(), held: None, ended: false.into() }
    }

    fn read(&self, request: &mut Request) -> io::Result<u32> {
        let at = request.at();
        while self.position.load(Relaxed) < at {
            let before = at - self.position.load(Relaxed);
            let bytes = request.rest_mut();
            let len = bytes.len().min(usize::try_from(before).unwrap_or(usize::MAX));
            if self.read_some(&mut bytes[..len])? == 0 {
                return Ok(0);
            }
        }
        // Filled in a loop here: separate requests would each be passed between threads.
        let bytes = request.rest_mut();
        let mut filled = 0;
        while filled < bytes.len() {
            match self.read_some(&mut bytes[filled..]) {
                Ok(0) => break,
                Ok(moved) => filled += moved,
                // The next call returns the error again; these bytes were read.
                Err(_) if filled > 0 => break,
                Err(error) => return Err(error),
            }
            if !self.stream.fills() {
                break;
            }
        }
        Ok(filled as u32)
    }

    fn read_some(&self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.ended.load(Relaxed) {
            return Ok(0);
        }
        let moved = self.stream.read(bytes)?;
        self.ended.store(moved == 0, Relaxed);
        self.position.fetch_add(moved as u64, Relaxed);
        Ok(moved)
    }

    fn write(&self, len: usize, piece: impl Fn(usize) -> io::Result<usize>) -> io::Result<u32> {
        let mut written = 0;
        while written < len {
            match piece(written) {
                Ok(moved) => written += moved,
                Err(_) if written > 0 => break,
                Err(error) => return Err(error),
            }
        }
        self.position.fetch_add(written as u64, Relaxed);
        Ok(written as u32)
    }
}

/// A duplicate of standard input or output.
fn standard_descriptor(side: Side) -> io::Result<OwnedFd> {
    let fd = if side == Side::Source { rustix::stdio::stdin() } else { rustix::stdio::stdout() };
    // Above 2, so that it cannot be mistaken for a closed standard descriptor.
    Ok(rustix::io::fcntl_dupfd_cloexec(fd, 3)?)
}

impl Endpoint for Ordered {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        if request.op == Op::Read {
            return self.read(request);
        }
        // A cancelled write leaves a gap, so nothing may be written after it.
        self.stream.check_cancelled()?;
        let (at, position) = (request.at(), self.position.load(Relaxed));
        if at != position {
            // A bug in haul; bytes written to a pipe cannot be taken back.
            return Err(io::Error::other(format!("byte {at} would be written at the position of byte {position}")));
        }
        if request.op == Op::Write {
            let bytes = request.rest();
            return self.write(bytes.len(), |from| self.stream.write(&bytes[from..]));
        }
        let len = request.left() as usize;
        self.write(len, |from| with_zeros((len - from) as u64, |zeros| self.stream.write(&zeros[0])))
    }

    fn make_durable(&self) -> io::Result<()> {
        if self.facts.kind == EndpointKind::FileStream { self.stream.make_durable() } else { Ok(()) }
    }

    fn cancel(&self) {
        self.stream.cancel();
    }

    fn diagnose(&self, _op: Op, _offset: u64, error: &io::Error) -> Kind {
        match error.raw_os_error() {
            Some(libc::EPIPE | libc::ECONNRESET) => Kind::BrokenPipe,
            Some(libc::ENOSPC) => Kind::NoSpace,
            _ if error.kind() == io::ErrorKind::UnexpectedEof => Kind::EndedEarly,
            _ => Kind::Io,
        }
    }
}
