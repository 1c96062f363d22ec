//! The bounded window between what was written and what has left the page cache.
use crate::core::Extent;
use crate::sys::page_cache;
use rustix::fs::Advice;
use std::collections::VecDeque;
use std::io;
use std::num::NonZeroU64;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Bytes that may be dirty or on their way to the device. Enough to keep a queue full, and little enough that a final
/// flush has nothing to do and other programs keep their pages.
const WINDOW_BYTES: u64 = 16 << 20;

/// Extents whose writeback was started and not waited for. Helpers push in any order; the lock is held for the queue
/// alone, never while waiting for a device.
#[derive(Debug, Default)]
pub(super) struct WritebackQueue {
    waiting: Mutex<PendingExtents>,
    /// The first writeback that failed, as errno; 0: none. The kernel reports each descriptor once, so the flush at the
    /// end would succeed after an error that was consumed here.
    failed: AtomicI32,
}

#[derive(Debug, Default)]
struct PendingExtents {
    extents: VecDeque<Extent>,
    bytes: u64,
}

impl WritebackQueue {
    /// Starts to write `written` back; waits for and drops what falls out of the window by it.
    ///
    /// # Errors
    /// A writeback that failed, of this extent or an earlier one: no later flush repeats it.
    pub(super) fn push(&self, fd: BorrowedFd<'_>, written: Extent) -> io::Result<()> {
        self.keep_error(page_cache::start_writeback(fd, written.offset, written.len))?;
        self.add(written);
        self.settle_down_to(fd, WINDOW_BYTES)
    }

    /// Drops what falls out of the window by `written`, without waiting: for pages that the kernel writes back and
    /// should drop by itself (RWF_DONTCACHE). Where writeback ends in an interrupt it does not: on 6.18, ext4 keeps
    /// every page of a file that is overwritten. What is still on its way is dropped at the end.
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

    /// Waits for and drops everything that is in the window now; others may go on writing meanwhile.
    ///
    /// # Errors
    /// As for [`WritebackQueue::push`]; the first one that there ever was, also when `push` has reported it: what it
    /// was about stays lost.
    pub(super) fn finish(&self, fd: BorrowedFd<'_>) -> io::Result<()> {
        let there = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).extents.len();
        for _ in 0..there {
            self.settle_oldest_beyond(fd, 0)?;
        }
        match self.failed.load(Relaxed) {
            0 => Ok(()),
            errno => Err(io::Error::from_raw_os_error(errno)),
        }
    }

    /// Remembers a failure on its way to the caller.
    fn keep_error(&self, result: io::Result<()>) -> io::Result<()> {
        result.inspect_err(|error| {
            let errno = error.raw_os_error().unwrap_or(libc::EIO);
            // Only the first is kept: the others may follow from it.
            let _ = self.failed.compare_exchange(0, errno, Relaxed, Relaxed);
        })
    }

    fn settle_down_to(&self, fd: BorrowedFd<'_>, bytes_max: u64) -> io::Result<()> {
        while self.settle_oldest_beyond(fd, bytes_max)? {}
        Ok(())
    }

    /// False where there was none.
    fn settle_oldest_beyond(&self, fd: BorrowedFd<'_>, bytes_max: u64) -> io::Result<bool> {
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

/// Asks the kernel to drop the clean pages of `extent`, those that it covers in part too. Advice: nothing is lost if
/// it is not taken, so there is no error to report.
pub(super) fn drop_pages(fd: BorrowedFd<'_>, extent: Extent) {
    let page = rustix::param::page_size() as u64;
    let start = extent.offset - extent.offset % page;
    let end = extent.end().next_multiple_of(page);
    let _ = rustix::fs::fadvise(fd, start, NonZeroU64::new(end - start), Advice::DontNeed);
}
