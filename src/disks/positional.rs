//! Positional I/O, direct and buffered, for files and block devices.
use super::buffered::{Buffered, retry};
use super::residency;
use super::zeros::with_zeros;
use crate::core::{Cache, Extent, OnRing, Op, PAGE_BYTES, Request};
use io_uring::{opcode, squeue, types};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// An open file or block device.
#[derive(Debug)]
pub(super) struct Positional {
    /// For aligned transfers, if the plan requires direct I/O.
    direct: Option<Direct>,
    /// For all other transfers.
    buffered: Buffered,
}

/// A descriptor with O_DIRECT.
#[derive(Debug)]
struct Direct {
    fd: OwnedFd,
    /// Alignment of offsets and lengths, in bytes.
    offset_bytes: u64,
    /// Alignment of addresses, in bytes.
    memory_bytes: usize,
}

/// The length of the next transfer, and whether it is direct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TransferStep {
    Direct(u32),
    Buffered(u32),
}

impl Positional {
    /// Buffered I/O only, with the page cache mode `cache`.
    pub(super) fn buffered(fd: OwnedFd, cache: Cache) -> Self {
        Positional { direct: None, buffered: Buffered::new(fd, cache) }
    }

    /// Direct I/O for aligned transfers, and buffered I/O through `beside`, without leaving pages in the cache, for the
    /// rest.
    pub(super) fn direct(fd: OwnedFd, beside: OwnedFd, offset_bytes: u32, memory_bytes: u32) -> Self {
        let (offset_bytes, memory_bytes) = (u64::from(offset_bytes.max(1)), memory_bytes.max(1) as usize);
        let direct = Some(Direct { fd, offset_bytes, memory_bytes });
        Positional { direct, buffered: Buffered::new(beside, Cache::Drop) }
    }

    /// The descriptor used for most transfers.
    pub(super) fn main(&self) -> BorrowedFd<'_> {
        self.direct.as_ref().map_or(self.buffered.fd(), |direct| direct.fd.as_fd())
    }

    /// The descriptor for buffered I/O.
    pub(super) fn through_cache(&self) -> &Buffered {
        &self.buffered
    }

    /// Executes a read or a write, or a part of it. `zero` zeroes the given number of bytes at an offset.
    pub(super) fn perform(
        &self,
        request: &mut Request,
        zero: impl FnOnce(u64, u32) -> io::Result<u32>,
    ) -> io::Result<u32> {
        if request.op == Op::Zero { zero(request.at(), request.left()) } else { self.transfer(request) }
    }

    fn transfer(&self, request: &mut Request) -> io::Result<u32> {
        let (at, start) = (request.at(), request.done as usize);
        let fd = self.main();
        match (self.way(request), request.op) {
            (TransferStep::Direct(len), Op::Read) => {
                let bytes = &mut request.buffer.bytes_mut()[start..start + len as usize];
                retry(|| rustix::io::pread(fd, &mut *bytes, at))
            }
            (TransferStep::Direct(len), _) => {
                let bytes = &request.buffer.bytes()[start..start + len as usize];
                retry(|| rustix::io::pwrite(fd, bytes, at))
            }
            (TransferStep::Buffered(len), Op::Read) => {
                self.buffered.read(&mut request.buffer.bytes_mut()[start..start + len as usize], at)
            }
            (TransferStep::Buffered(len), _) => {
                self.buffered.write(&request.buffer.bytes()[start..start + len as usize], at)
            }
        }
    }

    /// Writes up to `len` zeros as data.
    pub(super) fn write_zeros(&self, offset: u64, len: u64) -> io::Result<u32> {
        match self.way_of(offset, len.min(u64::from(u32::MAX)) as u32, 0) {
            TransferStep::Direct(len) => {
                let fd = self.main();
                let flags = rustix::io::ReadWriteFlags::empty();
                with_zeros(len.into(), |zeros| retry(|| rustix::io::pwritev2(fd, zeros, offset, flags)))
            }
            TransferStep::Buffered(len) => self.buffered.write_zeros(offset, len.into()),
        }
    }

    fn way(&self, request: &Request) -> TransferStep {
        let address = request.buffer.bytes().as_ptr() as usize + request.done as usize;
        self.way_of(request.at(), request.left(), address)
    }

    /// Splits a transfer where alignment begins or ends, at a page boundary, so that direct and buffered writes never
    /// share a page.
    fn way_of(&self, at: u64, left: u32, address: usize) -> TransferStep {
        let Some(direct) = &self.direct else { return TransferStep::Buffered(left) };
        let page = PAGE_BYTES as u64;
        let end = at + u64::from(left);
        let starts_aligned = |skipped: u64| {
            (at + skipped).is_multiple_of(direct.offset_bytes)
                && (address as u64 + skipped).is_multiple_of(direct.memory_bytes as u64)
        };
        if starts_aligned(0) {
            if u64::from(left).is_multiple_of(direct.offset_bytes) {
                return TransferStep::Direct(left);
            }
            let whole_pages = (end - end % page).saturating_sub(at);
            if whole_pages > 0 && whole_pages.is_multiple_of(direct.offset_bytes) {
                return TransferStep::Direct(whole_pages as u32);
            }
            return TransferStep::Buffered(left);
        }
        let head = at.next_multiple_of(page) - at;
        if head > 0 && head < u64::from(left) && starts_aligned(head) {
            return TransferStep::Buffered(head as u32);
        }
        TransferStep::Buffered(left)
    }

    /// Evicts the pages of `extent` from the page cache, and returns the number of its bytes that remain cached.
    pub(super) fn uncache(&self, extent: Extent) -> Option<u64> {
        residency::uncache(self.buffered.fd(), extent)
    }

    /// Returns when all data is on the medium; with `metadata` also size and times. Then drops the pages that are still
    /// cached.
    ///
    /// # Errors
    /// Includes the errors of earlier writes.
    pub(super) fn make_durable(&self, metadata: bool) -> io::Result<()> {
        self.buffered.finish()?;
        // Each descriptor reports writeback errors separately, so every descriptor that was used is checked.
        if self.direct.is_some() && self.buffered.was_written() {
            sync(self.buffered.fd(), false)?;
        }
        sync(self.main(), metadata)?;
        self.buffered.drop_written();
        Ok(())
    }
}

fn sync(fd: BorrowedFd<'_>, metadata: bool) -> io::Result<()> {
    let call = || if metadata { rustix::fs::fsync(fd) } else { rustix::fs::fdatasync(fd) };
    retry(|| call().map(|()| 0)).map(|_| ())
}

// SAFETY: an entry reads into or writes from the current transfer, whose bounds `rest` and `rest_mut` check. If it
// references registered memory, the ring has the arena of that buffer registered. It references no other memory. `main`
// always returns the same descriptor, which we own. Reads and writes have exactly one completion.
unsafe impl OnRing for Positional {
    fn fd(&self) -> BorrowedFd<'_> {
        self.main()
    }

    fn takes(&self, request: &Request) -> bool {
        if request.op == Op::Zero {
            return false;
        }
        match self.way(request) {
            TransferStep::Direct(len) => len == request.left(),
            TransferStep::Buffered(_) => self.direct.is_none() && self.buffered.suits_a_ring(),
        }
    }

    fn encode(&self, request: &mut Request, fd: types::Fixed) -> squeue::Entry {
        debug_assert!(self.takes(request));
        let (at, len) = (request.at(), request.left());
        let flags = if self.direct.is_some() { 0 } else { self.buffered.flags().bits() as i32 };
        let index = request.buffer.registered();
        match (request.op, index) {
            (Op::Read, None) => {
                let bytes = request.rest_mut().as_mut_ptr();
                opcode::Read::new(fd, bytes, len).offset(at).rw_flags(flags).build()
            }
            (Op::Read, Some(index)) => {
                let bytes = request.rest_mut().as_mut_ptr();
                opcode::ReadFixed::new(fd, bytes, len, index).offset(at).rw_flags(flags).build()
            }
            (_, None) => {
                let bytes = request.rest().as_ptr();
                opcode::Write::new(fd, bytes, len).offset(at).rw_flags(flags).build()
            }
            (_, Some(index)) => {
                let bytes = request.rest().as_ptr();
                opcode::WriteFixed::new(fd, bytes, len, index).offset(at).rw_flags(flags).build()
            }
        }
    }

    fn decode(&self, request: &Request, result: i32, _extra: [u64; 2]) -> io::Result<Option<u32>> {
        let moved = u32::try_from(result).map_err(|_| io::Error::from_raw_os_error(-result))?;
        if request.op == Op::Write && self.direct.is_none() {
            self.buffered.drop_behind(Extent::new(request.at(), u64::from(moved)))?;
        }
        Ok(Some(moved))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn direct(offset_bytes: u32, memory_bytes: u32) -> Positional {
        let fd = || OwnedFd::from(tempfile::tempfile().unwrap());
        Positional::direct(fd(), fd(), offset_bytes, memory_bytes)
    }

    #[test]
    fn a_transfer_is_split_at_alignment_boundaries_on_a_page() {
        let io = direct(512, 512);
        let table = [
            // (offset, length, address), expected step
            ((0, 65_536, 0), TransferStep::Direct(65_536)),
            ((512, 1024, 512), TransferStep::Direct(1024)),
            ((0, 65_536 + 777, 0), TransferStep::Direct(65_536)),
            ((512, 8192, 512), TransferStep::Direct(8192)),
            ((512, 8193, 512), TransferStep::Direct(7680)),
            ((4096, 777, 0), TransferStep::Buffered(777)),
            ((100, 65_536, 100), TransferStep::Buffered(3996)),
            ((100, 200, 100), TransferStep::Buffered(200)),
            // The address is never aligned together with the offset, so nothing can be direct.
            ((100, 65_536, 0), TransferStep::Buffered(65_536)),
            ((0, 65_536, 100), TransferStep::Buffered(65_536)),
        ];
        for ((at, len, address), way) in table {
            assert_eq!(io.way_of(at, len, address), way, "{len} bytes at {at} from {address}");
        }
    }

    #[test]
    fn memory_may_be_coarser_or_finer_than_offsets() {
        assert_eq!(direct(512, 4).way_of(512, 512, 4), TransferStep::Direct(512));
        assert_eq!(direct(512, 4096).way_of(512, 512, 512), TransferStep::Buffered(512));
        assert_eq!(direct(4096, 512).way_of(512, 512, 512), TransferStep::Buffered(512));
    }

    #[test]
    fn without_direct_a_transfer_is_not_split() {
        let io = Positional::buffered(tempfile::tempfile().unwrap().into(), Cache::Keep);
        assert_eq!(io.way_of(100, 65_536, 7), TransferStep::Buffered(65_536));
    }
}
