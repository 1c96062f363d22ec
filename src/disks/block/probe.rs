//! Facts of a block device.
use crate::core::{CallStyle, DirectAlignment, Facts, Order};
use crate::disks::queue_limits;
use crate::disks::reading::{self, StatedAlignment};
use crate::sys::block;
use crate::sys::page_cache;
use rustix::fs::{AtFlags, CWD, OFlags, StatxFlags};
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

/// Unit of sizes in sysfs, in bytes, regardless of the device's block size.
const SYSFS_SECTOR_BYTES: u64 = 512;

/// Fills in the I/O properties of the block device `path`. A device without read permission is no error here: sysfs is
/// sufficient for a dest, and opening a source reports it.
///
/// # Errors
/// The error of `statx(2)`, `open(2)` or the ioctls: ENOMEDIUM, ENXIO.
pub fn probe(path: &Path, facts: &mut Facts) -> io::Result<()> {
    let stat = rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::BASIC_STATS)?;
    let (major, minor) = (stat.stx_rdev_major, stat.stx_rdev_minor);
    facts.sparse = false;
    facts.order = Order::Any;
    facts.calls = CallStyle::Waits;
    facts.queue = queue_limits::of_device(major, minor);
    facts.queue_policy = queue_limits::policy_of_device(major, minor);
    if let Some(fd) = reading::open_if_allowed(path, OFlags::empty())? {
        let size = block::size_bytes(fd.as_fd())?;
        facts.size = Some(size);
        facts.logical_block_bytes = rustix::fs::ioctl_blksszget(&fd)?;
        facts.physical_block_bytes = rustix::fs::ioctl_blkpbszget(&fd)?;
        facts.dontcache = reading::supports_dontcache(fd.as_fd(), size);
        facts.cached_bytes = page_cache::cached_bytes(fd.as_fd());
    } else {
        facts.size = size_in_sysfs(major, minor);
        let blocks = queue_limits::block_bytes(major, minor).unwrap_or((512, 512));
        (facts.logical_block_bytes, facts.physical_block_bytes) = blocks;
    }
    facts.direct = match reading::stated_alignment(path) {
        StatedAlignment::Required(alignment) => Some(alignment),
        StatedAlignment::Never => None,
        StatedAlignment::Unknown => Some(alignment_of_queue(major, minor, facts.logical_block_bytes)),
    };
    Ok(())
}

/// The alignment that the block layer required before statx reported it: logical blocks for offsets, and
/// `dma_alignment` or else logical blocks for memory.
fn alignment_of_queue(major: u32, minor: u32, logical_block_bytes: u32) -> DirectAlignment {
    let memory_bytes = queue_limits::memory_align_bytes(major, minor).unwrap_or(logical_block_bytes);
    DirectAlignment { memory_bytes, offset_bytes: logical_block_bytes }
}

fn size_in_sysfs(major: u32, minor: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/size")).ok()?;
    text.trim().parse::<u64>().ok()?.checked_mul(SYSFS_SECTOR_BYTES)
}
