//! Disks that are reached by SCSI commands of their own, past the block layer: `/dev/sgN`.
//!
//! This room must not know block devices beyond the claim on the one behind the node, nor engines, nor plans beyond the
//! side it is given. Commands and what disks say are parsed in files of their own, which do no I/O.
pub mod cdb;
mod disk;
pub mod inquiry;
mod node;
mod patience;
mod probe;
mod queue;
pub mod sense;
mod sense_words;
mod survey;
mod verdict;

use super::opening::Opening;
use crate::contract::{DeviceError, Endpoint, Facts, Kind, Op, Queue, Request, Result, Through};
use disk::Disk;
pub(super) use probe::probe;
use queue::SgQueue;
use std::io;
use std::sync::Arc;

/// Opens a disk by its node.
pub(super) fn open(opening: Opening<'_>, through: &Through) -> Result<Arc<dyn Endpoint>> {
    let disk = Arc::new(Disk::open(&opening, through)?);
    let node = through.node.node.display().to_string();
    Ok(Arc::new(ScsiEndpoint { disk, node }))
}

/// A disk that is reached by SCSI commands.
#[derive(Debug)]
struct ScsiEndpoint {
    /// Shared with its queue.
    disk: Arc<Disk>,
    node: String,
}

impl Endpoint for ScsiEndpoint {
    fn facts(&self) -> &Facts {
        &self.disk.facts
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        self.disk.perform(request)
    }

    fn own_queue(&self, depth: u32) -> Option<io::Result<Box<dyn Queue>>> {
        // Commands are written to the node: one that may only be read takes them by SG_IO alone.
        let queue = || SgQueue::open(self.disk.clone(), depth).map(|queue| Box::new(queue) as Box<dyn Queue>);
        self.disk.node.writable.then(queue)
    }

    fn make_durable(&self) -> io::Result<()> {
        self.disk.make_durable()
    }

    fn diagnose(&self, _op: Op, _offset: u64, error: &io::Error) -> Kind {
        match (DeviceError::of(error), error.raw_os_error()) {
            (Some(said), _) => said.kind,
            (_, Some(libc::ECANCELED)) => Kind::Cancelled,
            (_, Some(libc::ENODEV | libc::ENXIO)) => Kind::Gone,
            _ => Kind::Io,
        }
    }

    fn detail(&self) -> Option<String> {
        Some(format!("SCSI commands ({})", self.node))
    }

    fn notes(&self) -> Vec<String> {
        self.disk.node.counts.notes(&self.disk.name)
    }
}
