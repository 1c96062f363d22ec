//! A SCSI generic node, open: one command after the other, each tried as often as it is worth.
use super::cdb::Cdb;
use super::retry_policy::{Counts, RetryPolicy};
use super::sense::{Sense, key};
use super::verdict::{CommandOutcome, CommandRange, CommandStatus, host, judge};
use crate::core::{CommandOptions, DeviceError, Kind};
use crate::disks::opening::Opening;
use crate::sys::sg::{self, SgIoHdr};
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

/// Room for sense data; the kernel stores no more than 96 bytes.
pub(super) const SENSE_BYTES: usize = 96;

/// The first version of the driver that knows the interface used here, 3.0, of 2000.
const VERSION_MIN: i32 = 30_000;

/// A device that may be going is examined so many times, and this long after each other.
const GOING_LOOKS: u32 = 10;
/// See [`GOING_LOOKS`].
const GOING_PAUSE: Duration = Duration::from_millis(20);

/// How long the driver's queue is given when it is full, before it is asked again.
const FULL_PAUSE: Duration = Duration::from_millis(1);

/// The bytes of a command.
pub(super) enum Data<'a> {
    None,
    From(&'a mut [u8]),
    To(&'a [u8]),
}

impl Data<'_> {
    fn len(&self) -> u32 {
        let len = match self {
            Data::None => 0,
            Data::From(bytes) => bytes.len(),
            Data::To(bytes) => bytes.len(),
        };
        u32::try_from(len).expect("no command moves 4 GiB")
    }

    /// The header of a command with these bytes; its pointer to sense data is still to come.
    fn header(&mut self, cdb: &Cdb, timeout_ms: u32) -> SgIoHdr {
        let mut header = header(cdb, timeout_ms);
        header.dxfer_len = self.len();
        match self {
            Data::None => {}
            Data::From(bytes) => {
                header.dxfer_direction = sg::DXFER_FROM_DEV;
                header.dxferp = bytes.as_mut_ptr().cast();
            }
            Data::To(bytes) => {
                header.dxfer_direction = sg::DXFER_TO_DEV;
                header.dxferp = bytes.as_ptr().cast_mut().cast();
            }
        }
        header
    }
}

/// Which way the bytes of a command take between the driver and haul.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DataTransfer {
    /// The driver copies them.
    Copied,
    /// None, where the driver can do without a copy.
    Direct,
    /// They are in the buffer that this descriptor reserves and shares with haul.
    Shared,
    /// None: they stay in the driver's memory, and are lost there.
    NotMoved,
}

/// A SCSI generic node, open.
#[derive(Debug)]
pub(super) struct Node {
    fd: OwnedFd,
    pub(super) wishes: CommandOptions,
    pub(super) counts: Counts,
    /// Opened for writing too, as a queue and commands that change something need it.
    pub(super) writable: bool,
}

/// What a node is opened for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The disk is read, or asked.
    Reading,
    /// The disk is written to.
    Writing,
}

impl Purpose {
    pub(super) fn of(opening: &Opening<'_>) -> Self {
        if opening.writes { Purpose::Writing } else { Purpose::Reading }
    }
}

impl Node {
    /// Opens it; with read access alone where this process may have no more and only reading is asked for.
    pub(super) fn open(path: &Path, purpose: Purpose, wishes: CommandOptions) -> io::Result<Self> {
        let open = |access: OFlags| {
            // Without it an open waits for a process that has the node exclusively.
            let mut flags = access | OFlags::NONBLOCK | OFlags::CLOEXEC;
            flags.set(OFlags::EXCL, wishes.exclusive && access == OFlags::RDWR);
            rustix::fs::open(path, flags, Mode::empty())
        };
        let (fd, writable) = match open(OFlags::RDWR) {
            Err(rustix::io::Errno::ACCESS | rustix::io::Errno::PERM | rustix::io::Errno::ROFS)
                if purpose == Purpose::Reading =>
            {
                (open(OFlags::RDONLY)?, false)
            }
            opened => (opened?, true),
        };
        if wishes.locked {
            rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive)?;
        }
        if let Some(refusal) = too_old(sg::version(fd.as_fd())?) {
            return Err(refusal.into());
        }
        Ok(Node { fd, wishes, counts: Counts::default(), writable })
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// A node of something that takes no commands.
    #[cfg(test)]
    pub(super) fn silent(fd: OwnedFd) -> Self {
        Node { fd, wishes: CommandOptions::default(), counts: Counts::default(), writable: false }
    }

    /// Device number of the node.
    pub(super) fn number(&self) -> io::Result<u64> {
        Ok(rustix::fs::fstat(&self.fd)?.st_rdev)
    }

    /// Milliseconds that a command may take.
    pub(super) fn timeout_ms(&self) -> u32 {
        u32::try_from(self.wishes.timeout.as_millis()).unwrap_or(u32::MAX)
    }

    /// Carries a command out, as often as it takes. Returns the bytes moved, whole blocks where `place` has any.
    ///
    /// # Errors
    /// The kernel's error; a [`DeviceError`] for the error of the disk or its transport.
    pub(super) fn carry_out(&self, cdb: &Cdb, data: Data<'_>, place: CommandRange) -> io::Result<u32> {
        self.carry_out_by(DataTransfer::Copied, cdb, data, place)
    }

    /// The same, with the bytes moved as reported.
    pub(super) fn carry_out_by(
        &self,
        how: DataTransfer,
        cdb: &Cdb,
        mut data: Data<'_>,
        place: CommandRange,
    ) -> io::Result<u32> {
        let mut patience = RetryPolicy::default();
        loop {
            let exchanged = match how {
                DataTransfer::Direct => self.exchange_directly(cdb, &mut data),
                DataTransfer::Copied | DataTransfer::Shared | DataTransfer::NotMoved => {
                    self.exchange(how, cdb, &mut data, self.timeout_ms())
                }
            };
            let answer = match exchanged {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // The shared buffer is busy with the same command, begun before a signal came.
                Err(error) if is_full(&error) || how == DataTransfer::Shared && is_busy(&error) => {
                    thread::sleep(FULL_PAUSE);
                    continue;
                }
                answer => answer?,
            };
            match judge(&answer, data.len(), place) {
                CommandOutcome::Done { moved, recovered } => {
                    // Answers about the disk are as long as they are.
                    let short = place.blocks > 0 && moved < data.len();
                    self.note_done(short, recovered);
                    return Ok(moved);
                }
                CommandOutcome::Failed { error, on_the_way } => return Err(self.settled(error, on_the_way)),
                CommandOutcome::Again(why, error) => match patience.again(why, &self.wishes, Instant::now()) {
                    None => return Err(self.settled(error, answer.sense.is_none())),
                    Some(pause) => {
                        self.counts.again(why);
                        thread::sleep(pause);
                    }
                },
            }
        }
    }

    /// Counts what was worth a word about a command that went well.
    pub(super) fn note_done(&self, short: bool, recovered: bool) {
        self.counts.recovered.fetch_add(recovered.into(), Relaxed);
        self.counts.short.fetch_add(short.into(), Relaxed);
    }

    /// The reported failure: if the device has disappeared, that, regardless of transport errors.
    pub(super) fn settled(&self, error: DeviceError, on_the_way: bool) -> io::Error {
        if on_the_way && self.is_gone() {
            return DeviceError { kind: Kind::Gone, ..error }.into();
        }
        error.into()
    }

    /// The device was there and is no longer. While it is being taken away the host adapter fails what is asked of it
    /// without a reason: then it is asked again a moment later.
    pub(super) fn is_gone(&self) -> bool {
        for _ in 0..GOING_LOOKS {
            match self.exchange(
                DataTransfer::Copied,
                &Cdb::test_unit_ready(),
                &mut Data::None,
                self.timeout_ms().min(5000),
            ) {
                Ok(answer) if answer.host == host::ERROR => thread::sleep(GOING_PAUSE),
                Ok(answer) => return answer.host == host::NO_CONNECT,
                Err(error) => return matches!(error.raw_os_error(), Some(libc::ENODEV | libc::ENXIO)),
            }
        }
        false
    }

    /// By how many bytes `len` was too many for a command that was refused for that; `None`: the disk does not say.
    pub(super) fn wrong_by(&self, cdb: &Cdb, len: u16) -> Option<i32> {
        let mut bytes = vec![0; len.into()];
        let answer = self.exchange(DataTransfer::Copied, cdb, &mut Data::From(&mut bytes), self.timeout_ms()).ok()?;
        let sense = answer.sense.filter(|sense| sense.key == key::ILLEGAL_REQUEST)?;
        // Below 0 where they were too few: 32 bits, also in a field of 64.
        Some(sense.information? as u32 as i32)
    }

    /// Gives one command and returns with the answer.
    fn exchange(
        &self,
        how: DataTransfer,
        cdb: &Cdb,
        data: &mut Data<'_>,
        timeout_ms: u32,
    ) -> io::Result<CommandStatus> {
        let mut sense = [0u8; SENSE_BYTES];
        let mut header = data.header(cdb, timeout_ms);
        header.sbp = sense.as_mut_ptr();
        if how == DataTransfer::Shared {
            (header.flags, header.dxferp) = (sg::FLAG_MMAP_IO, std::ptr::null_mut());
        }
        if how == DataTransfer::NotMoved {
            // Today's driver copies nothing where there is no address; earlier ones examined the flag.
            (header.flags, header.dxferp) = (sg::FLAG_NO_DXFER, std::ptr::null_mut());
        }
        // SAFETY: command, bytes and room for sense data live through the call, with the lengths that the header says;
        // bytes that go to the device are only read. A shared buffer is the driver's own.
        unsafe { sg::command(self.fd.as_fd(), &mut header) }?;
        Ok(answer(&header, &sense))
    }

    /// The same without a copy in the driver, where it can do without. Write and read instead of SG_IO: these are not
    /// begun again by a signal while the device still moves bytes. No queue of this node may be in use.
    ///
    /// It returns when the answer is there, however long that takes: until then the device may use the memory.
    fn exchange_directly(&self, cdb: &Cdb, data: &mut Data<'_>) -> io::Result<CommandStatus> {
        let mut sense = [0u8; SENSE_BYTES];
        let mut header = data.header(cdb, self.timeout_ms());
        header.sbp = sense.as_mut_ptr();
        header.flags = sg::FLAG_DIRECT_IO;
        // SAFETY: command, bytes and room for sense data outlive the loop below, which ends with the answer only; bytes
        // that go to the device are only read.
        let given = if self.writable { unsafe { sg::give(self.fd(), &header) } } else { Err(Errno::FAULT.into()) };
        match given {
            Ok(()) => {}
            // Who may only read the node gives commands by SG_IO alone, and memory that another driver shares with haul
            // is not always available: with a copy, then.
            Err(error) if error.raw_os_error() == Some(libc::EFAULT) => {
                let answer = self.exchange(DataTransfer::Copied, cdb, data, self.timeout_ms())?;
                self.note_direct(false);
                return Ok(answer);
            }
            Err(error) => return Err(error),
        }
        let header = loop {
            match sg::take(self.fd()) {
                Ok(header) => break header,
                // Also of a device that has disappeared: its answers still arrive, and poll does not wait for them.
                Err(_) => {
                    let mut poll = [libc::pollfd { fd: self.fd().as_raw_fd(), events: libc::POLLIN, revents: 0 }];
                    let waited = crate::sys::wait_any(&mut poll, Some(Duration::from_secs(1)));
                    if waited.is_err() || poll[0].revents & libc::POLLIN == 0 && poll[0].revents != 0 {
                        thread::sleep(FULL_PAUSE);
                    }
                }
            }
        };
        self.note_direct(header.info & sg::INFO_DIRECT_IO_MASK == sg::INFO_DIRECT_IO);
        Ok(answer(&header, &sense))
    }

    /// Counts a transfer that was asked for without a copy, and whether it was `direct`.
    pub(super) fn note_direct(&self, direct: bool) {
        self.counts.direct_asked.fetch_add(1, Relaxed);
        self.counts.indirect.fetch_add((!direct).into(), Relaxed);
    }
}

fn is_busy(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EBUSY)
}

/// Why a driver of this version cannot be used; `None`: it can.
fn too_old(version: i32) -> Option<DeviceError> {
    let words = format!("its driver version {version} is too old: {VERSION_MIN} or later is required");
    let advice = "Name its block device and omit --passthrough.";
    (version < VERSION_MIN).then_some(DeviceError {
        kind: Kind::Unsupported,
        words,
        offset: None,
        of_medium: false,
        advice,
        sense: None,
    })
}

/// The driver has as many commands on their way for this descriptor as it takes.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EDOM | libc::EAGAIN))
}

/// The header of a command; its pointers to bytes and sense data are still to come.
pub(super) fn header(cdb: &Cdb, timeout_ms: u32) -> SgIoHdr {
    let bytes = cdb.bytes();
    let mut header = SgIoHdr::default();
    (header.cmdp, header.cmd_len) = (bytes.as_ptr(), bytes.len() as u8);
    header.mx_sb_len = SENSE_BYTES as u8;
    header.timeout = timeout_ms;
    header
}

/// What the driver says in a header that came back.
pub(super) fn answer(header: &SgIoHdr, sense: &[u8]) -> CommandStatus {
    /// Of the driver's status: the command timed out, before the host status reported it.
    const DRIVER_TIMEOUT: u16 = 0x06;
    const DID_TIME_OUT: u16 = 0x03;
    let timed_out = header.driver_status & 0x0f == DRIVER_TIMEOUT && header.host_status == 0;
    CommandStatus {
        status: header.status & 0x7e,
        host: if timed_out { DID_TIME_OUT } else { header.host_status },
        residual: header.resid,
        sense: Sense::parse(&sense[..usize::from(header.sb_len_wr).min(sense.len())]),
    }
}

/// The driver cannot have so many bytes in one command.
pub(super) fn is_too_long(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOMEM))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_from_before_version_3_is_refused_with_its_version() {
        let refusal = too_old(20_136).unwrap();
        assert!(refusal.kind == Kind::Unsupported && refusal.words.contains("version 20136 is too old"), "{refusal:?}");
        assert!(refusal.words.contains("30000") && refusal.advice.contains("block device"), "{refusal:?}");
        assert!(too_old(29_999).is_some());
        assert_eq!(too_old(30_000), None);
        assert_eq!(too_old(30_536), None);
    }
}
