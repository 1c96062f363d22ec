//! An open block device.
use crate::core::{Cache, Endpoint, EndpointChange, Extent, Facts, Kind, OnRing, Op, Request, Result};
use crate::disks::opening::{Opening, same};
use crate::disks::positional::Positional;
use crate::hold::Held;
use crate::sys::block;
use rustix::fs::{FileType, OFlags};
use std::io;
use std::os::fd::BorrowedFd;

/// Maximum number of bytes to zero per call, so that stop requests and progress are handled in between.
const ZERO_BYTES_MAX: u64 = 128 << 20;

/// An open block device.
#[derive(Debug)]
pub(super) struct BlockDevice {
    facts: Facts,
    io: Positional,
    /// Size in bytes when it was opened.
    size: u64,
    logical_block_bytes: u64,
    /// The lock against other haul processes, including those that do not claim the device.
    _held: Option<Held>,
}

impl BlockDevice {
    /// Opens the device as planned.
    pub(super) fn open(opening: Opening<'_>) -> Result<Self> {
        let access = opening.plan.access;
        let exclusive = if access.exclusive { OFlags::EXCL } else { OFlags::empty() };
        let io = if access.cache == Cache::Direct {
            let direct = opening.open(OFlags::DIRECT | exclusive)?;
            // Without O_EXCL: the claim of the first descriptor is sufficient.
            let beside = opening.open(OFlags::empty())?;
            if !same(&direct, &beside) {
                return Err(opening.changed(""));
            }
            let memory_bytes =
                opening.facts.direct.map_or(access.offset_align_bytes, |requested| requested.memory_bytes);
            Positional::direct(direct, beside, access.offset_align_bytes, memory_bytes)
        } else {
            Positional::buffered(opening.open(exclusive)?, access.cache)
        };
        opening.check_identity(io.main())?;
        let failed = |error: io::Error| opening.error(Kind::Open, "").because(error);
        let stat = rustix::fs::fstat(io.main()).map_err(|errno| failed(errno.into()))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::BlockDevice {
            return Err(opening.changed(": not a block device"));
        }
        let size = block::size_bytes(io.main()).map_err(failed)?;
        if let Some(known) = opening.facts.size.filter(|known| *known != size) {
            return Err(opening.changed(&format!(": its size changed from {known} to {size} bytes")));
        }
        let logical_block_bytes = rustix::fs::ioctl_blksszget(io.main()).map_err(|errno| failed(errno.into()))?;
        let logical_block_bytes = logical_block_bytes.into();
        let held = opening.hold(io.main())?;
        Ok(BlockDevice { facts: opening.facts.clone(), io, size, logical_block_bytes, _held: held })
    }

    /// Zeroes whole logical blocks by the device, and partial ones by writing zeros.
    fn zero(&self, offset: u64, len: u32) -> io::Result<u32> {
        let (block, len) = (self.logical_block_bytes, u64::from(len));
        let head = offset.next_multiple_of(block) - offset;
        if head > 0 {
            return self.io.through_cache().write_zeros(offset, head.min(len));
        }
        let len_in_blocks = len.min(ZERO_BYTES_MAX) / block * block;
        if len_in_blocks == 0 {
            return self.io.through_cache().write_zeros(offset, len);
        }
        loop {
            match block::zero_out(self.io.main(), offset, len_in_blocks) {
                Ok(()) => return Ok(len_in_blocks as u32),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether the device no longer exists, or ends before `offset` now.
    fn has_disappeared_at(&self, offset: u64) -> bool {
        match block::size_bytes(self.io.main()) {
            Ok(size) => size == 0 || (offset < self.size && offset >= size),
            Err(_) => true,
        }
    }
}

impl Endpoint for BlockDevice {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        self.io.perform(request, |offset, len| self.zero(offset, len))
    }

    fn on_ring(&self) -> Option<&dyn OnRing> {
        Some(&self.io)
    }

    fn make_durable(&self) -> io::Result<()> {
        self.io.make_durable(false)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.io.main())
    }

    /// A removed disk returns end of file on reads and ENOSPC on writes, so both indicate that it has disappeared,
    /// unless `offset` is at its end. A full thin volume also returns ENOSPC, but still has its size.
    fn diagnose(&self, _op: Op, offset: u64, error: &io::Error) -> Kind {
        match error.raw_os_error() {
            Some(libc::ENODEV | libc::ENXIO | libc::ENOMEDIUM) => Kind::Disconnected,
            _ if self.has_disappeared_at(offset) => Kind::Disconnected,
            Some(libc::ENOSPC | libc::EDQUOT) => Kind::NoSpace,
            _ if error.kind() == io::ErrorKind::UnexpectedEof => Kind::Disconnected,
            _ => Kind::Io,
        }
    }

    fn change(&self) -> Option<EndpointChange> {
        let now = block::size_bytes(self.io.main()).ok()?;
        EndpointChange::of_size(self.size, now)
    }

    fn uncache(&self, extent: Extent) -> Option<u64> {
        self.io.uncache(extent)
    }
}
