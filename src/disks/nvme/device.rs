//! A namespace, open: reads, writes and zeros by its own commands.
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

/// Where a side lies on its namespace, and how long its commands may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct NamespaceRange {
    pub(super) nsid: u32,
    /// First byte on the namespace; more than 0 for a partition. A multiple of the block.
    pub(super) start: u64,
    /// Bytes of this side.
    pub(super) size: u64,
    /// Longest transfer, in bytes; a multiple of the block.
    pub(super) command_bytes_max: u32,
}

/// A namespace, open.
pub(super) struct NvmeNamespace {
    pub(super) facts: Facts,
    pub(super) drive: Box<dyn Drive>,
    pub(super) place: NamespaceRange,
    namespace: Namespace,
    write_cache: bool,
    writes_zeroes: bool,
    pub(super) wishes: CommandOptions,
    pub(super) ring: RingState,
    /// The drive's error for them; `None`: it was the kernel.
    pub(super) suspects: OffRingRetries<Option<Status>>,
    /// Held while a part of a block is changed: two parts of one block may come at once.
    patching: Mutex<()>,
    given_again: AtomicU64,
    patience: fn(u32) -> RetryPolicy,
    /// Dropped last: what the page cache then still holds of the device is older than what commands wrote.
    claim: Option<Claim>,
}

impl NvmeNamespace {
    pub(super) fn new(
        facts: Facts,
        drive: Box<dyn Drive>,
        place: NamespaceRange,
        (controller, namespace): (&Controller, Namespace),
        wishes: CommandOptions,
    ) -> Self {
        let (ring, suspects, patching, given_again) = Default::default();
        let (write_cache, writes_zeroes) = (controller.write_cache, controller.writes_zeroes);
        NvmeNamespace {
            facts,
            drive,
            place,
            namespace,
            write_cache,
            writes_zeroes,
            wishes,
            ring,
            suspects,
            patching,
            given_again,
            patience: RetryPolicy::new,
            claim: None,
        }
    }

    /// The same with the block device that it goes past.
    pub(super) fn claiming(mut self, claim: Claim) -> Self {
        self.claim = Some(claim);
        self
    }

    /// Never waits for a drive that is not ready.
    #[cfg(test)]
    pub(super) fn hasty(mut self) -> Self {
        self.patience = RetryPolicy::hasty;
        self
    }

    fn block(&self) -> u32 {
        self.namespace.block_bytes()
    }

    fn lba(&self, at: u64) -> u64 {
        (self.place.start + at) >> self.namespace.block_shift
    }

    /// Bytes of the present transfer that one command moves, in whole blocks; `None` where it begins or ends within
    /// one, or outside. The same for the same transfer at any time.
    pub(super) fn piece(&self, request: &Request) -> Option<u32> {
        let (at, block) = (request.at(), self.block());
        let most = request.left().min(self.place.command_bytes_max);
        let len = most - most % block;
        let inside = at.checked_add(len.into()).is_some_and(|end| end <= self.place.size);
        (len > 0 && at.is_multiple_of(block.into()) && inside).then_some(len)
    }

    /// The command that reads or writes `len` bytes, which are whole blocks, at `at`.
    pub(super) fn command(&self, op: Op, at: u64, len: u32) -> Command {
        let blocks = self.blocks_at(at, len >> self.namespace.block_shift);
        match op {
            Op::Read => command::read(blocks),
            _ => command::write(blocks, self.wishes.fua),
        }
    }

    fn blocks_at(&self, at: u64, count: u32) -> Blocks {
        Blocks { nsid: self.place.nsid, lba: self.lba(at), count, block_bytes: self.block() }
    }

    /// The drive's error for a command at `at`, as an error.
    fn blame(&self, status: Status, at: u64) -> io::Error {
        let error = command_error(status, "", Some(at));
        let Some(said) = DeviceError::of(&error) else { return error };
        DeviceError { words: format!("{}, LBA {}", said.words, self.lba(at)), ..said.clone() }.into()
    }

    /// Gives a command once, and again where the kernel took it back.
    fn once(&self, command: &Command, op: Op, bytes: &mut [u8]) -> io::Result<Status> {
        for _ in 0..=self.wishes.retries {
            let data = match op {
                Op::Read => Data::In(bytes),
                Op::Write => Data::Out(bytes),
                Op::Zero => Data::None,
            };
            match self.drive.give(Set::Io, command, data) {
                Err(error) if matches!(error.raw_os_error(), Some(libc::EINTR | libc::EAGAIN)) => {
                    self.given_again.fetch_add(1, Relaxed);
                }
                given => return given,
            }
        }
        // Not as EINTR: that would be tried for ever.
        Err(io::Error::from_raw_os_error(libc::EIO))
    }

    /// Gives a command until it succeeds or there is no use. `first` is the drive's first error.
    fn give(&self, command: &Command, op: Op, bytes: &mut [u8], first: Option<Status>) -> io::Result<Status> {
        let mut patience = (self.patience)(self.wishes.retries);
        let mut status = match first {
            Some(status) => status,
            None => self.once(command, op, bytes)?,
        };
        while status != Status(0) && patience.once_more(status) {
            self.given_again.fetch_add(1, Relaxed);
            status = self.once(command, op, bytes)?;
        }
        Ok(status)
    }

    /// Moves whole blocks at `at`; fewer where a bad one is among them, and then all before that one.
    fn blocks(&self, op: Op, bytes: &mut [u8], at: u64, first: Option<Status>) -> io::Result<u32> {
        let (mut len, mut first) = (bytes.len() as u32, first);
        loop {
            let bytes = &mut bytes[..len as usize];
            match self.give(&self.command(op, at, len), op, bytes, first.take()) {
                Ok(Status(0)) => return Ok(len),
                Ok(status) if status.meaning() == StatusClass::Medium && len > self.block() => {
                    return self.good_part(op, bytes, at);
                }
                Ok(status) => return Err(self.blame(status, at)),
                // Memory in more pieces than the driver takes: its limits do not say it all.
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) && len > self.block() => {
                    len = (len / 2 - len / 2 % self.block()).max(self.block());
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Moves what is before the first bad block of a range that failed as a whole. Halves, as a bad drive may take
    /// seconds for each failure; the first block alone before that, as the next try begins with the bad one.
    fn good_part(&self, op: Op, bytes: &mut [u8], at: u64) -> io::Result<u32> {
        let block = self.block();
        let status = self.give(&self.command(op, at, block), op, &mut bytes[..block as usize], None)?;
        if status != Status(0) {
            return Err(self.blame(status, at));
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

    /// Moves what begins or ends within a block: no more than to the end of that block. A write changes the rest of the
    /// block by nothing.
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

    /// Zeroes whole blocks by the drive. Only ever asked of drives that can: [`super::probe`] says so in the facts.
    fn zero(&self, request: &Request) -> io::Result<u32> {
        let (at, shift) = (request.at(), self.namespace.block_shift);
        // The limit of transfers is one of Write Zeroes too, as Linux has it, unless the drive says better.
        let blocks = (request.left().min(self.place.command_bytes_max) >> shift).min(BLOCKS_MAX);
        // Space is abandoned only where what is abandoned reads as zeros.
        let deallocate = self.namespace.deallocated_is_zero && self.namespace.zeroes_may_deallocate;
        let how = Zeroing { deallocate, fua: self.wishes.fua };
        let command = command::write_zeroes(self.blocks_at(at, blocks), how);
        match self.give(&command, Op::Zero, &mut [], None)? {
            Status(0) => Ok(blocks << shift),
            status => Err(self.blame(status, at)),
        }
    }

    /// The drive, or this namespace of it, is no longer there.
    fn is_gone(&self) -> bool {
        match super::drive::identify(&*self.drive, self.place.nsid) {
            Ok(_) => false,
            Err(error) => {
                matches!(error.raw_os_error(), Some(libc::ENODEV | libc::ENXIO | libc::ENOTTY))
                    || DeviceError::of(&error).is_some_and(|said| said.kind == Kind::Gone)
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
        // Even where the kernel refuses by now: those in flight still come back, and `takes` lets no more go.
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
        let command = command::copy(self.place.nsid, self.lba(to_offset), count, self.wishes.fua);
        match self.give(&command, Op::Write, &mut ranges, None)? {
            Status(0) => Ok(u64::from(blocks) << shift),
            status if status.is_refusal() => Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
            status => Err(self.blame(status, to_offset)),
        }
    }

    fn make_durable(&self) -> io::Result<()> {
        if !self.write_cache {
            return Ok(());
        }
        match self.give(&command::flush(self.place.nsid), Op::Zero, &mut [], None)? {
            Status(0) => Ok(()),
            status => Err(command_error(status, "Flush: ", None)),
        }
    }

    fn diagnose(&self, _op: Op, _offset: u64, error: &io::Error) -> Kind {
        match (DeviceError::of(error), error.raw_os_error()) {
            (Some(said), _) if said.kind != Kind::Io => said.kind,
            (_, Some(libc::ENODEV | libc::ENXIO)) => Kind::Gone,
            (_, Some(libc::ENOSPC)) => Kind::NoSpace,
            _ if self.is_gone() => Kind::Gone,
            _ => Kind::Io,
        }
    }

    fn closing(&self) -> ClosingReport {
        let node = self.facts.passthrough.as_ref().map(|through| through.node.display().to_string());
        let detail = Some(format!("NVMe commands to {} ({})", node.unwrap_or_default(), self.ring.way()));
        let name = &self.facts.address;
        let fallbacks = self.ring.fallback().map(|note| format!("{name}: {note}")).into_iter().collect();
        let notes = match self.given_again.load(Relaxed) {
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
