//! A SCSI generic node, open: one command after the other, each tried as often as it is worth.
use super::cdb::Cdb;
use super::patience::{Counts, Patience};
use super::sense::Sense;
use super::verdict::{Answer, Place, Verdict, judge};
use crate::contract::{CommandWishes, DeviceError, Kind};
use crate::sys::sg::{self, SgIoHdr};
use rustix::fs::{Mode, OFlags};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

/// Room for sense data; the kernel stores no more than 96 bytes.
pub(super) const SENSE_BYTES: usize = 96;

/// The first version of the driver that knows the interface used here, 3.0, of 2000.
const VERSION_MIN: i32 = 30_000;

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
}

/// A SCSI generic node, open.
#[derive(Debug)]
pub(super) struct Node {
    fd: OwnedFd,
    pub(super) wishes: CommandWishes,
    pub(super) counts: Counts,
    /// Opened for writing too, as a queue and commands that change something need it.
    pub(super) writable: bool,
}

impl Node {
    /// Opens it; for reading only where this process may no more and `writing` is not asked for.
    pub(super) fn open(path: &Path, writing: bool, wishes: CommandWishes) -> io::Result<Self> {
        let open = |access| {
            // Without it an open waits for whoever has the node for itself.
            let flags = access | OFlags::NONBLOCK | OFlags::CLOEXEC;
            rustix::fs::open(path, flags, Mode::empty())
        };
        let (fd, writable) = match open(OFlags::RDWR) {
            Err(rustix::io::Errno::ACCESS | rustix::io::Errno::PERM | rustix::io::Errno::ROFS) if !writing => {
                (open(OFlags::RDONLY)?, false)
            }
            opened => (opened?, true),
        };
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
        Node { fd, wishes: CommandWishes::default(), counts: Counts::default(), writable: false }
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
    /// What the kernel said; a [`DeviceError`] for what the disk or the way to it said.
    pub(super) fn carry_out(&self, cdb: &Cdb, mut data: Data<'_>, place: Place) -> io::Result<u32> {
        let mut patience = Patience::default();
        loop {
            let answer = match self.exchange(cdb, &mut data, self.timeout_ms()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if is_full(&error) => {
                    thread::sleep(FULL_PAUSE);
                    continue;
                }
                answer => answer?,
            };
            match judge(&answer, data.len(), place) {
                Verdict::Done { moved, recovered } => {
                    // Answers about the disk are as long as they are.
                    let short = place.blocks > 0 && moved < data.len();
                    self.note_done(short, recovered);
                    return Ok(moved);
                }
                Verdict::Failed { error, on_the_way } => return Err(self.settled(error, on_the_way)),
                Verdict::Again(why, error) => match patience.again(why, &self.wishes, Instant::now()) {
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

    /// The failure that is told: of a device that is gone, that it is gone, whatever was said on the way.
    pub(super) fn settled(&self, error: DeviceError, on_the_way: bool) -> io::Error {
        if on_the_way && self.is_gone() {
            return DeviceError { kind: Kind::Gone, ..error }.into();
        }
        error.into()
    }

    /// The device was there and is no longer.
    pub(super) fn is_gone(&self) -> bool {
        match self.exchange(&Cdb::test_unit_ready(), &mut Data::None, self.timeout_ms().min(5000)) {
            Ok(answer) => answer.host == 0x01,
            Err(error) => matches!(error.raw_os_error(), Some(libc::ENODEV | libc::ENXIO)),
        }
    }

    /// Gives one command and returns with the answer.
    fn exchange(&self, cdb: &Cdb, data: &mut Data<'_>, timeout_ms: u32) -> io::Result<Answer> {
        let mut sense = [0u8; SENSE_BYTES];
        let mut header = header(cdb, timeout_ms);
        header.sbp = sense.as_mut_ptr();
        header.dxfer_len = data.len();
        match data {
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
        // SAFETY: command, bytes and room for sense data live through the call, with the lengths that the header says;
        // bytes that go to the device are only read.
        unsafe { sg::command(self.fd.as_fd(), &mut header) }?;
        Ok(answer(&header, &sense))
    }
}

/// Why a driver of this version cannot be used; `None`: it can.
fn too_old(version: i32) -> Option<DeviceError> {
    let words = format!("its driver is version {version}, too old for commands: {VERSION_MIN} is the first that does");
    let advice = "Name its block device without --passthrough.";
    (version < VERSION_MIN).then_some(DeviceError {
        kind: Kind::Unsupported,
        words,
        offset: None,
        of_medium: false,
        advice,
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
pub(super) fn answer(header: &SgIoHdr, sense: &[u8]) -> Answer {
    /// Of the driver's status: the command timed out, before the host's status said so.
    const DRIVER_TIMEOUT: u16 = 0x06;
    const DID_TIME_OUT: u16 = 0x03;
    let timed_out = header.driver_status & 0x0f == DRIVER_TIMEOUT && header.host_status == 0;
    Answer {
        status: header.status & 0x7e,
        host: if timed_out { DID_TIME_OUT } else { header.host_status },
        residual: header.resid,
        sense: Sense::parse(&sense[..usize::from(header.sb_len_wr).min(sense.len())]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_from_before_version_3_is_refused_with_its_version() {
        let refusal = too_old(20_136).unwrap();
        assert!(refusal.kind == Kind::Unsupported && refusal.words.contains("version 20136, too old"), "{refusal:?}");
        assert!(refusal.words.contains("30000") && refusal.advice.contains("block device"), "{refusal:?}");
        assert!(too_old(29_999).is_some());
        assert_eq!(too_old(30_000), None);
        assert_eq!(too_old(30_536), None);
    }
}
