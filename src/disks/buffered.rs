//! Positional I/O through the page cache.
use super::reading::DONTCACHE;
use super::residency;
use super::writeback_queue::{WritebackQueue, drop_pages};
use super::zeros::with_zeros;
use crate::core::{Cache, Extent, WritebackError};
use rustix::io::ReadWriteFlags;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Positional I/O through the page cache, with the planned treatment of cached pages.
#[derive(Debug)]
pub(super) struct Buffered {
    fd: OwnedFd,
    /// Any mode but Direct.
    cache: Cache,
    behind: WritebackQueue,
    /// Offset of the first byte written so far; `u64::MAX` if nothing was written.
    written_from: AtomicU64,
    /// End of the last byte written so far.
    written_to: AtomicU64,
}

impl Buffered {
    /// Takes the descriptor over. With [`Cache::Drop`] it disables read-ahead, because pages read beyond a block could
    /// not be distinguished from those that other processes use.
    pub(super) fn new(fd: OwnedFd, cache: Cache) -> Self {
        debug_assert_ne!(cache, Cache::Direct);
        if cache == Cache::Drop {
            let _ = rustix::fs::fadvise(&fd, 0, None, rustix::fs::Advice::Random);
        }
        let (written_from, written_to) = (u64::MAX.into(), 0.into());
        Buffered { fd, cache, behind: WritebackQueue::default(), written_from, written_to }
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Whether a ring may execute its requests: no call has to follow a request.
    pub(super) fn suits_a_ring(&self) -> bool {
        self.cache != Cache::Drop
    }

    /// Flags for `preadv2(2)`, `pwritev2(2)` and ring entries.
    pub(super) fn flags(&self) -> ReadWriteFlags {
        if self.cache == Cache::DroppedByKernel { DONTCACHE } else { ReadWriteFlags::empty() }
    }

    /// Reads once; retries EINTR.
    pub(super) fn read(&self, bytes: &mut [u8], offset: u64) -> io::Result<u32> {
        let block = Extent::new(offset, bytes.len() as u64);
        let ours = if self.cache == Cache::Drop { residency::absent(self.fd(), block) } else { Vec::new() };
        let moved = retry(|| rustix::io::preadv2(&self.fd, &mut [IoSliceMut::new(bytes)], offset, self.flags()))?;
        ours.into_iter().for_each(|extent| drop_pages(self.fd(), extent));
        Ok(moved)
    }

    /// Writes once; retries EINTR.
    pub(super) fn write(&self, bytes: &[u8], offset: u64) -> io::Result<u32> {
        self.write_slices(&[IoSlice::new(bytes)], offset)
    }

    /// Writes up to `len` zeros once.
    pub(super) fn write_zeros(&self, offset: u64, len: u64) -> io::Result<u32> {
        with_zeros(len, |zeros| self.write_slices(zeros, offset))
    }

    fn write_slices(&self, slices: &[IoSlice<'_>], offset: u64) -> io::Result<u32> {
        let moved = retry(|| rustix::io::pwritev2(&self.fd, slices, offset, self.flags()))?;
        let written = Extent::new(offset, u64::from(moved));
        self.drop_behind(written)?;
        Ok(moved)
    }

    /// Treats the pages of an extent that was just written as planned.
    ///
    /// # Errors
    /// A failed writeback, marked as [`WritebackError`]; with [`Cache::Drop`] only.
    pub(super) fn drop_behind(&self, written: Extent) -> io::Result<()> {
        if written.is_empty() {
            return Ok(());
        }
        self.written_from.fetch_min(written.offset, Relaxed);
        self.written_to.fetch_max(written.end(), Relaxed);
        match self.cache {
            Cache::Drop => self.behind.push(self.fd(), written).map_err(WritebackError::mark),
            Cache::DroppedByKernel => {
                self.behind.push_without_waiting(self.fd(), written);
                Ok(())
            }
            Cache::Direct | Cache::Keep => Ok(()),
        }
    }

    /// Whether anything was written through the page cache.
    pub(super) fn was_written(&self) -> bool {
        self.written_to.load(Relaxed) > 0
    }

    /// Waits for writeback of the pages that are still in the window.
    pub(super) fn finish(&self) -> io::Result<()> {
        if self.cache == Cache::Drop { self.behind.finish(self.fd()) } else { Ok(()) }
    }

    /// Drops the written pages once they are durable. Pages at the edges of blocks stay cached beyond the window,
    /// because the adjacent block had them dirty.
    pub(super) fn drop_written(&self) {
        if self.cache != Cache::Keep && self.was_written() {
            let (from, to) = (self.written_from.load(Relaxed), self.written_to.load(Relaxed));
            drop_pages(self.fd(), Extent::new(from, to - from));
        }
    }
}

/// Repeats a call while signals interrupt it, and returns the number of bytes as `u32`.
pub(super) fn retry(mut call: impl FnMut() -> rustix::io::Result<usize>) -> io::Result<u32> {
    loop {
        match call() {
            // A request is shorter than 4 GiB, and the kernel transfers less than 2 GiB per call.
            Ok(moved) => return u32::try_from(moved).map_err(io::Error::other),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
