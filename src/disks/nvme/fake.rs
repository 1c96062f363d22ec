//! A simulated drive in memory.
use super::command::IDENTIFY_BYTES;
use super::drive::Drive;
use super::namespace::made;
use super::status::Status;
use crate::sys::nvme::{Command, Data, Set};
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// The namespace ID.
pub(super) const NSID: u32 = 7;

/// A simulated result of the next command.
#[derive(Clone, Copy)]
pub(super) enum Reply {
    Status(u16),
    Errno(i32),
}

/// A simulated drive in memory.
pub(super) struct FakeDrive {
    pub(super) shift: u8,
    pub(super) bytes: Mutex<Vec<u8>>,
    /// Blocks that can be neither read nor written.
    pub(super) bad: BTreeSet<u64>,
    /// Simulated results of the next commands, in reverse order.
    pub(super) next: Mutex<Vec<Reply>>,
    /// Longer transfers fail with EINVAL, as for memory with too many segments.
    pub(super) transfer_bytes_max: usize,
    /// Opcode, first block and number of blocks of every executed I/O command.
    pub(super) executed: Mutex<Vec<(u8, u64, u32)>>,
    pub(super) flushed: AtomicBool,
    /// Whether a Write Zeroes command had the Deallocate flag.
    pub(super) deallocated: AtomicBool,
    pub(super) removed: AtomicBool,
    pub(super) identify: Mutex<[u8; IDENTIFY_BYTES]>,
    /// Whether reads of one block wait briefly, so that others can run concurrently.
    pub(super) lingers: AtomicBool,
    /// The last limit that was set.
    pub(super) limit: Mutex<Option<Duration>>,
    reads: AtomicUsize,
    /// Provides a descriptor; no entry for it is ever submitted.
    null: File,
}

impl FakeDrive {
    pub(super) fn new(bytes: Vec<u8>, shift: u8, bad: &[u64]) -> Self {
        let blocks = bytes.len() as u64 >> shift;
        FakeDrive {
            shift,
            bytes: Mutex::new(bytes),
            bad: bad.iter().copied().collect(),
            next: Mutex::default(),
            transfer_bytes_max: usize::MAX,
            executed: Mutex::default(),
            flushed: AtomicBool::default(),
            deallocated: AtomicBool::default(),
            removed: AtomicBool::default(),
            identify: Mutex::new(made::namespace(blocks, shift)),
            lingers: AtomicBool::default(),
            limit: Mutex::default(),
            reads: AtomicUsize::default(),
            null: File::open("/dev/null").unwrap(),
        }
    }

    /// Returns the executed commands and clears the list.
    pub(super) fn take_executed(&self) -> Vec<(u8, u64, u32)> {
        std::mem::take(&mut *self.executed.lock().unwrap())
    }

    /// Waits until another read has started, but not forever, because it may be delayed.
    fn linger(&self) {
        let mine = self.reads.fetch_add(1, Relaxed) + 1;
        for _ in 0..30 {
            if self.reads.load(Relaxed) > mine {
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn admin(&self, command: &Command, data: Data<'_>) -> Status {
        let Data::In(bytes) = data else { return Status(0x4002) };
        match (command.opcode(), command.cdw10()[0], command.nsid()) {
            (6, 0, NSID) => bytes.copy_from_slice(&*self.identify.lock().unwrap()),
            (6, 1, 0) => bytes.copy_from_slice(&made::controller()),
            // An old drive does not support the identification descriptors.
            _ => return Status(0x4002),
        }
        Status(0)
    }

    fn io(&self, command: &Command, data: Data<'_>) -> Status {
        let [low, high, control, ..] = command.cdw10();
        let (lba, count) = (u64::from(high) << 32 | u64::from(low), (control & 0xffff) + 1);
        let (from, len) = ((lba as usize) << self.shift, (count as usize) << self.shift);
        if command.nsid() != NSID {
            return Status(0x400b);
        }
        if command.opcode() == 0 {
            self.flushed.store(true, Relaxed);
            return Status(0);
        }
        let mut medium = self.bytes.lock().unwrap();
        if from + len > medium.len() {
            return Status(0x4080);
        }
        if self.bad.range(lba..lba + u64::from(count)).next().is_some() {
            return Status(if command.opcode() == 2 { 0x0281 } else { 0x0280 });
        }
        match (command.opcode(), data) {
            (1, Data::Out(bytes)) if bytes.len() == len => medium[from..from + len].copy_from_slice(bytes),
            (2, Data::In(bytes)) if bytes.len() == len => bytes.copy_from_slice(&medium[from..from + len]),
            (0x19, Data::Out(ranges)) => {
                let mut to = from;
                for range in ranges.chunks(32) {
                    let lba = u64::from_le_bytes(range[8..16].try_into().unwrap()) as usize;
                    let blocks = u16::from_le_bytes([range[16], range[17]]) as usize + 1;
                    if blocks > 8 || ranges.len() != 32 * count as usize {
                        return Status(0x4183);
                    }
                    let place = lba << self.shift..(lba + blocks) << self.shift;
                    medium.copy_within(place, to);
                    to += blocks << self.shift;
                }
            }
            (8, Data::None) => {
                self.deallocated.fetch_or(control & 1 << 25 != 0, Relaxed);
                medium[from..from + len].fill(0);
            }
            _ => return Status(0x4002),
        }
        Status(0)
    }
}

impl Drive for Arc<FakeDrive> {
    fn execute(&self, set: Set, command: &Command, data: Data<'_>) -> io::Result<Status> {
        if self.removed.load(Relaxed) {
            return Err(io::Error::from_raw_os_error(libc::ENODEV));
        }
        if set == Set::Admin {
            return Ok(self.admin(command, data));
        }
        let [low, high, control, ..] = command.cdw10();
        let lba = u64::from(high) << 32 | u64::from(low);
        self.executed.lock().unwrap().push((command.opcode(), lba, (control & 0xffff) + 1));
        match self.next.lock().unwrap().pop() {
            Some(Reply::Status(raw)) => return Ok(Status(raw)),
            Some(Reply::Errno(errno)) => return Err(io::Error::from_raw_os_error(errno)),
            None => {}
        }
        let len = match &data {
            Data::None => 0,
            Data::Out(bytes) => bytes.len(),
            Data::In(bytes) => bytes.len(),
        };
        assert_eq!(len, command.data_bytes() as usize, "the drive would move more or fewer bytes than the memory has");
        if len > self.transfer_bytes_max {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        let status = self.io(command, data);
        if command.opcode() == 2 && self.lingers.load(Relaxed) {
            self.linger();
        }
        Ok(status)
    }

    fn for_ring(&self) -> Option<(BorrowedFd<'_>, Duration)> {
        Some((self.null.as_fd(), Duration::from_secs(60)))
    }

    fn limit(&self, limit: Duration) {
        *self.limit.lock().unwrap() = Some(limit);
    }
}
