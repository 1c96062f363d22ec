//! An open export.
use super::client::Client;
use super::flights::{Command, Flight, Memory, Verb};
use super::protocol::{failure, kind_of};
use super::queue::NbdQueue;
use super::requests::{command_of, is_whole, write_flags};
use super::zeros::Zeros;
use crate::core::{ClosingReport, Endpoint, Extent, Facts, Kind, Op, Queue, Request, Run, RunKind, SidePart, locked};
use std::io;
use std::sync::{Arc, Mutex};

/// Maximum number of zeros per write to a server that does not support Write Zeroes.
const ZEROS_BYTES_MAX: u32 = 1 << 20;

/// An open export.
pub(super) struct OpenExport {
    facts: Facts,
    client: Arc<Client>,
    writes: bool,
    /// Extents that read as zeros, according to the latest query.
    zeros: Mutex<Zeros>,
    /// Held while a partial block is written by reading and rewriting the whole block.
    in_part: Mutex<()>,
}

impl OpenExport {
    pub(super) fn new(facts: Facts, client: Arc<Client>, writes: bool) -> Self {
        OpenExport { facts, client, writes, zeros: Mutex::default(), in_part: Mutex::new(()) }
    }

    fn block(&self) -> u32 {
        self.client.agreed().export.block_min_bytes
    }

    fn call(&self, verb: Verb, extent: Extent, bytes: Vec<u8>) -> io::Result<Flight> {
        let flags = if verb == Verb::Write { write_flags(self.client.agreed()) } else { 0 };
        let len = u32::try_from(extent.len).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
        let mut flight = self.client.call(Command { verb, flags, offset: extent.offset, len }, bytes)?;
        flight.result()?;
        Ok(flight)
    }

    fn read(&self, extent: Extent) -> io::Result<Vec<u8>> {
        match self.call(Verb::Read, extent, vec![0; extent.len as usize])?.memory {
            Memory::Bytes(bytes) => Ok(bytes),
            Memory::Request(_) => unreachable!("a call has bytes"),
        }
    }

    /// Reads whole blocks and returns the requested part.
    fn read_part(&self, request: &mut Request) -> io::Result<u32> {
        let (block, most) = (u64::from(self.block()), u64::from(self.client.agreed().export.block_max_bytes));
        let (at, size) = (request.at(), self.client.agreed().size);
        if at >= size {
            return Ok(0);
        }
        let start = at - at % block;
        let end = (at + u64::from(request.left())).next_multiple_of(block).min(size).min(start + most);
        let bytes = self.read(Extent::new(start, end - start))?;
        let bytes = &bytes[(at - start) as usize..];
        let moved = bytes.len().min(request.left() as usize);
        request.rest_mut()[..moved].copy_from_slice(&bytes[..moved]);
        Ok(moved as u32)
    }

    /// Writes `bytes`, or the start of them, at `at`: whole blocks, or part of one.
    fn write(&self, at: u64, bytes: &[u8]) -> io::Result<u32> {
        let (block, size) = (self.block(), self.client.agreed().size);
        if at >= size {
            return Err(io::Error::from_raw_os_error(libc::ENOSPC));
        }
        let len = (bytes.len() as u64).min(size - at).min(self.client.agreed().export.block_max_bytes.into()) as u32;
        let (before, whole) = ((at % u64::from(block)) as u32, len - len % block);
        if before == 0 && whole > 0 {
            let bytes = bytes[..whole as usize].to_vec();
            self.call(Verb::Write, Extent::new(at, whole.into()), bytes)?;
            return Ok(whole);
        }
        let moved = len.min(block - before);
        let _one_at_a_time = locked(&self.in_part);
        let extent = Extent::new(at - u64::from(before), block.into());
        let mut all = self.read(extent)?;
        all[before as usize..(before + moved) as usize].copy_from_slice(&bytes[..moved as usize]);
        self.call(Verb::Write, extent, all)?;
        Ok(moved)
    }

    fn zero(&self, request: &Request) -> io::Result<u32> {
        let (agreed, zeroing) = (self.client.agreed(), &self.client.zeroing);
        while is_whole(agreed, zeroing, request) {
            let command = command_of(agreed, zeroing, request);
            match self.client.call(command, Vec::new())?.result() {
                Err(error) if zeroing.refuses(&command, &error) => {}
                zeroed => return zeroed,
            }
        }
        self.write(request.at(), &vec![0; request.left().min(ZEROS_BYTES_MAX) as usize])
    }

    /// Queries the block status from `extent` on, in whole blocks.
    fn ask(&self, extent: Extent) -> io::Result<Vec<(u64, RunKind)>> {
        Ok(self.call(Verb::Status, extent, Vec::new())?.runs)
    }
}

impl Endpoint for OpenExport {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        match request.op {
            Op::Read => self.read_part(request),
            Op::Write => self.write(request.at(), request.rest()),
            Op::Zero => self.zero(request),
        }
    }

    fn own_queue(&self, _depth: u32) -> Option<io::Result<Box<dyn Queue>>> {
        let queue = NbdQueue::open(self.client.clone());
        Some(queue.map(|queue| Box::new(queue) as Box<dyn Queue>))
    }

    fn run_at(&self, within: Extent) -> io::Result<Run> {
        if !self.client.agreed().export.base_allocation {
            return Ok(Run { extent: within, kind: RunKind::Data });
        }
        let (block, size) = (self.block().into(), self.client.agreed().size);
        locked(&self.zeros).run_at(within, block, size, |extent| self.ask(extent))
    }

    fn make_durable(&self) -> io::Result<()> {
        let export = &self.client.agreed().export;
        if !self.writes || !export.flush && export.fua {
            // Nothing was written, or every write was durable when acknowledged.
            return Ok(());
        }
        if !export.flush {
            let words = "the NBD server does not support flush";
            return Err(failure(Kind::Unsupported, words, ""));
        }
        self.client.call_first(Command { verb: Verb::Flush, flags: 0, offset: 0, len: 0 })?.result().map(drop)
    }

    fn cancel(&self) {
        self.client.abandon();
    }

    fn diagnose(&self, _op: Op, _offset: u64, error: &io::Error) -> Kind {
        kind_of(error)
    }

    fn slowest_part(&self) -> Option<SidePart> {
        Some(SidePart::Network)
    }

    fn closing(&self) -> ClosingReport {
        let connections = match self.client.links().len() {
            1 => "one connection".to_owned(),
            count => format!("{count} connections"),
        };
        let notes = match self.client.restored() {
            0 => Vec::new(),
            times => vec![format!("connections to {} that were lost and restored: {times}", self.facts.address)],
        };
        ClosingReport { detail: Some(connections), notes, ..ClosingReport::default() }
    }
}
