//! NVMe commands as ring entries: `uring_cmd`, since 5.19.
use super::device::NvmeNamespace;
use super::status::Status;
use crate::core::{OnRing, Op, Request};
use crate::sys::nvme::{Data, NVME_URING_CMD_IO};
use io_uring::{opcode, squeue, types};
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// How commands went on the ring so far.
#[derive(Debug, Default)]
pub(super) struct RingState {
    /// One succeeded.
    used: AtomicBool,
    /// Those with registered memory.
    registered: Registered,
    /// Why the kernel takes no commands on a ring at all, an errno; 0: it does, or nobody knows yet.
    refused: AtomicI32,
}

impl RingState {
    /// Why the kernel takes no commands on a ring.
    pub(super) fn refusal(&self) -> Option<io::Error> {
        Some(self.refused.load(Relaxed)).filter(|errno| *errno != 0).map(io::Error::from_raw_os_error)
    }

    /// How commands reach the kernel, for the report.
    pub(super) fn way(&self) -> &'static str {
        let Registered { refused, used, .. } = &self.registered;
        match (self.used.load(Relaxed), refused.load(Relaxed), used.load(Relaxed)) {
            (true, false, true) => "uring_cmd, fixed buffers",
            (true, true, _) => "uring_cmd without fixed buffers, which this kernel does not take",
            (true, ..) => "uring_cmd",
            (false, ..) => "ioctl",
        }
    }

    /// What could not be had.
    pub(super) fn notes(&self) -> Vec<String> {
        let refused = self.refusal().map(|why| {
            format!("the kernel takes no NVMe commands on a ring ({why}): helper threads gave them by ioctl")
        });
        refused.into_iter().collect()
    }
}

/// Commands whose memory is registered. Not every kernel takes them: 6.1 counts the pages of all that is registered
/// behind a command's memory against the limit of one command, and one arena is longer than that.
#[derive(Debug)]
struct Registered {
    refused: AtomicBool,
    used: AtomicBool,
    /// Bit N: the command in flight for slot N has registered memory.
    in_flight: [AtomicU64; SLOTS as usize / 64],
}

/// Slots that a copy can have; for any beyond, memory is named by its address.
const SLOTS: u32 = 1024;

impl Default for Registered {
    fn default() -> Self {
        Registered {
            refused: false.into(),
            used: false.into(),
            in_flight: [const { AtomicU64::new(0) }; SLOTS as usize / 64],
        }
    }
}

impl Registered {
    /// The index under which a ring knows the request's memory, if the command is to name it so.
    fn index(&self, request: &Request) -> Option<u16> {
        let index = request.buffer.registered().filter(|_| request.slot < SLOTS && !self.refused.load(Relaxed));
        if index.is_some() {
            self.in_flight[request.slot as usize / 64].fetch_or(1 << (request.slot % 64), Relaxed);
        }
        index
    }

    /// Whether the command that came back for this request had registered memory.
    fn came_back(&self, request: &Request) -> bool {
        let bit = 1 << (request.slot % 64);
        let word = self.in_flight.get(request.slot as usize / 64);
        word.is_some_and(|word| word.fetch_and(!bit, Relaxed) & bit != 0)
    }
}

impl NvmeNamespace {
    /// The bytes of the command for a ring entry.
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

// SAFETY: the command is copied into the entry. It names the first `piece` bytes of the present transfer, which are
// sliced, and `Command::for_ring` sees to it that the drive moves as many and goes the same way. The descriptor is the
// drive's, which we own. A command without vectors has one completion.
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

    /// 0 is all of it, a positive number a status of the drive, a negative one an errno of the kernel. What a failure
    /// means is found out by a call: the ring does not wait for it.
    fn decode(&self, request: &Request, result: i32, _extra: [u64; 2]) -> io::Result<Option<u32>> {
        let (at, registered) = (request.at(), self.ring.registered.came_back(request));
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
            libc::EINVAL if registered => self.ring.registered.refused.store(true, Relaxed),
            libc::EINVAL | libc::EINTR | libc::EAGAIN => self.suspects.add(at, None),
            errno => return Err(io::Error::from_raw_os_error(errno)),
        }
        Ok(None)
    }
}
