//! SCSI commands on a ring: `struct bsg_uring_cmd` and its completions, from `linux/bsg.h` of 7.1.
use io_uring::{IoUring, cqueue, opcode, squeue, types};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

/// The command number for bsg nodes on a ring. There is only one kind of command, so the kernel ignores it.
pub const BSG_URING_CMD: u32 = 0;

/// Interval for polling the kernel for a completion without waiting.
const ASK_PAUSE: Duration = Duration::from_millis(1);

/// The data of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bytes {
    /// No data.
    None,
    /// To the device: address and length.
    Out(u64, u32),
    /// From the device: address and length.
    In(u64, u32),
}

/// A command for a ring. All addresses must stay valid until the completion, including that of the command block,
/// because the kernel may read it later.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// Address and length of the command descriptor block.
    pub cdb: (u64, u32),
    /// Address and size of the sense buffer.
    pub sense: (u64, u32),
    /// The data to transfer.
    pub bytes: Bytes,
    /// Timeout in milliseconds; 0 for the default of a minute.
    pub timeout_ms: u32,
}

impl Command {
    /// The 80 bytes of a ring entry.
    pub fn for_ring(&self) -> [u8; 80] {
        let mut entry = [0; 80];
        let mut long = |at: usize, value: u64| entry[at..at + 8].copy_from_slice(&value.to_ne_bytes());
        long(0, self.cdb.0);
        long(24, self.sense.0);
        let (out, into) = match self.bytes {
            Bytes::None => ((0, 0), (0, 0)),
            Bytes::Out(address, len) => ((address, len), (0, 0)),
            Bytes::In(address, len) => ((0, 0), (address, len)),
        };
        long(32, out.0);
        long(48, into.0);
        let mut short = |at: usize, value: u32| entry[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        short(8, self.cdb.1);
        // Offsets 12 and 16: protocol and subprotocol, 0 for a SCSI command. Offsets 44 and 60: no vectors.
        short(20, self.sense.1);
        short(40, out.1);
        short(56, into.1);
        short(64, self.timeout_ms);
        entry
    }
}

/// The result of a command, from the second word of its completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BsgCompletion {
    /// SCSI status.
    pub status: u8,
    /// Host status (`DID_…`).
    pub host_status: u8,
    /// Number of bytes of sense data that were stored.
    pub sense_bytes: u8,
    /// Number of bytes not transferred.
    pub residual_bytes: u32,
}

impl BsgCompletion {
    /// Parses the word. Its second byte only indicates whether there is sense data.
    pub fn of(number: u64) -> BsgCompletion {
        let [status, _, host_status, sense_bytes, ..] = number.to_le_bytes();
        BsgCompletion { status, host_status, sense_bytes, residual_bytes: (number >> 32) as u32 }
    }
}

/// Executes one command on a separate ring and waits for it.
///
/// # Errors
/// The kernel's error: EOPNOTSUPP if the node does not support commands on a ring, EINVAL if wide rings are not
/// supported.
///
/// # Safety
/// The addresses of the command must be valid for their lengths during the call, and writable for data from the device
/// and sense data.
pub unsafe fn submit_alone(fd: BorrowedFd<'_>, command: &Command) -> io::Result<BsgCompletion> {
    let mut ring = IoUring::<squeue::Entry128, cqueue::Entry32>::builder().build(2)?;
    let entry = opcode::UringCmd80::new(types::Fd(fd.as_raw_fd()), BSG_URING_CMD).cmd(command.for_ring()).build();
    // SAFETY: the caller guarantees the validity of the addresses, and after the kernel has taken the entry this
    // function returns only with its completion.
    unsafe { ring.submission().push(&entry) }.map_err(io::Error::other)?;
    // Called once: the kernel never sees an entry that it did not take in this call.
    hand_over(|| ring.submit())?;
    let (submitter, _, mut completions) = ring.split();
    let (result, number) = until_done(
        || submitter.submit_and_wait(1).map(drop),
        || {
            completions.sync();
            completions.next().map(|completion| (completion.result(), completion.big_cqe()[0]))
        },
    );
    if result == 0 { Ok(BsgCompletion::of(number)) } else { Err(io::Error::from_raw_os_error(-result)) }
}

/// Submits one entry. After an error, the kernel does not have it.
fn hand_over(mut submit: impl FnMut() -> io::Result<usize>) -> io::Result<()> {
    loop {
        match submit() {
            Ok(0) => return Err(io::Error::from(io::ErrorKind::WouldBlock)),
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Waits until a command that the kernel has taken is complete, regardless of errors of the wait, because the kernel
/// may write to the memory of the command until then. The timeout of the command limits the wait.
fn until_done<T>(mut wait: impl FnMut() -> io::Result<()>, mut done: impl FnMut() -> Option<T>) -> T {
    loop {
        if let Some(answer) = done() {
            return answer;
        }
        match wait() {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => std::thread::sleep(ASK_PAUSE),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_ring_entry_has_the_layout_of_the_kernel() {
        let command = Command {
            cdb: (0x1111_2222_3333_4444, 16),
            sense: (0x5555_6666_7777_8888, 96),
            bytes: Bytes::In(0x9999_aaaa_bbbb_cccc, 0x10000),
            timeout_ms: 60_000,
        };
        let entry = command.for_ring();
        let short = |entry: &[u8; 80], at: usize| u32::from_ne_bytes(entry[at..at + 4].try_into().unwrap());
        let long = |entry: &[u8; 80], at: usize| u64::from_ne_bytes(entry[at..at + 8].try_into().unwrap());
        assert_eq!((long(&entry, 0), short(&entry, 8)), command.cdb);
        assert_eq!((short(&entry, 12), short(&entry, 16)), (0, 0), "SCSI, a command");
        assert_eq!((long(&entry, 24), short(&entry, 20)), command.sense);
        assert_eq!((long(&entry, 32), short(&entry, 40), short(&entry, 44)), (0, 0, 0), "nothing goes out");
        assert_eq!((long(&entry, 48), short(&entry, 56), short(&entry, 60)), (0x9999_aaaa_bbbb_cccc, 0x10000, 0));
        assert_eq!((short(&entry, 64), &entry[68..]), (60_000, &[0; 12][..]));
        let entry = Command { bytes: Bytes::Out(7, 512), ..command }.for_ring();
        assert_eq!((long(&entry, 32), short(&entry, 40), long(&entry, 48), short(&entry, 56)), (7, 512, 0, 0));
        let entry = Command { bytes: Bytes::None, ..command }.for_ring();
        assert_eq!(entry[32..64], [0; 32]);
    }

    #[test]
    fn a_completion_is_decoded_as_the_kernel_packs_it() {
        let answer = BsgCompletion::of(0x0000_0200_1203_0802);
        assert_eq!(answer, BsgCompletion { status: 2, host_status: 3, sense_bytes: 0x12, residual_bytes: 512 });
    }

    /// Executes a command on a separate ring; `None`, with a message, if rings are not available.
    fn alone(path: &str) -> Option<io::Result<BsgCompletion>> {
        let file = std::fs::File::open(path).unwrap();
        let command = Command { cdb: (0, 0), sense: (0, 0), bytes: Bytes::None, timeout_ms: 0 };
        // SAFETY: the command contains no addresses.
        let result = unsafe { submit_alone(file.as_fd(), &command) };
        if let Err(error) = &result
            && matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM | libc::EINVAL | libc::ENOMEM))
        {
            eprintln!("skipped: no wide ring is available: {error}");
            return None;
        }
        Some(result)
    }

    #[test]
    fn a_failed_wait_continues_until_the_command_completes() {
        let errors = std::cell::RefCell::new(vec![libc::EBADF, libc::EAGAIN, libc::EINTR, libc::EBUSY]);
        let wait = || Err(io::Error::from_raw_os_error(errors.borrow_mut().pop().expect("it is done by then")));
        let answer = until_done(wait, || errors.borrow().is_empty().then_some(7));
        assert_eq!((answer, errors.borrow().len()), (7, 0));
    }

    #[test]
    fn a_command_that_was_not_submitted_is_not_awaited() {
        let mut errors = vec![libc::ENOMEM, libc::EINTR];
        let failed = hand_over(|| Err(io::Error::from_raw_os_error(errors.pop().unwrap())));
        assert_eq!(failed.unwrap_err().raw_os_error(), Some(libc::ENOMEM));
        assert_eq!(hand_over(|| Ok(0)).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        assert!(hand_over(|| Ok(1)).is_ok());
    }

    #[test]
    fn a_device_without_ring_passthrough_is_reported() {
        if let Some(submitted) = alone("/dev/zero") {
            assert_eq!(submitted.unwrap_err().raw_os_error(), Some(libc::EOPNOTSUPP));
        }
    }
}
