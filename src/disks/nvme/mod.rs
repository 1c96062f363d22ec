//! NVMe namespaces by NVMe commands through `/dev/ngXnY`: uring_cmd on a ring, ioctl otherwise.
//!
//! This room must not know the block layer, partition tables or engines: the offset of a side is a parameter, and the
//! claim on the block device takes care of its page cache.
// Allowed only for `OnRing`.
#![deny(unsafe_code)]
mod command;
mod device;
mod drive;
pub mod namespace;
mod retry_policy;
mod ring;
mod ring_state;
mod status;

#[cfg(test)]
mod failing_tests;
#[cfg(test)]
mod fake;
#[cfg(test)]
mod tests;

use super::claim::Claim;
use super::opening::Opening;
use super::queue_limits;
use crate::core::{
    CallStyle, CommandOptions, DirectAlignment, Endpoint, Facts, FileId, Kind, Order, Passthrough, Result, Through,
};
use device::{NamespaceRange, NvmeNamespace};
use drive::Node;
use namespace::{Controller, Namespace};
use rustix::fs::{FileType, Mode, OFlags};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Maximum transfer length if neither kernel nor drive reports one; all drives support it.
const COMMAND_BYTES_UNKNOWN: u64 = 128 << 10;

/// Maximum length of a Copy, so that stop requests and progress are handled in between.
const COPY_BYTES_MAX: u64 = 64 << 20;

/// DMA requires dword alignment.
const MEMORY_ALIGN_BYTES: u32 = 4;

/// Queries the drive, and updates `facts` for access through its node. Changes nothing.
///
/// # Errors
/// The error of opening the node; a [`crate::core::DeviceError`] if the namespace does not have the NVM command set.
pub(super) fn probe(node: &Passthrough, facts: &mut Facts) -> io::Result<()> {
    let drive = Node::new(open_node(node, OFlags::RDONLY)?, CommandOptions::default().timeout);
    let (controller, namespace) = drive::identify(&drive, drive.nsid()?)?;
    describe(facts, node, &controller, &namespace);
    Ok(())
}

/// Opens a namespace.
pub(super) fn open(opening: Opening<'_>, through: &Through) -> Result<Arc<dyn Endpoint>> {
    let claim = Claim::take(&opening, &through.node)?;
    let failed =
        |error: io::Error| opening.error(Kind::Open, &format!(" by {}", through.node.node.display())).because(error);
    let flags = if !opening.writes { OFlags::RDONLY } else { OFlags::RDWR };
    let drive = Node::new(open_node(&through.node, flags).map_err(failed)?, through.options.timeout);
    let nsid = drive.nsid().map_err(failed)?;
    let (controller, namespace) = drive::identify(&drive, nsid).map_err(failed)?;
    let block = namespace.block_bytes();
    let start = through.node.start;
    let size = opening.facts.size.unwrap_or(namespace.bytes());
    if block != opening.facts.logical_block_bytes || start.saturating_add(size) > namespace.bytes() {
        return Err(opening.changed(": its block size or number of blocks changed"));
    }
    if !start.is_multiple_of(block.into()) || !size.is_multiple_of(block.into()) {
        let what = format!(" with passthrough: it is not aligned to blocks of {block} bytes");
        return Err(opening.error(Kind::Unsupported, &what).advise("Omit --passthrough."));
    }
    let place = NamespaceRange { nsid, start, size, command_bytes_max: opening.facts.queue.max_request_bytes };
    let facts = opening.facts.clone();
    let device = NvmeNamespace::new(facts, Box::new(drive), place, (&controller, namespace), through.options);
    Ok(Arc::new(device.claiming(claim)))
}

/// Opens the node, which must be the one that was probed.
fn open_node(node: &Passthrough, flags: OFlags) -> io::Result<OwnedFd> {
    let fd = rustix::fs::open(&node.node, flags | OFlags::CLOEXEC, Mode::empty())?;
    let stat = rustix::fs::fstat(&fd)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::CharacterDevice || stat.st_rdev != node.number {
        return Err(io::Error::other("another device has replaced it"));
    }
    Ok(fd)
}

/// Updates the facts for access through the node.
fn describe(facts: &mut Facts, node: &Passthrough, controller: &Controller, namespace: &Namespace) {
    let block = namespace.block_bytes();
    let in_bytes = |blocks: u32| u32::try_from(u64::from(blocks) * u64::from(block)).unwrap_or(0);
    if node.start == 0 && facts.size.is_none() {
        facts.size = Some(namespace.bytes());
    }
    facts.logical_block_bytes = block;
    facts.physical_block_bytes =
        in_bytes(namespace.write_granularity_blocks).max(facts.physical_block_bytes).max(block);
    facts.direct = Some(DirectAlignment { memory_bytes: MEMORY_ALIGN_BYTES, offset_bytes: block });
    facts.dontcache = false;
    facts.cached_bytes = None;
    (facts.order, facts.calls) = (Order::Any, CallStyle::Waits);
    facts.writable &= !namespace.write_protected;
    let of_kernel = match facts.id {
        Some(FileId::Device(number)) => queue_limits::command_bytes_max(number),
        _ => None,
    };
    let longest = command_bytes_max(of_kernel, controller.transfer_bytes_max, block);
    facts.queue.max_request_bytes = longest;
    if let Some(blocks) = namespace.optimal_write_blocks {
        facts.queue.optimal_io_bytes = in_bytes(blocks);
    }
    facts.queue.rotational.get_or_insert(false);
    facts.queue.write_zeroes_max_bytes = if controller.writes_zeroes { longest.into() } else { 0 };
    let longest_copy = u64::from(namespace.copy.longest()) << namespace.block_shift;
    facts.queue.copy_max_bytes = if controller.copies { longest_copy.min(COPY_BYTES_MAX) as u32 } else { 0 };
    facts.identity.model.get_or_insert_with(|| controller.model.clone());
    facts.identity.serial.get_or_insert_with(|| controller.serial.clone());
    facts.identity.transport.get_or_insert_with(|| "nvme".to_owned());
}

/// Maximum command length in bytes: a power of two, like the units in which drives store data, and at least one block.
fn command_bytes_max(of_kernel: Option<u64>, of_drive: Option<u64>, block: u32) -> u32 {
    let known = of_kernel.into_iter().chain(of_drive).min().unwrap_or(COMMAND_BYTES_UNKNOWN);
    // The block count field has 16 bits; transfers beyond 8 MiB are not useful for copies.
    let most = known.min(u64::from(block) << 16).min(8 << 20).max(block.into());
    1 << most.ilog2()
}
