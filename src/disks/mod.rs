//! One room per kind of thing that holds bytes, each with its own `probe`; and the only list of kinds.
//!
//! This room must not know which engine drives it nor which extent comes next, and decides nothing that a plan
//! settles: how to open and what to do to the page cache is passed to it.
pub mod block;
mod buffered;
mod claim;
pub mod computed;
pub mod file;
mod mapped;
#[cfg(any(test, feature = "internals"))]
pub mod memory;
pub mod null;
pub mod nvme;
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
mod writeback_queue;
mod zeros;

pub use mapped::mapped;
pub use null::missing_side;

use crate::core::{CommandSet, Endpoint, EndpointKind, Existing, Facts, Kind, PlanSide, Result, Side};
use crate::hold::Held;
use opening::Opening;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;

/// Opens the source for reading, as its side of the plan says.
///
/// # Errors
/// Open when the kernel refuses; Refused when it is no longer what was probed, or in use; Unsupported where
/// direct I/O is asked for and is not available.
pub fn open_source(side: &PlanSide, facts: &Facts) -> Result<Arc<dyn Endpoint>> {
    open(Opening { side: Side::Source, reads: true, writes: false, plan: side, facts })
}

/// Opens the dest for reading, to be compared.
///
/// # Errors
/// As for [`open_source`].
pub fn open_compared(side: &PlanSide, facts: &Facts) -> Result<Arc<dyn Endpoint>> {
    open(Opening { side: Side::Dest, reads: true, writes: false, plan: side, facts })
}

/// Opens the dest for writing, as its side of the plan says. It may make or empty a file, so the source is to be
/// opened before.
///
/// # Errors
/// As for [`open_source`]; also Refused instead of making a regular file under /dev.
pub fn open_dest(side: &PlanSide, facts: &Facts) -> Result<Arc<dyn Endpoint>> {
    open(Opening { side: Side::Dest, reads: false, writes: true, plan: side, facts })
}

/// Takes the lock of a dest file that is there, before anything else of the copy begins. [`open_dest`] shares it.
/// `None`: there is nothing to lock yet, or no lock available.
///
/// # Errors
/// Refused where another haul is busy with it, or it is no longer what was probed; Open when the kernel refuses.
pub fn hold_dest(side: &PlanSide, facts: &Facts) -> Result<Option<Held>> {
    let kept = side.access.existing != Existing::Create && side.through.is_none();
    if side.kind != EndpointKind::File || !kept {
        return Ok(None);
    }
    let opening = Opening { side: Side::Dest, reads: false, writes: true, plan: side, facts };
    let fd = opening.open(rustix::fs::OFlags::empty())?;
    opening.check_identity(fd.as_fd())?;
    opening.hold(fd.as_fd())
}

/// As [`open_dest`], but it may be read too: a copy of what differs only.
///
/// # Errors
/// As for [`open_dest`].
pub fn open_dest_to_change(side: &PlanSide, facts: &Facts) -> Result<Arc<dyn Endpoint>> {
    open(Opening { side: Side::Dest, reads: true, writes: true, plan: side, facts })
}

/// Asks a disk by its own commands what it is, and makes `facts` those of the way through its node. Changes nothing on
/// it. For facts without a node it does nothing.
///
/// # Errors
/// The error of opening the node; a [`crate::core::DeviceError`] for what does not answer, or is no disk.
pub fn ask_by_commands(facts: &mut Facts) -> io::Result<()> {
    let Some(node) = facts.passthrough.clone() else { return Ok(()) };
    match node.commands {
        CommandSet::Scsi => scsi::probe(&node, facts),
        CommandSet::Nvme => nvme::probe(&node, facts),
    }
}

/// The only list of kinds, and of commands.
fn open(opening: Opening<'_>) -> Result<Arc<dyn Endpoint>> {
    if let Some(through) = &opening.plan.through {
        return match through.node.commands {
            CommandSet::Scsi => scsi::open(opening, through),
            CommandSet::Nvme => nvme::open(opening, through),
        };
    }
    match opening.plan.kind {
        EndpointKind::File => file::open(opening),
        EndpointKind::Block => block::open(opening),
        EndpointKind::Pipe
        | EndpointKind::Socket
        | EndpointKind::Terminal
        | EndpointKind::Character
        | EndpointKind::FileStream => pipe::open(opening),
        EndpointKind::Endless | EndpointKind::Null => null::open(opening),
        EndpointKind::Pattern => Err(opening.error(Kind::Unsupported, ": the test pattern has no path")),
        EndpointKind::Memory | EndpointKind::Manifest => Err(opening.error(Kind::Unsupported, ": it cannot be opened")),
    }
}
