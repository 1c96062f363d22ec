//! An open SCSI generic node: executes single commands with retries.
use super::cdb::Cdb;
use super::retry_policy::{Counts, RetryPolicy};
use super::sense::{Sense, key};
use super::verdict::{CommandOutcome, CommandRange, CommandStatus, interpret};
use crate::core::{CommandOptions, DeviceError, Kind};
use crate::disks::opening::Opening;
use crate::sys::sg::{self, SgIoHdr};
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// Size of a sense buffer; the kernel stores at most 96 bytes.
pub(super) const SENSE_BYTES: usize = 96;

/// The first driver version with the sg interface 3.0, from 2000.
const VERSION_MIN: i32 = 30_000;

/// Pause before a command is submitted again to a full queue of the driver.
const FULL_PAUSE: Duration = Duration::from_millis(1);

/// The data of a command.
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

    /// The header of a command with this data; its sense buffer is set later.
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

/// How data is transferred between the driver and haul.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DataTransfer {
    /// The driver copies it (indirect I/O).
    Copied,
    /// Without a copy, if the driver supports it (direct I/O).
    Direct,
    /// In the buffer that this descriptor reserves and shares with haul.
    Shared,
    /// Not at all: it stays in the driver's memory and is lost.
    NotMoved,
}

/// An open SCSI generic node.
#[derive(Debug)]
pub(super) struct Node {
    fd: OwnedFd,
    pub(super) options: CommandOptions,
    pub(super) counts: Counts,
    /// Whether it is open for writing too, as required by queues and commands that modify data.
    pub(super) writable: bool,
    /// Timeout of reads in milliseconds; 0: that of the options.
    read_limit_ms: AtomicU32,
}

/// What a node is opened for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Intent {
    /// Reading or querying the disk.
    Reading,
    /// Writing to the disk.
    Writing,
}

impl Intent {
    pub(super) fn of(opening: &Opening<'_>) -> Self {
        if opening.writes { Intent::Writing } else { Intent::Reading }
    }
}

impl Node {
    /// Opens the node; read-only if this process has no write permission and only reading is requested.
    pub(super) fn open(path: &Path, intent: Intent, options: CommandOptions) -> io::Result<Self> {
        let open = |access: OFlags| {
            // Without O_NONBLOCK, an open waits for a process that has the node exclusively.
            let mut flags = access | OFlags::NONBLOCK | OFlags::CLOEXEC;
            flags.set(OFlags::EXCL, options.exclusive && access == OFlags::RDWR);
            rustix::fs::open(path, flags, Mode::empty())
        };
        let (fd, writable) = match open(OFlags::RDWR) {
            Err(rustix::io::Errno::ACCESS | rustix::io::Errno::PERM | rustix::io::Errno::ROFS)
                if intent == Intent::Reading =>
            {
                (open(OFlags::RDONLY)?, false)
            }
            opened => (opened?, true),
        };
        if options.locked {
            rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive)?;
        }
        if let Some(refusal) = refuse_version(sg::version(fd.as_fd())?) {
            return Err(refusal.into());
        }
        Ok(Node { fd, options, counts: Counts::default(), writable, read_limit_ms: AtomicU32::new(0) })
    }

    /// Opens the node, or the block device of a disk, read-only.
    pub(super) fn open_read_only(path: &Path, options: CommandOptions) -> io::Result<Self> {
        let fd = rustix::fs::open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
        if let Some(refusal) = refuse_version(sg::version(fd.as_fd())?) {
            return Err(refusal.into());
        }
        Ok(Node { fd, options, counts: Counts::default(), writable: false, read_limit_ms: AtomicU32::new(0) })
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// A descriptor that never completes commands, for tests.
    #[cfg(test)]
    pub(super) fn silent(fd: OwnedFd) -> Self {
        let (options, counts) = (CommandOptions::default(), Counts::default());
        Node { fd, options, counts, writable: false, read_limit_ms: AtomicU32::new(0) }
    }

    /// Device number of the node.
    pub(super) fn number(&self) -> io::Result<u64> {
        Ok(rustix::fs::fstat(&self.fd)?.st_rdev)
    }

    /// Command timeout in milliseconds.
    pub(super) fn timeout_ms(&self) -> u32 {
        u32::try_from(self.options.timeout.as_millis()).unwrap_or(u32::MAX)
    }

    /// Sets the timeout of commands that read blocks.
    pub(super) fn limit_reads(&self, limit: Duration) {
        self.read_limit_ms.store(u32::try_from(limit.as_millis()).unwrap_or(u32::MAX), Relaxed);
    }

    /// Timeout in milliseconds of a command that reads blocks.
    pub(super) fn read_timeout_ms(&self) -> u32 {
        Some(self.read_limit_ms.load(Relaxed)).filter(|limit| *limit > 0).unwrap_or_else(|| self.timeout_ms())
    }

    /// Executes a command with retries. Returns the number of bytes transferred, in whole blocks if `place` has any.
    ///
    /// # Errors
    /// The kernel's error; a [`DeviceError`] for an error of the disk or its transport.
    pub(super) fn carry_out(&self, cdb: &Cdb, data: Data<'_>, place: CommandRange) -> io::Result<u32> {
        self.carry_out_by(DataTransfer::Copied, cdb, data, place)
    }

    /// The same, with a choice of how data is transferred.
    pub(super) fn carry_out_by(
        &self,
        how: DataTransfer,
        cdb: &Cdb,
        mut data: Data<'_>,
        place: CommandRange,
    ) -> io::Result<u32> {
        let mut patience = RetryPolicy::default();
        let reads = place.blocks > 0 && matches!(data, Data::From(_));
        let timeout_ms = if reads { self.read_timeout_ms() } else { self.timeout_ms() };
        loop {
            let exchanged = match how {
                DataTransfer::Direct => self.exchange_directly(cdb, &mut data),
                DataTransfer::Copied | DataTransfer::Shared | DataTransfer::NotMoved => {
                    self.exchange(how, cdb, &mut data, timeout_ms)
                }
            };
            let answer = match exchanged {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // The shared buffer is in use by the same command, which was started before a signal.
                Err(error) if is_full(&error) || how == DataTransfer::Shared && is_busy(&error) => {
                    thread::sleep(FULL_PAUSE);
                    continue;
                }
                answer => answer?,
            };
            match interpret(&answer, data.len(), place) {
                CommandOutcome::Done { moved, recovered } => {
                    // Short data is normal for commands that do not transfer blocks.
                    let short = place.blocks > 0 && moved < data.len();
                    self.note_done(short, recovered);
                    return Ok(moved);
                }
                CommandOutcome::Failed { error, on_the_way } => return Err(self.reported_error(error, on_the_way)),
                CommandOutcome::Again(why, error) => match patience.again(why, &self.options, Instant::now()) {
                    None => return Err(self.exhausted(why, error, answer.sense.is_none())),
                    Some(pause) => {
                        self.counts.again(why);
                        thread::sleep(pause);
                    }
                },
            }
        }
    }

    /// Counts notable properties of a successful command.
    pub(super) fn note_done(&self, short: bool, recovered: bool) {
        self.counts.recovered.fetch_add(recovered.into(), Relaxed);
        self.counts.short.fetch_add(short.into(), Relaxed);
    }

    /// By how many bytes `len` was too large for a command that was rejected for its length; `None` if the disk does
    /// not report it.
    pub(super) fn wrong_by(&self, cdb: &Cdb, len: u16) -> Option<i32> {
        let mut bytes = vec![0; len.into()];
        let answer = self.exchange(DataTransfer::Copied, cdb, &mut Data::From(&mut bytes), self.timeout_ms()).ok()?;
        let sense = answer.sense.filter(|sense| sense.key == key::ILLEGAL_REQUEST)?;
        // Negative if the length was too small: a 32-bit number, even in a 64-bit field.
        Some(sense.information? as u32 as i32)
    }

    /// Executes a command once and returns its status.
    pub(super) fn exchange(
        &self,
        how: DataTransfer,
        cdb: &Cdb,
        data: &mut Data<'_>,
        timeout_ms: u32,
    ) -> io::Result<CommandStatus> {
        self.exchange_for_sense(how, cdb, data, timeout_ms).map(|(answer, _)| answer)
    }

    /// The same, with the sense data as the device sent it.
    pub(super) fn exchange_for_sense(
        &self,
        how: DataTransfer,
        cdb: &Cdb,
        data: &mut Data<'_>,
        timeout_ms: u32,
    ) -> io::Result<(CommandStatus, [u8; SENSE_BYTES])> {
        let mut sense = [0u8; SENSE_BYTES];
        let mut header = data.header(cdb, timeout_ms);
        header.sbp = sense.as_mut_ptr();
        if how == DataTransfer::Shared {
            (header.flags, header.dxferp) = (sg::FLAG_MMAP_IO, std::ptr::null_mut());
        }
        if how == DataTransfer::NotMoved {
            // The current driver copies nothing if there is no address; earlier versions checked the flag.
            (header.flags, header.dxferp) = (sg::FLAG_NO_DXFER, std::ptr::null_mut());
        }
        // SAFETY: the command, data and sense buffer outlive the call and have the lengths in the header; data sent to
        // the device is only read. A shared buffer belongs to the driver.
        unsafe { sg::command(self.fd.as_fd(), &mut header) }?;
        Ok((answer(&header, &sense), sense))
    }

    /// The same by direct I/O, if the driver supports it. Uses write and read instead of SG_IO, because a signal does
    /// not restart these while the device still transfers data. No queue of this node may be in use.
    ///
    /// Returns only when the command has completed, because until then the device may access the memory.
    fn exchange_directly(&self, cdb: &Cdb, data: &mut Data<'_>) -> io::Result<CommandStatus> {
        let mut sense = [0u8; SENSE_BYTES];
        let mut header = data.header(cdb, self.timeout_ms());
        header.sbp = sense.as_mut_ptr();
        header.flags = sg::FLAG_DIRECT_IO;
        // SAFETY: the command, data and sense buffer outlive the loop below, which ends only when the command has
        // completed; data sent to the device is only read.
        let result = if self.writable { unsafe { sg::submit(self.fd(), &header) } } else { Err(Errno::FAULT.into()) };
        match result {
            Ok(()) => {}
            // A read-only node accepts commands by SG_IO only, and memory that another driver shares with haul may not
            // be accessible. Then the data is copied.
            Err(error) if error.raw_os_error() == Some(libc::EFAULT) => {
                let answer = self.exchange(DataTransfer::Copied, cdb, data, self.timeout_ms())?;
                self.note_direct(false);
                return Ok(answer);
            }
            Err(error) => return Err(error),
        }
        let header = loop {
            match sg::receive(self.fd()) {
                Ok(header) => break header,
                // Includes a device that has disappeared: its completions still arrive, and poll does not wait for
                // them.
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

    /// Counts a transfer requested as direct I/O, and whether it was `direct`.
    pub(super) fn note_direct(&self, direct: bool) {
        self.counts.direct_requested.fetch_add(1, Relaxed);
        self.counts.indirect.fetch_add((!direct).into(), Relaxed);
    }
}

fn is_busy(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EBUSY)
}

/// Why this driver version cannot be used; `None` if it can.
fn refuse_version(version: i32) -> Option<DeviceError> {
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

/// Whether the driver has the maximum number of commands in flight for this descriptor.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EDOM | libc::EAGAIN))
}

/// The header of a command; its data and sense buffer are set later.
pub(super) fn header(cdb: &Cdb, timeout_ms: u32) -> SgIoHdr {
    let bytes = cdb.bytes();
    let mut header = SgIoHdr::default();
    (header.cmdp, header.cmd_len) = (bytes.as_ptr(), bytes.len() as u8);
    header.mx_sb_len = SENSE_BYTES as u8;
    header.timeout = timeout_ms;
    header
}

/// The status in a completed header.
pub(super) fn answer(header: &SgIoHdr, sense: &[u8]) -> CommandStatus {
    /// Driver status: the command timed out. Used before the host status reported it.
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

/// Whether the command is too long for the driver.
pub(super) fn is_too_long(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOMEM))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_from_before_version_3_is_refused_with_its_version() {
        let refusal = refuse_version(20_136).unwrap();
        assert!(refusal.kind == Kind::Unsupported && refusal.words.contains("version 20136 is too old"), "{refusal:?}");
        assert!(refusal.words.contains("30000") && refusal.advice.contains("block device"), "{refusal:?}");
        assert!(refuse_version(29_999).is_some());
        assert_eq!(refuse_version(30_000), None);
        assert_eq!(refuse_version(30_536), None);
    }
}
