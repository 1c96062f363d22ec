//! One side of a copy by records, open.
use crate::core::{PAGE_BYTES, RecordDevice};
use crate::sys;
use rustix::fs::{FileType, OFlags, Stat};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The kinds of files among which reading and writing records distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SideKind {
    /// A regular file.
    File,
    /// A block device.
    Block,
    /// A pipe or FIFO.
    Pipe,
    /// /dev/zero: infinite and immediate.
    Zeros,
    /// /dev/null.
    Null,
    /// A SCSI generic node, /dev/sg0: reads and writes of it are not those of the disk.
    ScsiGeneric,
    /// A disk that is reached by passthrough commands.
    Commands,
    /// Anything else: calls may have side effects, so haul makes the same calls as dd.
    Other,
}

/// One side, open.
#[derive(Debug)]
pub struct Opened {
    /// `None`: a standard stream that was closed when haul started.
    pub(super) fd: Option<OwnedFd>,
    /// A disk that is reached by passthrough commands; it has no descriptor.
    pub(super) standing: Option<DevicePosition>,
    /// Its kind.
    pub sort: SideKind,
    /// Bytes, of a regular file or block device.
    pub size: Option<u64>,
    /// Its offset when it was opened; `None` if it has no offsets.
    pub offset: Option<u64>,
    /// Flags of the open file.
    pub flags: OFlags,
    /// Logical block size, of a block device.
    pub logical_block_bytes: Option<u32>,
}

impl Opened {
    /// The descriptor.
    ///
    /// # Errors
    /// EBADF for a standard stream that was closed, and for a disk that is reached by commands.
    pub fn fd(&self) -> io::Result<BorrowedFd<'_>> {
        self.fd.as_ref().map(AsFd::as_fd).ok_or_else(|| Errno::BADF.into())
    }

    /// Closes a duplicate descriptor, upon which the kernel reports errors of delayed writes. The original may
    /// still be in use by a blocked read.
    pub(super) fn close(&self) -> io::Result<()> {
        if self.standing.is_some() {
            return Ok(());
        }
        sys::close(rustix::io::fcntl_dupfd_cloexec(self.fd()?, 0)?)
    }

    /// Whether a read waits for the medium of this side. Not if its bytes are already in memory, nor for a
    /// pipe, whose writer runs at the same time.
    pub fn waits_to_read(&self) -> bool {
        match self.sort {
            SideKind::Zeros | SideKind::Null | SideKind::Pipe => false,
            SideKind::Other | SideKind::ScsiGeneric | SideKind::Commands => true,
            SideKind::File | SideKind::Block => self.goes_past_the_cache() || !self.is_cached(),
        }
    }

    /// Whether a write waits for the medium of this side. The page cache accepts writes and writes them back
    /// later.
    pub fn waits_to_write(&self) -> bool {
        match self.sort {
            SideKind::Zeros | SideKind::Null | SideKind::Pipe => false,
            SideKind::Other | SideKind::ScsiGeneric | SideKind::Commands => true,
            SideKind::File | SideKind::Block => self.goes_past_the_cache(),
        }
    }

    fn goes_past_the_cache(&self) -> bool {
        self.flags.intersects(OFlags::DIRECT | OFlags::SYNC | OFlags::DSYNC)
    }

    /// Whether most of its bytes are in the page cache; false if unknown.
    fn is_cached(&self) -> bool {
        let (Ok(fd), Some(size)) = (self.fd(), self.size) else { return false };
        let Ok(stat) = sys::page_cache::cachestat(fd, 0, 0) else { return false };
        stat.nr_cache.saturating_mul(PAGE_BYTES as u64) >= size / 2
    }
}

/// Major number of SCSI generic nodes, from the kernel's `devices.txt`.
const SCSI_GENERIC_MAJOR: u32 = 21;

pub(super) fn sort(stat: &Stat) -> SideKind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => SideKind::File,
        FileType::BlockDevice => SideKind::Block,
        FileType::Fifo => SideKind::Pipe,
        FileType::CharacterDevice => match (rustix::fs::major(stat.st_rdev), rustix::fs::minor(stat.st_rdev)) {
            (1, 3) => SideKind::Null,
            (1, 5) => SideKind::Zeros,
            (SCSI_GENERIC_MAJOR, _) => SideKind::ScsiGeneric,
            _ => SideKind::Other,
        },
        _ => SideKind::Other,
    }
}

/// A disk that is reached by passthrough commands, and its current offset. Only one thread of a copy uses each
/// side.
#[derive(Debug)]
pub(super) struct DevicePosition {
    pub(super) device: Arc<dyn RecordDevice>,
    pub(super) at: AtomicU64,
    pub(super) size: u64,
}

impl DevicePosition {
    /// How many of `wanted` bytes exist up to the end, and their offset.
    pub(super) fn reach(&self, wanted: usize) -> (usize, u64) {
        let at = self.at.load(Relaxed);
        let left = usize::try_from(self.size.saturating_sub(at)).unwrap_or(usize::MAX);
        (wanted.min(left), at)
    }

    pub(super) fn moved(&self, bytes: io::Result<usize>) -> io::Result<usize> {
        if let Ok(bytes) = bytes {
            self.at.fetch_add(bytes as u64, Relaxed);
        }
        bytes
    }
}
