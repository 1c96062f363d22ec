//! SCSI commands as ring entries: `uring_cmd` on the disk's bsg node, since 7.1.
//!
//! Support is tested once, by a command that transfers no data; without it, commands use the sg node.
use super::cdb::{CDB_BYTES_MAX, Cdb};
use super::node::{Intent, Node, SENSE_BYTES};
use super::sense::Sense;
use super::verdict::{CommandOutcome, CommandRange, CommandStatus, RetryReason, interpret};
use crate::core::{Op, Request};
use crate::disks::off_ring_retries::OffRingRetries;
use crate::sys::bsg::{self, BSG_URING_CMD, BsgCompletion, Bytes, Command};
use io_uring::{opcode, squeue, types};
use rustix::fs::{Mode, OFlags, major, makedev, minor};
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering::Relaxed};

/// Maximum number of slots with commands on the ring; others use calls.
const SLOTS: usize = 256;

/// The open bsg node of a disk, and the commands in flight on it.
#[derive(Debug)]
pub(super) struct Bsg {
    fd: OwnedFd,
    path: PathBuf,
    slots: Box<[Slot]>,
    works: OnceLock<bool>,
    /// Whether the kernel refused a command; then no further commands use the ring.
    refused: AtomicBool,
    used: AtomicBool,
    suspects: OffRingRetries<()>,
}

/// Memory of a command in flight, which must not move. The kernel accesses it concurrently, hence atomics.
#[derive(Debug)]
struct Slot {
    cdb: [AtomicU8; CDB_BYTES_MAX],
    sense: [AtomicU8; SENSE_BYTES],
    /// Number of bytes that the command transfers.
    len: AtomicU32,
}

impl Default for Slot {
    fn default() -> Self {
        Slot {
            cdb: [const { AtomicU8::new(0) }; CDB_BYTES_MAX],
            sense: [const { AtomicU8::new(0) }; SENSE_BYTES],
            len: AtomicU32::new(0),
        }
    }
}

impl Slot {
    /// The ring entry for this command, which is stored here until completion.
    fn command(&self, cdb: &Cdb, bytes: Bytes, timeout_ms: u32) -> Command {
        self.cdb.iter().zip(cdb.bytes()).for_each(|(place, byte)| place.store(*byte, Relaxed));
        let len = match bytes {
            Bytes::None => 0,
            Bytes::Out(_, len) | Bytes::In(_, len) => len,
        };
        self.len.store(len, Relaxed);
        let cdb = (self.cdb.as_ptr() as u64, cdb.bytes().len() as u32);
        Command { cdb, sense: (self.sense.as_ptr() as u64, SENSE_BYTES as u32), bytes, timeout_ms }
    }

    /// The status that the disk and its transport reported.
    fn answer(&self, answered: BsgCompletion) -> CommandStatus {
        let sense: Vec<u8> =
            self.sense.iter().take(answered.sense_bytes.into()).map(|place| place.load(Relaxed)).collect();
        CommandStatus {
            status: answered.status & 0x7e,
            host: answered.host_status.into(),
            residual: i32::try_from(answered.residual_bytes).unwrap_or(i32::MAX),
            sense: Sense::parse(&sense),
        }
    }
}

impl Bsg {
    /// Opens the bsg node of the disk whose sg node has this number; `None` if there is none.
    pub(super) fn open(sg_number: u64, intent: Intent) -> Option<Self> {
        let (path, number) = find(sg_number)?;
        let access = match intent {
            Intent::Reading => OFlags::RDONLY,
            Intent::Writing => OFlags::RDWR,
        };
        let fd = rustix::fs::open(&path, access | OFlags::CLOEXEC, Mode::empty()).ok()?;
        let same = rustix::fs::fstat(&fd).is_ok_and(|stat| stat.st_rdev == number);
        same.then(|| Bsg::new(fd, path))
    }

    fn new(fd: OwnedFd, path: PathBuf) -> Self {
        Bsg {
            fd,
            path,
            slots: (0..SLOTS).map(|_| Slot::default()).collect(),
            works: OnceLock::new(),
            refused: AtomicBool::new(false),
            used: AtomicBool::new(false),
            suspects: OffRingRetries::default(),
        }
    }

    /// Whether the kernel accepts commands on a ring; tested once.
    pub(super) fn works(&self) -> bool {
        *self.works.get_or_init(|| {
            let ready = self.slots[0].command(&Cdb::test_unit_ready(), Bytes::None, 5000);
            // SAFETY: no data is transferred; the command and the sense buffer are in the slot, which outlives the
            // call.
            unsafe { bsg::submit_alone(self.fd.as_fd(), &ready) }.is_ok()
        })
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Whether the request can be submitted to the ring now, provided that a command exists for it.
    pub(super) fn takes(&self, request: &Request) -> bool {
        !self.refused.load(Relaxed) && (request.slot as usize) < SLOTS && !self.suspects.has(request.at())
    }

    /// The ring entry for a command of `len` bytes at the start of the request's current transfer.
    pub(super) fn entry(
        &self,
        request: &mut Request,
        (cdb, len): (&Cdb, u32),
        timeout_ms: u32,
        fd: types::Fixed,
    ) -> squeue::Entry128 {
        let bytes = match request.op {
            Op::Read => Bytes::In(request.rest_mut().as_mut_ptr() as u64, len),
            _ => Bytes::Out(request.rest().as_ptr() as u64, len),
        };
        let command = self.slots[request.slot as usize].command(cdb, bytes, timeout_ms);
        opcode::UringCmd80::new(fd, BSG_URING_CMD).cmd(command.for_ring()).build()
    }

    /// Number of bytes of the current or last command of the request's slot.
    pub(super) fn len(&self, request: &Request) -> u32 {
        self.slots[request.slot as usize].len.load(Relaxed)
    }

    /// The result of a completion; `None` if nothing has happened and the request can be submitted by another method. A
    /// command that may succeed later is retried by a call, which can wait, so that the ring continues.
    ///
    /// # Errors
    /// The kernel's error, or a [`crate::core::DeviceError`] of the disk.
    pub(super) fn decode(
        &self,
        node: &Node,
        request: &Request,
        place: CommandRange,
        completion: (i32, u64),
    ) -> io::Result<Option<u32>> {
        let (at, len) = (request.at(), self.len(request));
        let (result, number) = completion;
        if result == 0 {
            self.used.store(true, Relaxed);
            let answer = self.slots[request.slot as usize].answer(BsgCompletion::of(number));
            match interpret(&answer, len, place) {
                CommandOutcome::Done { moved, recovered } => {
                    node.note_done(moved < len, recovered);
                    return Ok(Some(moved));
                }
                CommandOutcome::Failed { error, on_the_way } => return Err(node.reported_error(error, on_the_way)),
                // A call would wait for as long again.
                CommandOutcome::Again(why @ RetryReason::TimedOut, error) if node.options.failing => {
                    return Err(node.exhausted(why, error, answer.sense.is_none()));
                }
                CommandOutcome::Again(why, _) => node.counts.again(why),
            }
        }
        match -result {
            libc::EOPNOTSUPP | libc::ENOTTY | libc::ENOSYS | libc::EACCES | libc::EPERM => {
                self.refused.store(true, Relaxed);
            }
            // The disk is busy, the command is too long for the driver, or the kernel had no memory: a call determines
            // which.
            0 | libc::EINVAL | libc::ENOMEM | libc::EINTR | libc::EAGAIN => self.suspects.add(at, ()),
            errno => return Err(io::Error::from_raw_os_error(errno)),
        }
        Ok(None)
    }

    /// Records that a call has transferred the bytes from `at`.
    pub(super) fn called(&self, at: u64) {
        self.suspects.take(at);
    }

    /// How commands were passed to the kernel, for the report; `None` if not on the ring.
    pub(super) fn way(&self) -> Option<String> {
        self.used.load(Relaxed).then(|| format!("{}, uring_cmd", self.path.display()))
    }
}

/// Path and device number of the bsg node of the disk whose sg node has this number.
fn find(sg_number: u64) -> Option<(PathBuf, u64)> {
    let dir = format!("/sys/dev/char/{}:{}/device/bsg", major(sg_number), minor(sg_number));
    let entry = fs::read_dir(dir).ok()?.flatten().next()?;
    let text = fs::read_to_string(entry.path().join("dev")).ok()?;
    let (major, minor) = text.trim().split_once(':')?;
    Some((Path::new("/dev/bsg").join(entry.file_name()), makedev(major.parse().ok()?, minor.parse().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Arena, DeviceError, Kind, Side};
    use std::fs::File;

    const PLACE: CommandRange = CommandRange { lba: 0x1200, blocks: 256, block_bytes: 512, start: 0 };

    /// Sense data of scsi_debug for its bad block 0x1234.
    const FIXED: [u8; 18] = [0xf0, 0, 3, 0, 0, 0x12, 0x34, 10, 0, 0, 0, 0, 0x11, 0, 0, 0x80, 0x12, 0x34];

    /// A file that accepts no commands, to test the kernel's error.
    fn bsg() -> (Bsg, Node) {
        let zero = || File::open("/dev/zero").unwrap().into();
        (Bsg::new(zero(), "/dev/bsg/0:0:0:0".into()), Node::silent(zero()))
    }

    fn request(op: Op) -> Request {
        let len = 128 << 10;
        let buffer = Arena::map(1 << 20).unwrap().carve(len, 1).remove(0);
        Request { slot: 0, ticket: 0, side: Side::Source, op, offset: 0x1200 * 512, len, done: 0, until: len, buffer }
    }

    fn on_submitted(bsg: &Bsg, request: &mut Request) {
        let cdb = Cdb::transfer(super::super::cdb::TransferDirection::Read, 0x1200, 256, Default::default()).unwrap();
        bsg.entry(request, (&cdb, 128 << 10), 60_000, types::Fixed(0));
    }

    #[test]
    fn an_entry_points_to_command_data_and_sense_buffer() {
        let slot = Slot::default();
        let cdb = Cdb::read_capacity_10();
        let command = slot.command(&cdb, Bytes::In(0x1000, 8), 7);
        assert_eq!(command.cdb, (slot.cdb.as_ptr() as u64, 10));
        assert_eq!(command.sense, (slot.sense.as_ptr() as u64, 96));
        assert_eq!((command.bytes, command.timeout_ms), (Bytes::In(0x1000, 8), 7));
        let stored: Vec<u8> = slot.cdb.iter().take(10).map(|byte| byte.load(Relaxed)).collect();
        assert_eq!(stored, cdb.bytes());
        assert_eq!(slot.len.load(Relaxed), 8);
    }

    #[test]
    fn a_medium_error_is_reported_with_its_block_as_by_other_drivers() {
        let (bsg, node) = bsg();
        let mut read = request(Op::Read);
        on_submitted(&bsg, &mut read);
        bsg.slots[0].sense.iter().zip(FIXED).for_each(|(place, byte)| place.store(byte, Relaxed));
        let error = bsg.decode(&node, &read, PLACE, (0, 18 << 24 | 8 << 8 | 2)).unwrap_err();
        let answered = DeviceError::of(&error).unwrap();
        assert_eq!((answered.kind, answered.offset), (Kind::Io, Some(0x1234 * 512)));
        assert!(answered.words.contains("unrecovered read error"), "{answered:?}");
        assert!(bsg.way().unwrap().contains("uring_cmd"));
    }

    #[test]
    fn a_read_of_a_failing_disk_that_timed_out_fails_like_one_of_a_bad_block() {
        let (bsg, mut node) = bsg();
        node.options.failing = true;
        let mut read = request(Op::Read);
        on_submitted(&bsg, &mut read);
        let error = bsg.decode(&node, &read, PLACE, (0, 0x03 << 16)).unwrap_err();
        let failed = DeviceError::of(&error).unwrap();
        assert!(failed.of_medium && failed.kind == Kind::Io && failed.offset.is_none(), "{failed:?}");
        assert!(bsg.takes(&read), "it is not repeated by a call");
    }

    #[test]
    fn residual_bytes_are_not_counted_as_transferred() {
        let (bsg, node) = bsg();
        let mut read = request(Op::Read);
        on_submitted(&bsg, &mut read);
        assert_eq!(bsg.decode(&node, &read, PLACE, (0, 0)).unwrap(), Some(128 << 10));
        assert_eq!(bsg.decode(&node, &read, PLACE, (0, 1000 << 32)).unwrap(), Some((128 << 10) - 1024), "whole blocks");
    }

    #[test]
    fn a_transient_failure_is_repeated_by_a_call_and_the_ring_resumes() {
        let (bsg, node) = bsg();
        let mut read = request(Op::Read);
        for completion in [(0, 0x28), (0, 0x05 << 16), (-libc::EINVAL, 0), (-libc::EAGAIN, 0)] {
            assert!(bsg.takes(&read));
            on_submitted(&bsg, &mut read);
            assert_eq!(bsg.decode(&node, &read, PLACE, completion).unwrap(), None, "{completion:?}");
            assert!(!bsg.takes(&read), "{completion:?}");
            bsg.called(read.at());
        }
    }

    #[test]
    fn a_kernel_without_bsg_on_the_ring_falls_back() {
        let (bsg, node) = bsg();
        assert!(!bsg.works(), "a file of zeros takes none");
        let read = request(Op::Read);
        assert_eq!(bsg.decode(&node, &read, PLACE, (-libc::EOPNOTSUPP, 0)).unwrap(), None);
        assert!(!bsg.takes(&read));
        assert_eq!(bsg.way(), None);
    }
}
