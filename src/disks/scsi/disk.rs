//! An open disk that is reached by SCSI commands.
use super::cdb::{Cdb, CdbForm, TransferDirection};
use super::copy::Copying;
use super::holes::Holes;
use super::node::{Data, Intent, Node, is_too_long};
use super::probe::write_same_blocks;
use super::shared::{Shared, map_reserved};
use super::survey::Survey;
use super::verdict::CommandRange;
use crate::core::{
    Buffer, Cache, CommandOptions, CopyName, DeviceError, Extent, Facts, Kind, Op, Request, Result, Run, RunKind,
    Through, Transfers,
};
use crate::disks::claim::Claim;
use crate::disks::opening::Opening;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Minimum command length, in bytes, when the driver rejects longer ones.
const TRANSFER_BYTES_MIN: u32 = 4096;

/// An open disk that is reached by SCSI commands.
#[derive(Debug)]
pub(super) struct Disk {
    pub(super) facts: Facts,
    pub(super) node: Node,
    pub(super) claim: Claim,
    /// Its name in error messages.
    pub(super) name: String,
    /// Offset of this side on the disk, in bytes.
    start: u64,
    pub(super) block_bytes: u32,
    size: u64,
    /// Maximum command length; halved when the driver rejects a command as too long.
    transfer_bytes_max: AtomicU32,
    pub(super) form: CdbForm,
    /// Memory shared with the driver, if records may be transferred through it.
    pub(super) shared: Option<Shared>,
    /// Memory shared with the driver of the node's own descriptor, if a queue reads into it; mapped as long as the disk
    /// is open.
    _reserved: Option<Mutex<Buffer>>,
    /// Maximum blocks of WRITE SAME, and whether it may unmap; `None` to write zeros as data.
    write_same: Option<(u32, bool)>,
    write_same_refused: AtomicBool,
    /// Hole detection, if the disk supports it.
    holes: Option<Holes>,
    copying: Option<Copying>,
    /// Held while a partial block is written by reading and rewriting the whole block.
    edge: Mutex<()>,
}

impl Disk {
    /// Opens the disk as planned, and probes it again.
    pub(super) fn open(opening: &Opening<'_>, through: &Through) -> Result<Self> {
        debug_assert!(opening.plan.access.cache == Cache::Direct);
        let failed = |error: io::Error| match DeviceError::of(&error).cloned() {
            Some(device_failure) => {
                opening.error(device_failure.kind, &format!(": {}", device_failure.words)).advise(device_failure.advice)
            }
            None => opening.error(Kind::Open, &format!(" by {}", through.node.node.display())).because(error),
        };
        let intent = Intent::of(opening);
        let node = Node::open(&through.node.node, intent, through.options).map_err(failed)?;
        if node.number().map_err(failed)? != through.node.number {
            return Err(opening.changed(&format!(": {} is another device", through.node.node.display())));
        }
        // Before any query, so that no other process uses the disk from here on.
        let claim = Claim::take(opening, &through.node)?;
        let survey = Survey::take(&node, opening.facts).map_err(failed)?;
        let facts = opening.facts.clone();
        let size = facts.size.unwrap_or(0);
        let disk_bytes = survey.capacity.blocks.saturating_mul(survey.capacity.block_bytes.into());
        if survey.capacity.block_bytes != facts.logical_block_bytes || through.node.start + size > disk_bytes {
            return Err(opening.changed(&format!(": its size is now {disk_bytes} bytes")));
        }
        let options = through.options;
        can_do(opening, &survey, &options)?;
        let shared = match options.shared {
            // A second lock by this process would conflict with the first.
            true => Some(CommandOptions { locked: false, ..options }),
            false => None,
        };
        let shared =
            shared.map(|options| Node::open(&through.node.node, intent, options)).transpose().map_err(failed)?;
        let unmap = survey.unmapped_are_zeros();
        let asked = intent == Intent::Reading && facts.sparse && unmap;
        let write_same = survey.provisioning.unmaps_by_write_same.then(|| (write_same_blocks(&survey) as u32, unmap));
        let CommandOptions { cdb_bytes: bytes, dpo, fua, fua_nv, group, duration_limit, .. } = options;
        let form = CdbForm { bytes, dpo, fua, fua_nv, group, duration_limit };
        let block_bytes = survey.capacity.block_bytes;
        let of_form = form.blocks_max().saturating_mul(block_bytes.into());
        let most = facts.queue.max_request_bytes.max(block_bytes);
        let most = u32::try_from(of_form).map_or(most, |of_form| most.min(of_form));
        let reserved = match options.transfers {
            Transfers::Shared => Some(map_reserved(&node, most, block_bytes).map_err(failed)?),
            Transfers::Direct | Transfers::Copied => None,
        };
        let most = reserved.as_ref().map_or(most, |memory| most.min(memory.bytes().len() as u32));
        Ok(Disk {
            name: format!("{} {}", opening.side.name(), facts.address),
            claim,
            start: through.node.start,
            block_bytes,
            size,
            transfer_bytes_max: AtomicU32::new(most - most % block_bytes),
            form,
            shared: shared.map(Shared::new),
            _reserved: reserved.map(Mutex::new),
            write_same,
            write_same_refused: AtomicBool::new(false),
            holes: asked.then(|| Holes::open(&through.node, survey.capacity.block_bytes, options)).flatten(),
            copying: survey.copying,
            edge: Mutex::new(()),
            node,
            facts,
        })
    }

    /// A disk of 1 MiB behind a descriptor that never completes commands, for tests.
    #[cfg(test)]
    pub(super) fn silent(fd: std::os::fd::OwnedFd) -> Self {
        Disk {
            facts: Facts::new("silent", crate::core::EndpointKind::Block),
            node: Node::silent(fd),
            claim: Claim::of_nothing(),
            name: "source silent".to_owned(),
            start: 0,
            block_bytes: 512,
            size: 1 << 20,
            transfer_bytes_max: AtomicU32::new(1 << 20),
            form: CdbForm::default(),
            shared: None,
            _reserved: None,
            write_same: None,
            write_same_refused: AtomicBool::new(false),
            holes: None,
            copying: None,
            edge: Mutex::new(()),
        }
    }

    /// Whether the current transfer of the request can be a command: it starts at a block and contains a whole one.
    pub(super) fn takes(&self, request: &Request) -> bool {
        let block = self.block_bytes;
        request.op != Op::Zero && request.at().is_multiple_of(block.into()) && request.left() >= block
    }

    /// Length of the command for the current transfer of a request that starts at a block.
    pub(super) fn command_bytes(&self, left: u32) -> u32 {
        let most = self.transfer_bytes_max.load(Relaxed);
        (left - left % self.block_bytes).min(most)
    }

    /// Timeout of a command for this operation, in milliseconds.
    pub(super) fn timeout_ms(&self, op: Op) -> u32 {
        if op == Op::Read { self.node.read_timeout_ms() } else { self.node.timeout_ms() }
    }

    /// Maximum command length, in bytes.
    pub(super) fn most_bytes(&self) -> u32 {
        self.transfer_bytes_max.load(Relaxed)
    }

    /// Called when the driver rejects a command of `len` bytes as too long. Returns whether shorter ones are worth
    /// trying.
    pub(super) fn shorten(&self, len: u32) -> bool {
        let shorter = len / 2 - len / 2 % self.block_bytes;
        if shorter < TRANSFER_BYTES_MIN.max(self.block_bytes) {
            return false;
        }
        self.transfer_bytes_max.fetch_min(shorter, Relaxed);
        true
    }

    /// The command that transfers `len` bytes at `offset`, and its blocks.
    pub(super) fn command(&self, op: Op, offset: u64, len: u32) -> io::Result<(Cdb, CommandRange)> {
        let block = u64::from(self.block_bytes);
        let lba = (self.start + offset) / block;
        let place = CommandRange { lba, blocks: u64::from(len) / block, block_bytes: block, start: self.start };
        let beyond = offset.checked_add(len.into()).is_none_or(|end| end > self.size);
        if beyond {
            let words = format!("byte {offset} is beyond its end at byte {}", self.size);
            return Err(DeviceError {
                kind: Kind::Io,
                words,
                offset: Some(offset),
                of_medium: false,
                advice: "",
                sense: None,
            }
            .into());
        }
        let way = if op == Op::Read { TransferDirection::Read } else { TransferDirection::Write };
        let cdb = Cdb::transfer(way, lba, len / self.block_bytes, self.form).ok_or_else(|| {
            let words = format!("a command of {} bytes cannot address LBA {lba}", self.form.bytes.unwrap_or(16));
            let advice = "Omit the command size.";
            DeviceError { kind: Kind::Unsupported, words, offset: Some(offset), of_medium: false, advice, sense: None }
        })?;
        Ok((cdb, place))
    }

    /// Reads whole blocks, as many as one command transfers.
    fn read(&self, offset: u64, bytes: &mut [u8]) -> io::Result<u32> {
        loop {
            let len = self.command_bytes(bytes.len() as u32);
            let (cdb, place) = self.command(Op::Read, offset, len)?;
            match self.node.carry_out(&cdb, Data::From(&mut bytes[..len as usize]), place) {
                Err(error) if is_too_long(&error) && self.shorten(len) => {}
                result => return result,
            }
        }
    }

    /// Writes whole blocks, as many as one command transfers.
    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<u32> {
        loop {
            let len = self.command_bytes(bytes.len() as u32);
            let (cdb, place) = self.command(Op::Write, offset, len)?;
            match self.node.carry_out(&cdb, Data::To(&bytes[..len as usize]), place) {
                Err(error) if is_too_long(&error) && self.shorten(len) => {}
                result => return result,
            }
        }
    }

    /// Reads the block that contains `offset`. Returns its data, its offset, and the position of `offset` in it.
    fn block_of(&self, offset: u64) -> io::Result<(Vec<u8>, u64, usize)> {
        let within = offset % u64::from(self.block_bytes);
        let mut block = vec![0; self.block_bytes as usize];
        self.read(offset - within, &mut block)?;
        Ok((block, offset - within, within as usize))
    }

    /// Reads at most to the end of a block.
    fn read_part(&self, offset: u64, bytes: &mut [u8]) -> io::Result<u32> {
        let (block, _, within) = self.block_of(offset)?;
        let len = bytes.len().min(block.len() - within);
        bytes[..len].copy_from_slice(&block[within..within + len]);
        Ok(len as u32)
    }

    /// Writes at most to the end of a block, whose other bytes do not change.
    fn write_part(&self, offset: u64, bytes: &[u8]) -> io::Result<u32> {
        let _alone = self.edge.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut block, start, within) = self.block_of(offset)?;
        let len = bytes.len().min(block.len() - within);
        block[within..within + len].copy_from_slice(&bytes[..len]);
        self.write(start, &block)?;
        Ok(len as u32)
    }

    /// Executes the current transfer of a request, or a part of it.
    pub(super) fn perform(&self, request: &mut Request) -> io::Result<u32> {
        let (at, whole) = (request.at(), self.takes(request));
        match request.op {
            Op::Read if whole => self.read(at, request.rest_mut()),
            Op::Read => self.read_part(at, request.rest_mut()),
            Op::Write if whole => self.write(at, request.rest()),
            Op::Write => self.write_part(at, request.rest()),
            Op::Zero => self.zero(at, request.left()),
        }
    }

    fn zero(&self, offset: u64, len: u32) -> io::Result<u32> {
        let block = u64::from(self.block_bytes);
        if !offset.is_multiple_of(block) || u64::from(len) < block {
            return self.write_part(offset, &vec![0; (len as usize).min(self.block_bytes as usize)]);
        }
        if let Some((most, unmap)) = self.write_same.filter(|_| !self.write_same_refused.load(Relaxed)) {
            let blocks = (len / self.block_bytes).min(most.max(1));
            let (_, place) = self.command(Op::Write, offset, blocks * self.block_bytes)?;
            let cdb = Cdb::write_same_16(place.lba, blocks, unmap);
            let one = vec![0; self.block_bytes as usize];
            match self.node.carry_out(&cdb, Data::To(&one), place) {
                Err(error) if is_unknown(&error) => self.write_same_refused.store(true, Relaxed),
                // The command transfers only one block of data, whatever it zeroes.
                moved => return moved.map(|_| blocks * self.block_bytes),
            }
        }
        let len = self.command_bytes(len);
        self.write(offset, &vec![0; len as usize])
    }

    /// The run that begins at `within.offset`, limited to `within.end()`.
    pub(super) fn run_at(&self, within: Extent) -> Run {
        let data = Run { extent: within, kind: RunKind::Data };
        self.holes.as_ref().map_or(data, |holes| holes.run_at(within))
    }

    /// Copies from the unit of that name; see [`crate::core::Endpoint::offload`].
    pub(super) fn copy_from(&self, name: &CopyName, from: Extent, to_offset: u64) -> io::Result<u32> {
        if to_offset.checked_add(from.len).is_none_or(|end| end > self.size) {
            return Err(io::Error::from_raw_os_error(libc::ENOSPC));
        }
        let copying = self.copying.ok_or_else(|| io::Error::from_raw_os_error(libc::EOPNOTSUPP))?;
        copying.copy(&self.node, name, from, self.start + to_offset, self.block_bytes)
    }

    /// Its notes for the report.
    pub(super) fn notes(&self) -> Vec<String> {
        let holes = self.holes.as_ref().and_then(Holes::note).map(|note| format!("{}: {note}", self.name));
        self.node.counts.notes(&self.name).into_iter().chain(holes).collect()
    }

    /// The unavailable optimization, for the report.
    pub(super) fn fallback(&self) -> Option<String> {
        self.node.counts.fallback(&self.name)
    }

    /// Returns when all data is on the medium, and the page cache has no older data.
    pub(super) fn make_durable(&self) -> io::Result<()> {
        let long = self.start + self.size > u64::from(self.block_bytes) << 32;
        let flushed = self.node.carry_out(&Cdb::synchronize_cache(long), Data::None, CommandRange::default());
        match flushed {
            // A disk without a cache need not support the command.
            Err(error) if is_unknown(&error) => {}
            flushed => _ = flushed?,
        }
        self.claim.drop_cache()
    }
}

/// Refuses options that the disk does not support.
fn can_do(opening: &Opening<'_>, survey: &Survey, options: &CommandOptions) -> Result<()> {
    if opening.writes && survey.mode.write_protected {
        let error = opening.error(Kind::Refused, ": its medium is write-protected");
        return Err(error.advise("Remove the write protection, then run the command again."));
    }
    for (requested, bit) in [(options.fua, "FUA"), (options.fua_nv, "FUA_NV"), (options.dpo, "DPO")] {
        if requested && !survey.mode.takes_dpo_and_fua {
            let error = opening.error(Kind::Unsupported, &format!(" with {bit}: it does not support that"));
            return Err(error.advise("Omit it."));
        }
    }
    Ok(())
}

/// Whether the disk does not support the command, or this form of it.
fn is_unknown(error: &io::Error) -> bool {
    DeviceError::of(error).is_some_and(|device_failure| device_failure.kind == Kind::Unsupported)
}
