//! An endpoint in memory with simulated faults of real devices.
//!
//! This room must not know engines. Tests, property tests and the micro-benchmark of the pump use it.
mod fault;

pub use fault::Fault;

use crate::core::{Endpoint, EndpointKind, Extent, Facts, Kind, Op, Order, PAGE_BYTES, Request, Run, RunKind};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// A request to a memory endpoint, recorded for tests that check I/O as well as data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedRequest {
    /// The operation.
    pub op: Op,
    /// Its extent.
    pub extent: Extent,
}

/// An endpoint in memory with blocking calls only, like SG_IO and other interfaces without a queue.
#[derive(Debug)]
pub struct Memory {
    facts: Facts,
    bytes: Mutex<Vec<u8>>,
    asked: Mutex<Vec<RecordedRequest>>,
    faults: Vec<Fault>,
    /// Position in a stream.
    stream_at: AtomicU64,
}

impl Memory {
    /// A disk with this content and these faults.
    pub fn disk(bytes: Vec<u8>, faults: &[Fault]) -> Self {
        let mut facts = Facts::new("memory", EndpointKind::Memory);
        facts.size = Some(bytes.len() as u64);
        Memory {
            facts,
            bytes: bytes.into(),
            asked: Mutex::default(),
            faults: faults.to_vec(),
            stream_at: AtomicU64::new(0),
        }
    }

    /// A pipe with these faults: as a source it returns `bytes`, as a dest it appends to them.
    pub fn pipe(bytes: Vec<u8>, faults: &[Fault]) -> Self {
        let mut pipe = Memory::disk(bytes, faults);
        pipe.facts.size = None;
        pipe.facts.order = Order::Ascending;
        pipe
    }

    /// The current content.
    pub fn bytes(&self) -> Vec<u8> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// All requests so far, in the order in which they started.
    pub fn asked(&self) -> Vec<RecordedRequest> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Number of bytes of this transfer that the faults permit, or their error.
    fn allowed(&self, request: &Request) -> io::Result<u32> {
        let mut left = request.left();
        let at = request.at();
        for fault in &self.faults {
            left = match *fault {
                Fault::Short(most) if request.op != Op::Zero => left.min(most),
                Fault::Uneven if request.ticket.is_multiple_of(4) => {
                    thread::sleep(Duration::from_micros(400));
                    left
                }
                Fault::BadAt { op, offset, errno }
                    if op == request.op && at <= offset && offset < at + u64::from(left) =>
                {
                    // Bad sectors respond after adjacent ones.
                    thread::sleep(Duration::from_millis(5));
                    return Err(io::Error::from_raw_os_error(errno));
                }
                Fault::BadSectors { op, extent, errno }
                    if op == request.op && extent.overlaps(&Extent::new(at, left.into())) =>
                {
                    thread::sleep(Duration::from_micros(300));
                    return Err(io::Error::from_raw_os_error(errno));
                }
                Fault::EndsAt(end) if request.op == Op::Read => {
                    left.min(end.saturating_sub(at).min(u64::from(left)) as u32)
                }
                Fault::FullAt(end) if request.op != Op::Read && at >= end => {
                    return Err(io::Error::from_raw_os_error(libc::ENOSPC));
                }
                Fault::Takes(time) => {
                    thread::sleep(time);
                    left
                }
                Fault::Wraps(size) => left.min((size - at % size).min(u64::from(left)) as u32),
                Fault::FullAt(end) if request.op != Op::Read => left.min((end - at).min(u64::from(left)) as u32),
                _ => left,
            };
        }
        Ok(left)
    }

    /// Index in memory of the byte at an offset.
    fn place_of(&self, offset: u64) -> u64 {
        let wraps = |fault: &Fault| if let Fault::Wraps(size) = fault { Some(*size) } else { None };
        self.faults.iter().find_map(wraps).map_or(offset, |size| offset % size)
    }

    fn is_stream(&self) -> bool {
        self.facts.order == Order::Ascending
    }

    fn carry_out(&self, request: &mut Request, len: usize) -> u32 {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let at = self.place_of(request.at()) as usize;
        if self.is_stream() {
            assert_eq!(self.stream_at.swap(at as u64 + len as u64, Relaxed), at as u64, "a pipe has no offsets");
        }
        let len = match request.op {
            Op::Read => len.min(bytes.len().saturating_sub(at)),
            Op::Write | Op::Zero => len,
        };
        if request.op != Op::Read && bytes.len() < at + len {
            bytes.resize(at + len, 0);
        }
        match request.op {
            Op::Read => request.rest_mut()[..len].copy_from_slice(&bytes[at..at + len]),
            Op::Write => bytes[at..at + len].copy_from_slice(&request.rest()[..len]),
            Op::Zero => bytes[at..at + len].fill(0),
        }
        if self.is_stream() {
            self.stream_at.store((at + len) as u64, Relaxed);
        }
        len as u32
    }
}

impl Endpoint for Memory {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        let extent = Extent::new(request.at(), u64::from(request.left()));
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(RecordedRequest { op: request.op, extent });
        let len = self.allowed(request)?;
        Ok(self.carry_out(request, len as usize))
    }

    /// Reports pages of zeros as holes.
    fn run_at(&self, within: Extent) -> io::Result<Run> {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let kind_at = |offset: u64| {
            let page = offset - offset % PAGE_BYTES as u64;
            let end = bytes.len().min(page as usize + PAGE_BYTES);
            let zero = bytes.get(page as usize..end).is_none_or(|page| page.iter().all(|&byte| byte == 0));
            if zero { RunKind::Zero } else { RunKind::Data }
        };
        let kind = kind_at(within.offset);
        let mut end = within.offset - within.offset % PAGE_BYTES as u64;
        while end < within.end() && kind_at(end) == kind {
            end += PAGE_BYTES as u64;
        }
        Ok(Run { extent: Extent::new(within.offset, end.min(within.end()) - within.offset), kind })
    }

    fn diagnose(&self, op: Op, _offset: u64, error: &io::Error) -> Kind {
        match error.raw_os_error() {
            Some(libc::ENOSPC) => Kind::NoSpace,
            Some(libc::ENODEV) => Kind::Disconnected,
            _ if op == Op::Read && error.kind() == io::ErrorKind::UnexpectedEof => Kind::EndedEarly,
            _ => Kind::Io,
        }
    }
}
