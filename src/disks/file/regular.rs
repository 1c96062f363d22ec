//! An open regular file.
use super::allocation::{allocate, fallocate};
use super::holes;
use super::name::MadeName;
use crate::core::{
    Cache, DirectAlignment, Endpoint, EndpointChange, Existing, Extent, Facts, FileId, Kind, OffloadSource, OnRing,
    Request, Result, Run, Side,
};
use crate::disks::opening::{Opening, same};
use crate::disks::positional::Positional;
use crate::hold::Held;
use crate::sys::clone;
use rustix::fs::{FallocateFlags, FileType, OFlags};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Maximum number of bytes to punch per call, so that stop requests and progress are handled in between.
const PUNCH_BYTES_MAX: u32 = 128 << 20;

/// An open regular file.
#[derive(Debug)]
pub(super) struct RegularFile {
    facts: Facts,
    io: Positional,
    /// Size and modification time when it was opened.
    stamp: Stamp,
    /// The lock against other haul processes.
    _held: Option<Held>,
    /// Its directory entry, if this copy created it.
    made: Option<MadeName>,
    /// Whether haul changed its size or extents by other means than writes.
    reshaped: AtomicBool,
    /// Whether the file system reported that it cannot punch holes.
    cannot_punch: AtomicBool,
}

/// Properties that reveal a change by another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    size: u64,
    modified: (i64, i64),
}

impl Stamp {
    fn of(fd: BorrowedFd<'_>) -> io::Result<Self> {
        let stat = rustix::fs::fstat(fd)?;
        Ok(Stamp { size: stat.st_size as u64, modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64) })
    }
}

impl RegularFile {
    /// Opens the file as planned. If it was created and cannot be used, it is removed.
    pub(super) fn open(opening: Opening<'_>) -> Result<Self> {
        let create = opening.side == Side::Dest && opening.plan.access.existing == Existing::Create;
        if create {
            opening.refuse_file_under_dev()?;
        }
        let fd = opening.open(if create { OFlags::CREATE | OFlags::EXCL } else { OFlags::empty() })?;
        let made = create.then(|| MadeName::of(&opening.plan.path, &fd)).transpose();
        let made = made.map_err(|error| opening.error(Kind::Open, "").because(error))?;
        let id = if create { None } else { Some(opening.check_identity(fd.as_fd())?) };
        // Before anything is changed. If another process has locked the file, it found it by its name, so the name is
        // not removed.
        let held = opening.hold(fd.as_fd())?;
        let opened = Self::with_descriptor(opening, fd, id, held, made.clone());
        if let (Err(_), Some(made)) = (&opened, &made) {
            made.remove();
        }
        opened
    }

    fn with_descriptor(
        opening: Opening<'_>,
        fd: OwnedFd,
        id: Option<FileId>,
        held: Option<Held>,
        made: Option<MadeName>,
    ) -> Result<Self> {
        let failed = |errno: Errno| opening.error(Kind::Open, "").because(errno.into());
        let access = opening.plan.access;
        let id = id.map_or_else(|| file_id(fd.as_fd()).map_err(failed), Ok)?;
        if FileType::from_raw_mode(rustix::fs::fstat(&fd).map_err(failed)?.st_mode) != FileType::RegularFile {
            return Err(opening.changed(": not a regular file"));
        }
        let io = if access.cache == Cache::Direct {
            let direct = opening.open(OFlags::DIRECT)?;
            if !same(&direct, &fd) {
                return Err(opening.changed(""));
            }
            let requested = opening.facts.direct;
            let memory_bytes =
                requested.map_or(access.offset_align_bytes, |requested: DirectAlignment| requested.memory_bytes);
            Positional::direct(direct, fd, access.offset_align_bytes, memory_bytes)
        } else {
            Positional::buffered(fd, access.cache)
        };
        let emptied = opening.writes && access.existing == Existing::Truncate;
        if emptied {
            // Not by O_TRUNC: only a file that was checked is truncated.
            rustix::fs::ftruncate(io.main(), 0).map_err(failed)?;
        }
        let mut stamp = Stamp::of(io.main()).map_err(|error| opening.error(Kind::Open, "").because(error))?;
        let mut facts = opening.facts.clone();
        if !opening.writes {
            // The plan was made for the probed size, so a change since then counts too.
            stamp.size = facts.size.unwrap_or(stamp.size);
        } else {
            (facts.exists, facts.id) = (true, Some(id));
        }
        Ok(RegularFile { facts, io, stamp, _held: held, made, reshaped: emptied.into(), cannot_punch: false.into() })
    }

    fn zero(&self, offset: u64, len: u32) -> io::Result<u32> {
        if !self.cannot_punch.load(Relaxed) {
            let len = len.min(PUNCH_BYTES_MAX);
            let mode = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            match fallocate(self.io.main(), mode, Extent::new(offset, len.into())) {
                Ok(()) => {
                    self.reshaped.store(true, Relaxed);
                    return Ok(len);
                }
                Err(Errno::OPNOTSUPP | Errno::NOSYS) => self.cannot_punch.store(true, Relaxed),
                Err(error) => return Err(error.into()),
            }
        }
        self.io.write_zeros(offset, u64::from(len))
    }
}

fn file_id(fd: BorrowedFd<'_>) -> rustix::io::Result<FileId> {
    rustix::fs::fstat(fd).map(|stat| FileId::File(stat.st_dev, stat.st_ino))
}

impl Endpoint for RegularFile {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        self.io.perform(request, |offset, len| self.zero(offset, len))
    }

    fn on_ring(&self) -> Option<&dyn OnRing> {
        Some(&self.io)
    }

    fn run_at(&self, within: Extent) -> io::Result<Run> {
        holes::run_at(self.io.main(), within)
    }

    /// Allocates, and sets the size now: on ext4 and xfs, a direct write that extends a file takes an exclusive inode
    /// lock, so such writes would be serialized; below the size they run in parallel. A copy that is stopped truncates
    /// by [`Endpoint::end_at`].
    fn prepare(&self, extent: Extent) -> io::Result<()> {
        if extent.is_empty() {
            return Ok(());
        }
        self.reshaped.store(true, Relaxed);
        Ok(allocate(self.io.main(), extent)?)
    }

    fn end_at(&self, size: u64) -> io::Result<()> {
        if Stamp::of(self.io.main())?.size == size {
            return Ok(());
        }
        self.reshaped.store(true, Relaxed);
        Ok(rustix::fs::ftruncate(self.io.main(), size)?)
    }

    fn make_durable(&self) -> io::Result<()> {
        let grew = Stamp::of(self.io.main())?.size != self.stamp.size;
        self.io.make_durable(grew || self.made.is_some() || self.reshaped.load(Relaxed))?;
        self.made.as_ref().map_or(Ok(()), |made| made.make_durable(self.io.main()))
    }

    fn offload(&self, from: OffloadSource<'_>, extent: Extent, to_offset: u64) -> io::Result<u64> {
        let OffloadSource::File(source) = from else { return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)) };
        self.reshaped.store(true, Relaxed);
        clone::clone_range(self.io.main(), source, extent.offset, extent.len, to_offset)?;
        Ok(extent.len)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.io.main())
    }

    fn change(&self) -> Option<EndpointChange> {
        let now = Stamp::of(self.io.main()).ok()?;
        let rewritten = (now.modified != self.stamp.modified).then_some(EndpointChange::Modified);
        EndpointChange::of_size(self.stamp.size, now.size).or(rewritten)
    }

    fn uncache(&self, extent: Extent) -> Option<u64> {
        self.io.uncache(extent)
    }
}
