//! How one side of a plan is opened and used.
use super::{EndpointKind, Extent, Through};
use std::path::PathBuf;

/// What I/O does to the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cache {
    /// Past it: O_DIRECT.
    Direct,
    /// Through it, dropped by the kernel (RWF_DONTCACHE).
    DroppedByKernel,
    /// Through it, written back and evicted behind the copy in a bounded window.
    Drop,
    /// Through it and left there: what has no cache to spoil, or is requested there.
    Keep,
}

impl Cache {
    /// The words for messages.
    pub fn name(self) -> &'static str {
        match self {
            Cache::Direct => "direct",
            Cache::DroppedByKernel => "buffered, dontcache",
            Cache::Drop => "buffered, evicted",
            Cache::Keep => "buffered",
        }
    }
}

/// What to do about a dest that is there, or is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Existing {
    /// Must exist; is changed in place: devices, pipes, a range of a file.
    Keep,
    /// Must exist; emptied first: a whole file.
    Truncate,
    /// Must not exist: made with O_EXCL.
    Create,
}

/// How one side is opened and used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// What I/O does to the page cache.
    pub cache: Cache,
    /// Alignment that direct I/O needs of offsets and lengths, in bytes; 1 otherwise.
    pub offset_align_bytes: u32,
    /// Open with O_EXCL: a block device that is in use is refused by the kernel.
    pub exclusive: bool,
    /// For a dest: what to do about it being there.
    pub existing: Existing,
}

/// One side of a plan.
#[derive(Clone, Debug)]
pub struct PlanSide {
    /// As the user named it.
    pub address: String,
    /// What to open.
    pub path: PathBuf,
    /// What it is.
    pub kind: EndpointKind,
    /// First byte of the copy on this side, in bytes.
    pub offset: u64,
    /// How it is opened.
    pub access: Access,
    /// Bytes that no other haul is to write meanwhile, nor to read where they are written here; `None`: the code that
    /// opens it takes no lock.
    pub lock: Option<Extent>,
    /// A head moves there. No more than half of the blocks are with this side at once, in their order: whatever lies
    /// between may mix up what comes together, and each mixed-up pair costs the head a turn.
    pub moves_head: bool,
    /// It is reached by its own commands through this node, past the block layer; `None`: by reads and writes.
    pub through: Option<Through>,
}

/// What happens to runs that are known to be zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Zeros {
    /// Nothing is written: the dest reads as zeros there already (a hole of a new file).
    Leave,
    /// The dest zeroes them by itself (BLKZEROOUT, punching a hole).
    Device,
    /// Zeros are written like data.
    Write,
    /// As each of several dests wants it: the zeros are in the buffer for those that have to be sent them.
    Each,
}
