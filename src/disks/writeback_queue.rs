//! A bounded window of written data between writing and dropping it from the page cache.
use crate::core::Extent;
use crate::sys::page_cache;
use rustix::fs::Advice;
use std::collections::VecDeque;
use std::io;
use std::num::NonZeroU64;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Maximum amount of dirty data and data under writeback. Enough to keep a device queue full, and small enough that a
/// final flush is short and other programs keep their cached pages.
const WINDOW_BYTES: u64 = 16 << 20;

/// Extents under writeback. Helpers add extents in any order. The lock only protects the queue and is never held while
/// waiting for a device.
#[derive(Debug, Default)]
pub(super) struct WritebackQueue {
    waiting: Mutex<PendingExtents>,
    /// The first failed writeback, as errno; 0 for none. The kernel reports an error once per descriptor, so a final
    /// flush would succeed after an error that was already returned here.
    failed: AtomicI32,
}

#[derive(Debug, Default)]
struct PendingExtents {
    extents: VecDeque<Extent>,
    bytes: u64,
}

impl WritebackQueue {
    /// Starts writeback of `written`, and waits for and drops the extents that leave the window.
    ///
    /// # Errors
    /// A failed writeback of this extent or an earlier one. No later flush reports it again.
    pub(super) fn push(&self, fd: BorrowedFd<'_>, written: Extent) -> io::Result<()> {
        self.keep_error(page_cache::start_writeback(fd, written.offset, written.len))?;
        self.add(written);
        self.wait_down_to(fd, WINDOW_BYTES)
    }

    /// Drops the extents that leave the window without waiting, for RWF_DONTCACHE, where the kernel should drop pages
    /// itself. It does not if writeback ends in an interrupt: on 6.18, ext4 keeps every page of a file that is
    /// overwritten. Pages still under writeback are dropped at the end.
    pub(super) fn push_without_waiting(&self, fd: BorrowedFd<'_>, written: Extent) {
        self.add(written);
        while let Some(extent) = self.oldest_beyond(WINDOW_BYTES) {
            drop_pages(fd, extent);
        }
    }

    fn add(&self, written: Extent) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.extents.push_back(written);
        waiting.bytes += written.len;
    }

    /// Waits for and drops all extents in the window. Other threads may continue writing.
    ///
    /// # Errors
    /// As for [`WritebackQueue::push`]. Returns the first failure even if `push` returned it before, because the data
    /// remains lost.
    pub(super) fn finish(&self, fd: BorrowedFd<'_>) -> io::Result<()> {
        let there = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).extents.len();
        for _ in 0..there {
            self.wait_for_oldest_beyond(fd, 0)?;
        }
        match self.failed.load(Relaxed) {
            0 => Ok(()),
            errno => Err(io::Error::from_raw_os_error(errno)),
        }
    }

    /// Records a failure and returns it.
    fn keep_error(&self, result: io::Result<()>) -> io::Result<()> {
        result.inspect_err(|error| {
            let errno = error.raw_os_error().unwrap_or(libc::EIO);
            // Keep only the first error; later ones may be consequences.
            let _ = self.failed.compare_exchange(0, errno, Relaxed, Relaxed);
        })
    }

    fn wait_down_to(&self, fd: BorrowedFd<'_>, bytes_max: u64) -> io::Result<()> {
        while self.wait_for_oldest_beyond(fd, bytes_max)? {}
        Ok(())
    }

    /// False if no extent is beyond the limit.
    fn wait_for_oldest_beyond(&self, fd: BorrowedFd<'_>, bytes_max: u64) -> io::Result<bool> {
        let Some(extent) = self.oldest_beyond(bytes_max) else { return Ok(false) };
        self.keep_error(page_cache::finish_writeback(fd, extent.offset, extent.len))?;
        drop_pages(fd, extent);
        Ok(true)
    }

    fn oldest_beyond(&self, bytes_max: u64) -> Option<Extent> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.bytes <= bytes_max {
            return None;
        }
        let extent = waiting.extents.pop_front()?;
        waiting.bytes -= extent.len;
        Some(extent)
    }
}

/// Advises the kernel to drop the clean pages of `extent`, including those that it covers partly. Errors are ignored,
/// because no data is lost if they are not dropped.
pub(super) fn drop_pages(fd: BorrowedFd<'_>, extent: Extent) {
    let page = rustix::param::page_size() as u64;
    let start = extent.offset - extent.offset % page;
    let end = extent.end().next_multiple_of(page);
    let _ = rustix::fs::fadvise(fd, start, NonZeroU64::new(end - start), Advice::DontNeed);
}
