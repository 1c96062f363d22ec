//! NVMe commands as ring entries: `uring_cmd`, since 5.19.
use super::device::NvmeNamespace;
use super::status::Status;
use crate::core::{OnRing, Op, Request};
use crate::sys::nvme::{Data, NVME_URING_CMD_IO};
use io_uring::{opcode, squeue, types};
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

impl NvmeNamespace {
    /// The command bytes of a ring entry.
    fn entry_bytes(&self, request: &mut Request, timeout: Duration) -> [u8; 80] {
        let len = self.piece(request).expect("asked before whether it takes the request");
        let command = self.command(request.op, request.at(), len);
        let len = len as usize;
        let mut data = match request.op {
            Op::Read => Data::In(&mut request.rest_mut()[..len]),
            _ => Data::Out(&request.rest()[..len]),
        };
        command.for_ring(&mut data, timeout).expect("the command is of as many blocks as its memory has")
    }
}

// SAFETY: the command is copied into the entry. It references the first `piece` bytes of the current transfer, which
// are sliced, and `Command::for_ring` ensures that the drive transfers the same number in the right direction. The
// descriptor belongs to the drive, which we own. A non-vectored command has exactly one completion.
#[expect(unsafe_code)]
unsafe impl OnRing for NvmeNamespace {
    fn fd(&self) -> BorrowedFd<'_> {
        self.drive.for_ring().expect("it is on no ring without a descriptor").0
    }

    fn needs_wide(&self) -> bool {
        true
    }

    fn takes(&self, request: &Request) -> bool {
        request.op != Op::Zero
            && self.ring.refused.load(Relaxed) == 0
            && self.piece(request).is_some()
            && !self.suspects.has(request.at())
    }

    fn encode(&self, _request: &mut Request, _fd: types::Fixed) -> squeue::Entry {
        unreachable!("it is only ever on a ring of the wide form")
    }

    fn encode_wide(&self, request: &mut Request, fd: types::Fixed) -> squeue::Entry128 {
        let (_, timeout) = self.drive.for_ring().expect("it is on no ring without a descriptor");
        let registered = self.ring.registered.index(request);
        let bytes = self.entry_bytes(request, timeout);
        opcode::UringCmd80::new(fd, NVME_URING_CMD_IO).cmd(bytes).buf_index(registered).build()
    }

    /// A result of 0 means that all bytes were transferred, a positive number is an NVMe status, a negative one an
    /// errno. Failures are examined by a call, so that the ring does not wait for retries.
    fn decode(&self, request: &Request, result: i32, _extra: [u64; 2]) -> io::Result<Option<u32>> {
        let (at, registered) = (request.at(), self.ring.registered.complete(request));
        if result == 0 {
            self.ring.used.store(true, Relaxed);
            self.ring.registered.used.fetch_or(registered, Relaxed);
            return Ok(Some(self.piece(request).expect("it was encoded")));
        }
        if let Ok(status) = u16::try_from(result) {
            self.suspects.add(at, Some(Status(status)));
            return Ok(None);
        }
        match -result {
            errno @ (libc::EOPNOTSUPP | libc::ENOTTY | libc::ENOSYS | libc::EACCES | libc::EPERM) => {
                self.ring.refused.store(errno, Relaxed);
            }
            // It timed out, and the kernel has reset the controller. A call would wait for as long again.
            libc::EINTR if self.options.failing => return Err(io::Error::from_raw_os_error(libc::ETIMEDOUT)),
            libc::EINVAL if registered => self.ring.registered.refused.store(true, Relaxed),
            libc::EINVAL | libc::EINTR | libc::EAGAIN => self.suspects.add(at, None),
            errno => return Err(io::Error::from_raw_os_error(errno)),
        }
        Ok(None)
    }
}
