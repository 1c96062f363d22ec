//! Disks that are reached by SCSI commands, bypassing the block layer: `/dev/sgN`.
//!
//! This room must not know block devices beyond the claim on the disk's one, nor engines, nor plans beyond the side
//! that it opens. Commands are encoded, and data from disks is parsed, in separate files without I/O.
mod ata;
mod bsg;
pub mod cdb;
mod copy;
mod disk;
pub mod error_recovery;
mod failure;
mod holes;
pub mod inquiry;
pub mod lba_status;
mod node;
mod probe;
mod queue;
mod records;
mod reserve;
mod retry_policy;
pub mod sense;
mod sense_words;
mod shared;
mod survey;
pub mod temperature;
mod verdict;
pub mod xcopy;

use super::opening::Opening;
use crate::core::{
    ClosingReport, Endpoint, Extent, Facts, Kind, OffloadSource, OnRing, Op, Queue, RecordDevice, Request, Result, Run,
    Through,
};
use bsg::Bsg;
use disk::Disk;
use io_uring::{squeue, types};
use node::Intent;
pub(super) use probe::probe;
use queue::SgQueue;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;
use verdict::kind_of;

/// Opens a disk by its node.
pub(super) fn open(opening: Opening<'_>, through: &Through) -> Result<Arc<dyn Endpoint>> {
    let disk = Arc::new(Disk::open(&opening, through)?);
    let node = through.node.node.display().to_string();
    let bsg = Bsg::open(through.node.number, Intent::of(&opening));
    Ok(Arc::new(ScsiEndpoint { disk, node, bsg }))
}

/// A disk that is reached by SCSI commands.
#[derive(Debug)]
struct ScsiEndpoint {
    /// Shared with its queue.
    disk: Arc<Disk>,
    node: String,
    /// Its bsg node, if the kernel accepts commands on a ring there.
    bsg: Option<Bsg>,
}

impl Endpoint for ScsiEndpoint {
    fn facts(&self) -> &Facts {
        &self.disk.facts
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        if let Some(bsg) = &self.bsg {
            bsg.called(request.at());
        }
        self.disk.perform(request)
    }

    fn on_ring(&self) -> Option<&dyn OnRing> {
        self.bsg.as_ref().is_some_and(Bsg::works).then_some(self)
    }

    fn own_queue(&self, depth: u32) -> Option<io::Result<Box<dyn Queue>>> {
        // A queue writes commands to the node; a read-only node accepts them by SG_IO only.
        let queue = || SgQueue::open(self.disk.clone(), depth).map(|queue| Box::new(queue) as Box<dyn Queue>);
        self.disk.node.writable.then(queue)
    }

    fn run_at(&self, within: Extent) -> io::Result<Run> {
        Ok(self.disk.run_at(within))
    }

    fn offload(&self, from: OffloadSource<'_>, extent: Extent, to_offset: u64) -> io::Result<u64> {
        let OffloadSource::Device(name) = from else { return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)) };
        self.disk.copy_from(name, extent, to_offset).map(u64::from)
    }

    fn records(&self) -> Option<Arc<dyn RecordDevice>> {
        Some(self.disk.clone())
    }

    fn make_durable(&self) -> io::Result<()> {
        self.disk.make_durable()
    }

    fn limit_reads(&self, limit: Duration) -> bool {
        self.disk.node.limit_reads(limit);
        true
    }

    fn diagnose(&self, _op: Op, _offset: u64, error: &io::Error) -> Kind {
        kind_of(error)
    }

    fn closing(&self) -> ClosingReport {
        let way = self.bsg.as_ref().and_then(Bsg::way);
        let detail = Some(format!("SCSI commands ({})", way.as_ref().unwrap_or(&self.node)));
        let (notes, fallbacks) = (self.disk.notes(), self.disk.fallback().into_iter().collect());
        ClosingReport { detail, notes, fallbacks, ..ClosingReport::default() }
    }
}

impl ScsiEndpoint {
    fn bsg(&self) -> &Bsg {
        self.bsg.as_ref().expect("it is on no ring without a bsg node")
    }
}

// SAFETY: an entry references at most `command_bytes` of the current transfer, which are sliced, and the slot of `bsg`,
// which is in our box, consists of atomics and is used by one request at a time, because slots are unique. The command
// transfers the number of bytes in the entry. The descriptor is owned by `bsg`.
unsafe impl OnRing for ScsiEndpoint {
    fn fd(&self) -> BorrowedFd<'_> {
        self.bsg().fd()
    }

    fn needs_wide(&self) -> bool {
        true
    }

    fn takes(&self, request: &Request) -> bool {
        let len = self.disk.command_bytes(request.left());
        self.disk.takes(request)
            && self.disk.command(request.op, request.at(), len).is_ok()
            && self.bsg().takes(request)
    }

    fn encode(&self, _request: &mut Request, _fd: types::Fixed) -> squeue::Entry {
        unreachable!("it is only ever on a ring of the wide form")
    }

    fn encode_wide(&self, request: &mut Request, fd: types::Fixed) -> squeue::Entry128 {
        let len = self.disk.command_bytes(request.left());
        let (cdb, _) = self.disk.command(request.op, request.at(), len).expect("asked before whether it takes it");
        let timeout_ms = self.disk.timeout_ms(request.op);
        self.bsg().entry(request, (&cdb, len), timeout_ms, fd)
    }

    fn decode(&self, request: &Request, result: i32, extra: [u64; 2]) -> io::Result<Option<u32>> {
        let (_, place) = self.disk.command(request.op, request.at(), self.bsg().len(request))?;
        self.bsg().decode(&self.disk.node, request, place, (result, extra[0]))
    }
}
