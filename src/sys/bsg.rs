//! SCSI commands on a ring: `struct bsg_uring_cmd` and what comes back, from `linux/bsg.h` of 7.1.
use io_uring::{IoUring, cqueue, opcode, squeue, types};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

/// The number that a bsg node's commands have on a ring. It has one kind only, and looks at none.
pub const BSG_URING_CMD: u32 = 0;

/// How often the kernel is asked for a completion that it does not wait for.
const ASK_PAUSE: Duration = Duration::from_millis(1);

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bytes {
    /// None are moved.
    None,
    /// To the device, from this address, so many.
    Out(u64, u32),
    /// From the device.
    In(u64, u32),
}

/// A command for a ring. Addresses have to stay valid until the completion, those of the command too: the kernel may
/// fetch it later.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// Where the command descriptor block is, and its bytes.
    pub cdb: (u64, u32),
    /// Where sense data go, and the room there.
    pub sense: (u64, u32),
    /// What is moved.
    pub bytes: Bytes,
    /// Milliseconds until the kernel gives it up; 0: a minute.
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
        // At 12 and 16 the protocol, SCSI, and that it is a command: both 0. No vectors, at 44 and 60.
        short(20, self.sense.1);
        short(40, out.1);
        short(56, into.1);
        short(64, self.timeout_ms);
        entry
    }
}

/// The result of a command, from the second number of its completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BsgCompletion {
    /// SCSI status.
    pub status: u8,
    /// The status of the host adapter's driver, `DID_…`.
    pub host_status: u8,
    /// Bytes of sense data that were stored.
    pub sense_bytes: u8,
    /// Bytes that were not moved.
    pub residual_bytes: u32,
}

impl BsgCompletion {
    /// From the number. Its second byte only repeats that there are sense data.
    pub fn of(number: u64) -> BsgCompletion {
        let [status, _, host_status, sense_bytes, ..] = number.to_le_bytes();
        BsgCompletion { status, host_status, sense_bytes, residual_bytes: (number >> 32) as u32 }
    }
}

/// Gives one command on a ring of its own and waits for it.
///
/// # Errors
/// The kernel's error: EOPNOTSUPP where the node takes none on a ring, EINVAL where there are no wide rings.
///
/// # Safety
/// The command's addresses are valid for their lengths through the call, to be written where bytes and sense data go.
pub unsafe fn give_alone(fd: BorrowedFd<'_>, command: &Command) -> io::Result<BsgCompletion> {
    let mut ring = IoUring::<squeue::Entry128, cqueue::Entry32>::builder().build(2)?;
    let entry = opcode::UringCmd80::new(types::Fd(fd.as_raw_fd()), BSG_URING_CMD).cmd(command.for_ring()).build();
    // SAFETY: what the entry points to is the caller's affair, and once the kernel has the entry this returns only with
    // its completion.
    unsafe { ring.submission().push(&entry) }.map_err(io::Error::other)?;
    // Once: what the kernel did not take with this call is never seen by it.
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

/// Submits one entry. With an error the kernel does not have it.
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

/// Waits until a command that the kernel has is done. There is no other way out: the kernel may write to the memory of
/// the command until then, whatever it says of the wait. The command's time-out ends it.
fn until_done<T>(mut wait: impl FnMut() -> io::Result<()>, mut done: impl FnMut() -> Option<T>) -> T {
    loop {
        if let Some(said) = done() {
            return said;
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
    fn a_ring_entry_has_each_field_where_the_kernel_looks_for_it() {
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
    fn what_comes_back_is_taken_apart_where_the_kernel_packs_it() {
        let said = BsgCompletion::of(0x0000_0200_1203_0802);
        assert_eq!(said, BsgCompletion { status: 2, host_status: 3, sense_bytes: 0x12, residual_bytes: 512 });
    }

    /// A ring that is available, or `None`, aloud.
    fn alone(path: &str) -> Option<io::Result<BsgCompletion>> {
        let file = std::fs::File::open(path).unwrap();
        let command = Command { cdb: (0, 0), sense: (0, 0), bytes: Bytes::None, timeout_ms: 0 };
        // SAFETY: no address is named.
        let given = unsafe { give_alone(file.as_fd(), &command) };
        if let Err(error) = &given
            && matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM | libc::EINVAL | libc::ENOMEM))
        {
            eprintln!("skipped: no wide ring can be had: {error}");
            return None;
        }
        Some(given)
    }

    #[test]
    fn a_wait_that_fails_does_not_end_before_the_command_is_done() {
        let errors = std::cell::RefCell::new(vec![libc::EBADF, libc::EAGAIN, libc::EINTR, libc::EBUSY]);
        let wait = || Err(io::Error::from_raw_os_error(errors.borrow_mut().pop().expect("it is done by then")));
        let said = until_done(wait, || errors.borrow().is_empty().then_some(7));
        assert_eq!((said, errors.borrow().len()), (7, 0));
    }

    #[test]
    fn a_command_that_the_kernel_did_not_take_is_not_waited_for() {
        let mut errors = vec![libc::ENOMEM, libc::EINTR];
        let failed = hand_over(|| Err(io::Error::from_raw_os_error(errors.pop().unwrap())));
        assert_eq!(failed.unwrap_err().raw_os_error(), Some(libc::ENOMEM));
        assert_eq!(hand_over(|| Ok(0)).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        assert!(hand_over(|| Ok(1)).is_ok());
    }

    #[test]
    fn what_takes_no_commands_on_a_ring_says_so() {
        if let Some(given) = alone("/dev/zero") {
            assert_eq!(given.unwrap_err().raw_os_error(), Some(libc::EOPNOTSUPP));
        }
    }
}
