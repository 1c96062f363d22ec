//! An open namespace: reads, writes and zeroing by NVMe commands.
use super::command::{self, BLOCKS_MAX, Zeroing};
use super::drive::{Drive, command_error};
use super::namespace::{Controller, Namespace};
use super::retry_policy::RetryPolicy;
use super::ring_state::RingState;
use super::status::{Status, StatusClass};
use crate::core::{
    ClosingReport, CommandOptions, DeviceError, Endpoint, EndpointChange, Extent, Facts, Kind, OffloadSource, OnRing,
    Op, Request,
};
use crate::disks::claim::Claim;
use crate::disks::off_ring_retries::OffRingRetries;
use crate::sys::nvme::{Blocks, Command, Data, Set};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The part of a namespace that a side uses, and the maximum command length.
#[derive(Clone, Copy, Debug)]
pub(super) struct NamespaceRange {
    pub(super) nsid: u32,
    /// Offset on the namespace in bytes, a multiple of the block size; more than 0 for a partition.
    pub(super) start: u64,
    /// Size of this side in bytes.
    pub(super) size: u64,
    /// Maximum transfer length in bytes, a multiple of the block size.
    pub(super) command_bytes_max: u32,
}

/// An open namespace.
pub(super) struct NvmeNamespace {
    pub(super) facts: Facts,
    pub(super) drive: Box<dyn Drive>,
    pub(super) place: NamespaceRange,
    namespace: Namespace,
    write_cache: bool,
    writes_zeroes: bool,
    pub(super) options: CommandOptions,
    pub(super) ring: RingState,
    /// Commands that failed on the ring, with the drive's error; `None` for an error of the kernel.
    pub(super) suspects: OffRingRetries<Option<Status>>,
    /// Held while a partial block is written, because two requests may write parts of the same block.
    patching: Mutex<()>,
    repeated: AtomicU64,
    retry_policy: fn(u32) -> RetryPolicy,
    /// Dropped last: pages that are cached until then may be older than the data that commands wrote.
    claim: Option<Claim>,
}

impl NvmeNamespace {
    pub(super) fn new(
        facts: Facts,
        drive: Box<dyn Drive>,
        place: NamespaceRange,
        (controller, namespace): (&Controller, Namespace),
        options: CommandOptions,
    ) -> Self {
        let (ring, suspects, patching, repeated) = Default::default();
        let (write_cache, writes_zeroes) = (controller.write_cache, controller.writes_zeroes);
        NvmeNamespace {
            facts,
            drive,
            place,
            namespace,
            write_cache,
            writes_zeroes,
            options,
            ring,
            suspects,
            patching,
            repeated,
            retry_policy: RetryPolicy::new,
            claim: None,
        }
    }

    /// Adds the claim on the block device.
    pub(super) fn claiming(mut self, claim: Claim) -> Self {
        self.claim = Some(claim);
        self
    }

    /// Disables waiting for a drive that is not ready, for tests.
    #[cfg(test)]
    pub(super) fn without_waits(mut self) -> Self {
        self.retry_policy = RetryPolicy::without_waits;
        self
    }

    fn block(&self) -> u32 {
        self.namespace.block_bytes()
    }

    fn lba(&self, at: u64) -> u64 {
        (self.place.start + at) >> self.namespace.block_shift
    }

    /// Length in bytes of the command for the current transfer, in whole blocks; `None` if it begins or ends inside a
    /// block, or is out of range. Always the same for the same transfer.
    pub(super) fn piece(&self, request: &Request) -> Option<u32> {
        let (at, block) = (request.at(), self.block());
        let most = request.left().min(self.place.command_bytes_max);
        let len = most - most % block;
        let inside = at.checked_add(len.into()).is_some_and(|end| end <= self.place.size);
        (len > 0 && at.is_multiple_of(block.into()) && inside).then_some(len)
    }

    /// The command that reads or writes `len` bytes at `at`, in whole blocks.
    pub(super) fn command(&self, op: Op, at: u64, len: u32) -> Command {
        let blocks = self.blocks_at(at, len >> self.namespace.block_shift);
        match op {
            Op::Read => command::read(blocks),
            _ => command::write(blocks, self.options.fua),
        }
    }

    fn blocks_at(&self, at: u64, count: u32) -> Blocks {
        Blocks { nsid: self.place.nsid, lba: self.lba(at), count, block_bytes: self.block() }
    }

    /// The error for a failed command at `at`.
    fn error_at(&self, status: Status, at: u64) -> io::Error {
        let error = command_error(status, "", Some(at));
        let Some(failed) = DeviceError::of(&error).cloned() else { return error };
        let words = format!("{}, LBA {}", failed.words, self.lba(at));
        DeviceError { words, of_medium: failed.of_medium || self.is_of_blocks(status), ..failed }.into()
    }

    /// Whether this failure of a command to a failing drive is one of its blocks, which others need not have.
    fn is_of_blocks(&self, status: Status) -> bool {
        let of_blocks = matches!(status.meaning(), StatusClass::Medium | StatusClass::Other);
        self.options.failing && of_blocks && !status.is_refusal()
    }

    /// Executes a command once, and again if the kernel interrupted it. At a failing drive that is a timeout: the
    /// kernel has reset the controller.
    fn once(&self, command: &Command, op: Op, bytes: &mut [u8]) -> io::Result<Status> {
        for _ in 0..=self.options.retries {
            let data = match op {
                Op::Read => Data::In(bytes),
                Op::Write => Data::Out(bytes),
                Op::Zero => Data::None,
            };
            match self.drive.execute(Set::Io, command, data) {
                Err(error) if error.raw_os_error() == Some(libc::EINTR) && self.options.failing => {
                    return Err(io::Error::from_raw_os_error(libc::ETIMEDOUT));
                }
                Err(error) if matches!(error.raw_os_error(), Some(libc::EINTR | libc::EAGAIN)) => {
                    self.repeated.fetch_add(1, Relaxed);
                }
                result => return result,
            }
        }
        // Not EINTR, which would be retried forever.
        Err(io::Error::from_raw_os_error(libc::EIO))
    }

    /// Executes a command until it succeeds or retries are exhausted. `first` is an earlier error of the drive for it.
    fn execute(&self, command: &Command, op: Op, bytes: &mut [u8], first: Option<Status>) -> io::Result<Status> {
        let mut retry_policy = (self.retry_policy)(self.options.retries);
        let mut status = match first {
            Some(status) => status,
            None => self.once(command, op, bytes)?,
        };
        while status != Status(0) && !self.is_of_blocks(status) && retry_policy.once_more(status) {
            self.repeated.fetch_add(1, Relaxed);
            status = self.once(command, op, bytes)?;
        }
        Ok(status)
    }

    /// Transfers whole blocks at `at`. If one of them is bad, transfers only the blocks before it.
    fn blocks(&self, op: Op, bytes: &mut [u8], at: u64, first: Option<Status>) -> io::Result<u32> {
        let (mut len, mut first) = (bytes.len() as u32, first);
        loop {
            let bytes = &mut bytes[..len as usize];
            match self.execute(&self.command(op, at, len), op, bytes, first.take()) {
                Ok(Status(0)) => return Ok(len),
                Ok(status)
                    if status.meaning() == StatusClass::Medium && len > self.block() && !self.options.failing =>
                {
                    return self.good_part(op, bytes, at);
                }
                Ok(status) => return Err(self.error_at(status, at)),
                // Too many memory segments for the driver: its reported limits are incomplete.
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) && len > self.block() => {
                    len = (len / 2 - len / 2 % self.block()).max(self.block());
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Transfers the blocks before the first bad one of a range that failed. Bisects, because a bad drive may take
    /// seconds per failure. Tries the first block alone before that, because the next request begins with the bad
    /// block.
    fn good_part(&self, op: Op, bytes: &mut [u8], at: u64) -> io::Result<u32> {
        let block = self.block();
        let status = self.execute(&self.command(op, at, block), op, &mut bytes[..block as usize], None)?;
        if status != Status(0) {
            return Err(self.error_at(status, at));
        }
        let (mut good, mut bad) = (block, bytes.len() as u32);
        while bad - good > block {
            let half = (bad - good) / 2;
            let middle = good + (half - half % block).max(block);
            let part = &mut bytes[good as usize..middle as usize];
            let command = self.command(op, at + u64::from(good), middle - good);
            match self.once(&command, op, part)? {
                Status(0) => good = middle,
                _ => bad = middle,
            }
        }
        Ok(good)
    }

    /// Transfers a part of a single block. A write keeps the rest of the block.
    fn part(&self, request: &mut Request) -> io::Result<u32> {
        let (at, block) = (request.at(), self.block());
        let within = (at % u64::from(block)) as usize;
        let len = (request.left() as usize).min(block as usize - within);
        let _alone = self.patching.lock().unwrap_or_else(PoisonError::into_inner);
        let (from, mut whole) = (at - within as u64, vec![0; block as usize]);
        self.blocks(Op::Read, &mut whole, from, None)?;
        let part = &mut whole[within..within + len];
        match request.op {
            Op::Read => request.rest_mut()[..len].copy_from_slice(part),
            Op::Write => part.copy_from_slice(&request.rest()[..len]),
            Op::Zero => part.fill(0),
        }
        if request.op != Op::Read {
            self.blocks(Op::Write, &mut whole, from, None)?;
        }
        Ok(len as u32)
    }

    /// Zeroes whole blocks. Only called if the drive supports that, according to the facts.
    fn zero(&self, request: &Request) -> io::Result<u32> {
        let (at, shift) = (request.at(), self.namespace.block_shift);
        // Linux applies the transfer limit to Write Zeroes too, unless the drive reports a separate one.
        let blocks = (request.left().min(self.place.command_bytes_max) >> shift).min(BLOCKS_MAX);
        // Deallocate only if deallocated blocks read as zeros.
        let deallocate = self.namespace.deallocated_is_zero && self.namespace.zeroes_may_deallocate;
        let how = Zeroing { deallocate, fua: self.options.fua };
        let command = command::write_zeroes(self.blocks_at(at, blocks), how);
        match self.execute(&command, Op::Zero, &mut [], None)? {
            Status(0) => Ok(blocks << shift),
            status => Err(self.error_at(status, at)),
        }
    }

    /// Whether the drive or the namespace has disappeared.
    fn has_disappeared(&self) -> bool {
        match super::drive::identify(&*self.drive, self.place.nsid) {
            Ok(_) => false,
            Err(error) => {
                matches!(error.raw_os_error(), Some(libc::ENODEV | libc::ENXIO | libc::ENOTTY))
                    || DeviceError::of(&error).is_some_and(|device_failure| device_failure.kind == Kind::Disconnected)
            }
        }
    }
}

impl Endpoint for NvmeNamespace {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        let at = request.at();
        let first = self.suspects.take(at).flatten();
        if at >= self.place.size || u64::from(request.left()) > self.place.size - at {
            let errno = if request.op == Op::Read { libc::EINVAL } else { libc::ENOSPC };
            return Err(io::Error::from_raw_os_error(errno));
        }
        match (self.piece(request), request.op) {
            (None, _) => self.part(request),
            (Some(_), Op::Zero) if self.writes_zeroes => self.zero(request),
            (Some(len), Op::Zero) => self.blocks(Op::Write, &mut vec![0; len as usize], at, None),
            (Some(len), op) => self.blocks(op, &mut request.rest_mut()[..len as usize], at, first),
        }
    }

    fn on_ring(&self) -> Option<&dyn OnRing> {
        // Also after the kernel refused commands on the ring: those in flight still complete, and `takes` rejects
        // others.
        self.drive.for_ring().is_some().then_some(self)
    }

    fn offload(&self, source: OffloadSource<'_>, from: Extent, to_offset: u64) -> io::Result<u64> {
        let (limits, shift) = (self.namespace.copy, self.namespace.block_shift);
        let blocks = (from.len >> shift).min(limits.longest().into()) as u32;
        let aligned = |at: u64| at.is_multiple_of(self.block().into());
        let within = matches!(source, OffloadSource::SameDevice);
        if !within || blocks == 0 || !aligned(from.offset) || !aligned(self.place.start + to_offset) {
            return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP));
        }
        if to_offset + (u64::from(blocks) << shift) > self.place.size {
            return Err(io::Error::from_raw_os_error(libc::ENOSPC));
        }
        let (mut ranges, mut done) = (Vec::new(), 0);
        while done < blocks {
            let len = (blocks - done).min(limits.range_blocks);
            ranges.extend(command::copy_range((from.offset >> shift) + u64::from(done), len));
            done += len;
        }
        let count = (ranges.len() / 32) as u32;
        let command = command::copy(self.place.nsid, self.lba(to_offset), count, self.options.fua);
        match self.execute(&command, Op::Write, &mut ranges, None)? {
            Status(0) => Ok(u64::from(blocks) << shift),
            status if status.is_refusal() => Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
            status => Err(self.error_at(status, to_offset)),
        }
    }

    fn limit_reads(&self, limit: Duration) -> bool {
        self.drive.limit(limit);
        true
    }

    fn make_durable(&self) -> io::Result<()> {
        if !self.write_cache {
            return Ok(());
        }
        match self.execute(&command::flush(self.place.nsid), Op::Zero, &mut [], None)? {
            Status(0) => Ok(()),
            status => Err(command_error(status, "Flush: ", None)),
        }
    }

    fn diagnose(&self, _op: Op, _offset: u64, error: &io::Error) -> Kind {
        match (DeviceError::of(error), error.raw_os_error()) {
            (Some(device_failure), _) if device_failure.kind != Kind::Io => device_failure.kind,
            (_, Some(libc::ENODEV | libc::ENXIO)) => Kind::Disconnected,
            (_, Some(libc::ENOSPC)) => Kind::NoSpace,
            _ if self.has_disappeared() => Kind::Disconnected,
            _ => Kind::Io,
        }
    }

    fn closing(&self) -> ClosingReport {
        let node = self.facts.passthrough.as_ref().map(|through| through.node.display().to_string());
        let detail = Some(format!("NVMe commands to {} ({})", node.unwrap_or_default(), self.ring.way()));
        let name = &self.facts.address;
        let fallbacks = self.ring.fallback().map(|note| format!("{name}: {note}")).into_iter().collect();
        let notes = match self.repeated.load(Relaxed) {
            0 => Vec::new(),
            times => vec![format!("{name}: commands retried after a failure: {times}")],
        };
        ClosingReport { detail, notes, fallbacks, ..ClosingReport::default() }
    }

    fn change(&self) -> Option<EndpointChange> {
        if self.place.start > 0 {
            return None;
        }
        let (_, namespace) = super::drive::identify(&*self.drive, self.place.nsid).ok()?;
        EndpointChange::of_size(self.namespace.bytes(), namespace.bytes())
    }
}
