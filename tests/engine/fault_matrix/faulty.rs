//! A side that fails at one offset: between the engine and a real endpoint.
use haul::core::{Endpoint, Extent, Facts, Kind, OnRing, Op, Request, Run};
use io_uring::{squeue, types};
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

/// The fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Requests that touch the sector fail with EIO.
    Eio,
    /// There is no space from this offset.
    Full,
    /// Half of the requested bytes are transferred.
    Short,
    /// The request is delayed.
    Stall,
    /// After the first request at the offset, all requests fail.
    Gone,
}

pub struct Faulty {
    pub inner: Arc<dyn Endpoint>,
    pub fault: Fault,
    /// The bytes that fail.
    pub bad: Extent,
    disappeared: AtomicBool,
}

fn errno(number: i32) -> io::Error {
    io::Error::from_raw_os_error(number)
}

impl Faulty {
    pub fn new(inner: Arc<dyn Endpoint>, fault: Fault, bad: Extent) -> Self {
        Faulty { inner, fault, bad, disappeared: AtomicBool::new(false) }
    }

    fn touches(&self, request: &Request) -> bool {
        self.bad.overlaps(&Extent::new(request.at(), request.left().into()))
    }

    /// Applies the fault to the result of a transfer.
    fn spoil<T>(&self, request: &Request, moved: io::Result<T>) -> io::Result<T> {
        let touched = self.touches(request);
        if self.fault == Fault::Gone && touched {
            self.disappeared.store(true, Relaxed);
        }
        match self.fault {
            Fault::Gone if self.disappeared.load(Relaxed) => Err(errno(libc::ENODEV)),
            Fault::Eio if touched => Err(errno(libc::EIO)),
            Fault::Full if request.at() + u64::from(request.left()) > self.bad.offset => Err(errno(libc::ENOSPC)),
            _ => moved,
        }
    }

    /// Half of it, if it is more than a page: direct I/O cannot transfer less than a page.
    fn shortened(&self, request: &mut Request) -> Option<u32> {
        let whole = request.until;
        let cut = self.fault == Fault::Short && self.touches(request) && request.left() > 4096;
        cut.then(|| request.until -= request.left() / 2).map(|()| whole)
    }
}

impl Endpoint for Faulty {
    fn facts(&self) -> &Facts {
        self.inner.facts()
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        if self.fault == Fault::Stall && self.touches(request) {
            std::thread::sleep(Duration::from_millis(60));
        }
        self.spoil(request, Ok(0))?;
        let whole = self.shortened(request);
        let moved = self.inner.perform(request);
        request.until = whole.unwrap_or(request.until);
        moved
    }

    fn on_ring(&self) -> Option<&dyn OnRing> {
        self.inner.on_ring().map(|_| self as &dyn OnRing)
    }

    fn run_at(&self, within: Extent) -> io::Result<Run> {
        self.inner.run_at(within)
    }

    fn end_at(&self, size: u64) -> io::Result<()> {
        self.inner.end_at(size)
    }

    fn make_durable(&self) -> io::Result<()> {
        if self.disappeared.load(Relaxed) { Err(errno(libc::ENODEV)) } else { self.inner.make_durable() }
    }

    fn diagnose(&self, op: Op, offset: u64, error: &io::Error) -> Kind {
        self.inner.diagnose(op, offset, error)
    }
}

// SAFETY: entries and the descriptor are those of `inner`, which lives as long as this.
unsafe impl OnRing for Faulty {
    fn fd(&self) -> BorrowedFd<'_> {
        self.inner.on_ring().expect("called only if there is one").fd()
    }

    fn takes(&self, request: &Request) -> bool {
        // The kernel cannot simulate delayed or short requests, so these are made by calls.
        let by_call = matches!(self.fault, Fault::Stall | Fault::Short) && self.touches(request);
        !by_call && self.inner.on_ring().is_some_and(|ring| ring.takes(request))
    }

    fn encode(&self, request: &mut Request, fd: types::Fixed) -> squeue::Entry {
        self.inner.on_ring().expect("called only if there is one").encode(request, fd)
    }

    fn decode(&self, request: &Request, result: i32, extra: [u64; 2]) -> io::Result<Option<u32>> {
        let moved = self.inner.on_ring().expect("called only if there is one").decode(request, result, extra);
        self.spoil(request, moved)
    }
}
