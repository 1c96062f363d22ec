//! One side of a copy by records, open.
use crate::core::{PAGE_BYTES, RecordDevice};
use crate::sys;
use rustix::fs::{FileType, OFlags, Stat};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What a side is, as far as reading and writing records is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SideKind {
    /// A regular file.
    File,
    /// A block device.
    Block,
    /// A pipe or FIFO.
    Pipe,
    /// /dev/zero: unlimited, at once.
    Zeros,
    /// /dev/null.
    Null,
    /// A SCSI generic node, /dev/sg0: reads and writes of it are no reads and writes of the disk.
    ScsiGeneric,
    /// A disk that is reached by its own commands.
    Commands,
    /// Anything else: calls may mean more than their bytes, so they are made as dd makes them.
    Other,
}

/// One side, open.
#[derive(Debug)]
pub struct Opened {
    /// `None`: a standard stream that the caller had closed.
    pub(super) fd: Option<OwnedFd>,
    /// A disk that is reached by its own commands; it has no descriptor.
    pub(super) standing: Option<DevicePosition>,
    /// What it is.
    pub sort: SideKind,
    /// Bytes, of a regular file or block device.
    pub size: Option<u64>,
    /// Its offset when it was opened; `None` where there are no offsets.
    pub offset: Option<u64>,
    /// Flags of the open file.
    pub flags: OFlags,
    /// Bytes of a logical block, of a block device.
    pub logical_block_bytes: Option<u32>,
}

impl Opened {
    /// The descriptor.
    ///
    /// # Errors
    /// EBADF for a standard stream that the caller had closed, and for what is reached by commands.
    pub fn fd(&self) -> io::Result<BorrowedFd<'_>> {
        self.fd.as_ref().map(AsFd::as_fd).ok_or_else(|| Errno::BADF.into())
    }

    /// Closes a second descriptor of the same open file, at which the kernel says what it thinks of writes that it had
    /// kept back. The first one may still be in use by a read that waits.
    pub(super) fn close(&self) -> io::Result<()> {
        if self.standing.is_some() {
            return Ok(());
        }
        sys::close(rustix::io::fcntl_dupfd_cloexec(self.fd()?, 0)?)
    }

    /// A read waits for a medium of this side's own. Not where its bytes are in memory already, nor at a pipe: whoever
    /// fills it works meanwhile.
    pub fn waits_to_read(&self) -> bool {
        match self.sort {
            SideKind::Zeros | SideKind::Null | SideKind::Pipe => false,
            SideKind::Other | SideKind::ScsiGeneric | SideKind::Commands => true,
            SideKind::File | SideKind::Block => self.goes_past_the_cache() || !self.is_cached(),
        }
    }

    /// A write waits for a medium of this side's own. The page cache takes it in and writes it back by itself.
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

    /// Most of its bytes are in the page cache; false where that cannot be known.
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

/// A disk that is reached by its own commands, and its current offset. Only one thread of a copy uses each side.
#[derive(Debug)]
pub(super) struct DevicePosition {
    pub(super) device: Arc<dyn RecordDevice>,
    pub(super) at: AtomicU64,
    pub(super) size: u64,
}

impl DevicePosition {
    /// Bytes up to the end, of `wanted` ones; where they are.
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
