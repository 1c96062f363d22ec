//! How one side of a plan is opened and accessed.
use super::{AddressMap, EndpointKind, Extent, Through};
use std::path::PathBuf;

/// How I/O uses the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cache {
    /// Direct I/O: bypasses the page cache (O_DIRECT).
    Direct,
    /// Buffered I/O; the kernel drops the pages (RWF_DONTCACHE).
    DroppedByKernel,
    /// Buffered I/O; haul writes back and evicts the pages during the copy, in a bounded window.
    Drop,
    /// Buffered I/O; the pages stay in the cache: the endpoint has no page cache to keep clean, or the user requested
    /// it.
    Keep,
}

impl Cache {
    /// The description for messages.
    pub fn name(self) -> &'static str {
        match self {
            Cache::Direct => "direct",
            Cache::DroppedByKernel => "buffered, dontcache",
            Cache::Drop => "buffered, evicted",
            Cache::Keep => "buffered",
        }
    }
}

/// Whether a dest must exist, and what happens to its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Existing {
    /// Must exist; is modified in place: devices, pipes, a range of a file.
    Keep,
    /// Must exist; is truncated first: a whole file.
    Truncate,
    /// Must not exist; is created with O_EXCL.
    Create,
}

/// How one side is opened and accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Use of the page cache.
    pub cache: Cache,
    /// Alignment of offsets and lengths that direct I/O requires, in bytes; 1 for buffered I/O.
    pub offset_align_bytes: u32,
    /// Open with O_EXCL: the kernel refuses a block device that is in use.
    pub exclusive: bool,
    /// For a dest: whether it must exist, and what happens to its content.
    pub existing: Existing,
}

/// One side of a plan.
#[derive(Clone, Debug)]
pub struct PlanSide {
    /// The address, as the user gave it.
    pub address: String,
    /// The path to open.
    pub path: PathBuf,
    /// The kind of endpoint.
    pub kind: EndpointKind,
    /// Maps offsets of the copy to offsets of this side.
    pub map: AddressMap,
    /// How it is opened and accessed.
    pub access: Access,
    /// The extent to lock against other haul processes: a write lock if this side is written, otherwise a read lock.
    /// `None` if the code that opens the endpoint takes no lock.
    pub lock: Option<Extent>,
    /// Whether the device is rotational. At most half of the blocks are then in flight on this side, and in order:
    /// lower layers may reorder concurrent requests, and each reordering costs a revolution.
    pub moves_head: bool,
    /// The node and options for passthrough commands; `None` for access by reads and writes.
    pub through: Option<Through>,
}

/// What happens to zero runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Zeros {
    /// Skip them: the dest already reads as zeros (a hole of a new file).
    Leave,
    /// Zero them on the dest without sending data (BLKZEROOUT, punching a hole).
    Device,
    /// Write zeros like data.
    Write,
    /// Different for each of several dests: the buffer contains zeros for those that need them written.
    Each,
}
