//! Endpoints: one room per kind, each with its own `probe`, and the only list of kinds.
//!
//! This room must not know which engine uses an endpoint nor which extent is next, and it makes no decisions that
//! belong to a plan: how to open an endpoint and how to treat the page cache are parameters.
mod beside;
pub mod block;
mod buffered;
mod claim;
pub mod computed;
pub mod file;
#[cfg(feature = "http")]
pub mod http;
#[cfg(not(feature = "http"))]
#[path = "http/without.rs"]
pub mod http;
pub mod image;
mod mapped;
#[cfg(any(test, feature = "internals"))]
pub mod memory;
pub mod nbd;
pub mod null;
pub mod nvme;
#[cfg(feature = "objects")]
pub mod object;
#[cfg(not(feature = "objects"))]
#[path = "object/without.rs"]
pub mod object;
mod off_ring_retries;
mod opening;
pub mod pipe;
mod positional;
pub mod probe;
mod queue_limits;
mod reading;
mod residency;
pub mod scsi;
pub mod several;
#[cfg(feature = "tls")]
mod tls;
mod writeback_queue;
mod zeros;

pub use beside::{Beside, Neighbour};
pub use mapped::mapped;
pub use nbd::stop_servers;
pub use null::missing_side;

use crate::core::{CommandSet, Endpoint, EndpointKind, Existing, Facts, Kind, PlanSide, Result, Side};
use crate::hold::Held;
use opening::Opening;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;

/// Opens the source for reading, as planned.
///
/// # Errors
/// Open if the kernel refuses; Refused if it is not what was probed any more, or in use; Unsupported if direct I/O is
/// required and not available.
pub fn open_source(side: &PlanSide, facts: &Facts) -> Result<Arc<dyn Endpoint>> {
    open(Opening { side: Side::Source, reads: true, writes: false, plan: side, facts })
}

/// Opens the dest for reading, for comparisons.
///
/// # Errors
/// As for [`open_source`].
pub fn open_compared(side: &PlanSide, facts: &Facts) -> Result<Arc<dyn Endpoint>> {
    open(Opening { side: Side::Dest, reads: true, writes: false, plan: side, facts })
}

/// Opens the dest for writing, as planned. This may create or truncate a file, so the source must be opened first.
///
/// # Errors
/// As for [`open_source`]; also Refused if it would create a regular file under /dev.
pub fn open_dest(side: &PlanSide, facts: &Facts) -> Result<Arc<dyn Endpoint>> {
    open(Opening { side: Side::Dest, reads: false, writes: true, plan: side, facts })
}

/// Takes the lock of an existing dest file before the copy begins. [`open_dest`] shares it. `None` if there is nothing
/// to lock yet, or locking is not supported.
///
/// # Errors
/// Refused if another haul process uses the file, or it is not the file that was probed; Open if the kernel refuses.
pub fn hold_dest(side: &PlanSide, facts: &Facts) -> Result<Option<Held>> {
    let kept = side.access.existing != Existing::Create && side.through.is_none();
    if !facts.is_file() || !kept {
        return Ok(None);
    }
    let stored = facts.compressed.as_ref().map(|compressed| image::stored_side(side, &compressed.stored));
    let plan = stored.as_ref().unwrap_or(side);
    let opening = Opening { side: Side::Dest, reads: false, writes: true, plan, facts };
    let fd = opening.open(rustix::fs::OFlags::empty())?;
    opening.check_identity(fd.as_fd())?;
    opening.hold(fd.as_fd())
}

/// Like [`open_dest`], but also for reading: for copying only differences.
///
/// # Errors
/// As for [`open_dest`].
pub fn open_dest_to_change(side: &PlanSide, facts: &Facts) -> Result<Arc<dyn Endpoint>> {
    open(Opening { side: Side::Dest, reads: true, writes: true, plan: side, facts })
}

/// Queries a disk by its own commands, and updates `facts` for access through its node. Changes nothing on the disk.
/// Does nothing for facts without a node.
///
/// # Errors
/// The error of opening the node; a [`crate::core::DeviceError`] if the device does not respond, or is not a disk.
pub fn query_by_commands(facts: &mut Facts) -> io::Result<()> {
    let Some(node) = facts.passthrough.clone() else { return Ok(()) };
    match node.commands {
        CommandSet::Scsi => scsi::probe(&node, facts),
        CommandSet::Nvme => nvme::probe(&node, facts),
    }
}

/// Opens a side, and on it the content of what is compressed.
fn open(opening: Opening<'_>) -> Result<Arc<dyn Endpoint>> {
    let Some(compressed) = &opening.facts.compressed else { return open_stored(opening) };
    let side = image::stored_side(opening.plan, &compressed.stored);
    let stored = open_stored(Opening { plan: &side, facts: &compressed.stored, ..opening })?;
    match compressed.encoding.filter(|_| opening.writes) {
        None => image::over(opening.facts, compressed, stored),
        Some(encoding) => image::compressing(opening.facts, compressed, encoding, stored)
            .map_err(|error| opening.error(Kind::Open, "").because(error)),
    }
}

/// The only list of kinds of endpoints, and of command sets.
fn open_stored(opening: Opening<'_>) -> Result<Arc<dyn Endpoint>> {
    if let Some(through) = &opening.plan.through {
        return match through.node.commands {
            CommandSet::Scsi => scsi::open(opening, through),
            CommandSet::Nvme => nvme::open(opening, through),
        };
    }
    match opening.plan.kind {
        EndpointKind::File => file::open(opening),
        EndpointKind::Block => block::open(opening),
        EndpointKind::Nbd => nbd::open(opening),
        EndpointKind::Http | EndpointKind::HttpStream => http::open(opening),
        EndpointKind::Object => object::open(opening),
        EndpointKind::Pipe
        | EndpointKind::Socket
        | EndpointKind::Terminal
        | EndpointKind::Character
        | EndpointKind::FileStream => pipe::open(opening),
        EndpointKind::Endless | EndpointKind::Null => null::open(opening),
        EndpointKind::Pattern => Err(opening.error(Kind::Unsupported, ": the test pattern has no path")),
        EndpointKind::Memory | EndpointKind::Manifest | EndpointKind::Compressed | EndpointKind::CompressedDest => {
            Err(opening.error(Kind::Unsupported, ": it cannot be opened"))
        }
    }
}
