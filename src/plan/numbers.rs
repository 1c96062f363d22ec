//! Every number that a plan is made of, with its reason.

/// Largest block size that may be asked for, in bytes. Two in flight are 128 MiB, more than any device gains by.
pub const BLOCK_BYTES_ASKABLE: u32 = 64 << 20;

/// Greatest depth that may be asked for: as many as the deepest NVMe queue that Linux makes by default (1023).
pub const DEPTH_ASKABLE: u32 = 1024;

/// Most memory that block size times depth may ask for, in bytes: beyond 1 GiB it is a slip of the keyboard.
pub(crate) const IN_FLIGHT_BYTES_ASKABLE: u64 = 1 << 30;

/// Block size times depth above which the promise of 64 MiB resident memory is broken, in bytes: program, stacks and
/// digests take some 10 MiB beside the blocks.
pub(crate) const IN_FLIGHT_BYTES_PROMISED: u64 = 48 << 20;

/// Memory of all blocks that a copy gives itself, in bytes: half of what it may have. Of 33 families of disk pairs long
/// fat networks lose with 16 MiB (1.43 times the best), and none gains with more.
pub(crate) const POOL_BYTES: u32 = 32 << 20;

/// Most blocks in that memory: smaller ones than 32 KiB are asked for, and gain nothing by being more.
pub(crate) const POOL_BLOCKS_MAX: u32 = 1024;

/// Block sizes are multiples of this unless asked for: the page, below which buffered I/O touches pages twice.
pub(crate) const PAGE_BYTES: u32 = 4096;

/// The smallest block size that a copy tries, in bytes. Below it the cost per request rules on every device measured.
pub(crate) const BLOCK_BYTES_MIN: u32 = 128 << 10;

/// The largest block size that a copy tries, in bytes.
pub(crate) const BLOCK_BYTES_MAX: u32 = 4 << 20;

/// Most requests in flight that a copy tries, on each side.
pub(crate) const IN_FLIGHT_MAX: u32 = 128;

/// Where a copy begins: with 2 requests of 1 MiB a side heads, sticks, cards and SATA SSDs are within 1 % of the best,
/// in the simulator of `bench/zoo` and on those that were measured; what gains by more gets it on the way.
pub(crate) const BLOCK_BYTES: u32 = 1 << 20;
/// See [`BLOCK_BYTES`].
pub(crate) const IN_FLIGHT: u32 = 2;

/// Where an NVMe drive begins: half of the pool a side, in blocks that both of two drives work on in parallel.
pub(crate) const NVME_IN_FLIGHT_BYTES: u32 = 16 << 20;
/// See [`NVME_IN_FLIGHT_BYTES`].
pub(crate) const NVME_BLOCK_BYTES: u32 = 512 << 10;

/// Requests in flight on a network, to begin with.
pub(crate) const NETWORK_IN_FLIGHT: u32 = 8;
/// How disks are connected through a network.
pub(crate) const NETWORK_TRANSPORTS: [&str; 3] = ["nbd", "iscsi", "fc"];
/// File systems of other machines.
pub(crate) const NETWORK_FILE_SYSTEMS: [&str; 8] =
    ["nfs", "nfs4", "cifs", "smb3", "ceph", "lustre", "fuse.sshfs", "fuse.glusterfs"];

/// Requests in flight a side, to begin with, of blocks so small that the usual bytes would be more of them.
pub(crate) const SMALL_BLOCKS_IN_FLIGHT: u32 = 32;

/// Block size where both sides are memory: small enough for the processor's second-level cache.
pub(crate) const WARM_BLOCK_BYTES: u32 = 128 << 10;

/// A preferred request size larger than this is ignored: USB bridges say 32 MiB less a sector and mean nothing.
pub(crate) const OPTIMAL_IO_BYTES_BELIEVED: u32 = 4 << 20;

/// A block may be this many times the largest request of the device. The kernel splits it, and the parts keep the queue
/// full; more of them only make each completion wait longer.
pub(crate) const SPLITS_MAX: u32 = 4;

/// With `--limit` a block takes at most this part of a second, so that the pace is even.
pub(crate) const LIMIT_BLOCKS_PER_S: u64 = 8;

/// With `--limit` the blocks that wait between the sides are read in this part of a second.
pub(crate) const LIMIT_POOLS_PER_S: u64 = 2;

/// Files shorter than this are copied through the page cache, in bytes: direct I/O would wait for the disk where memory
/// answers, and there is nothing to spoil.
pub(crate) const DIRECT_FILE_BYTES_MIN: u64 = 1 << 20;

/// A tail that cannot go direct begins on a multiple of this on the dest, in bytes, so that it shares no page of the
/// cache with direct writes.
pub(crate) const TAIL_ALIGN_BYTES: u32 = 4096;

/// Files shorter than this are not allocated ahead, in bytes: one or two writes allocate them as well.
pub(crate) const PREALLOCATE_BYTES_MIN: u64 = 1 << 20;

/// Zeros in data are searched for in pieces of this many bytes for a dest file: the block of common file systems, below
/// which no hole can be.
pub(crate) const DETECT_FILE_BYTES: u32 = 4096;

/// The same for a block device: a command to zero costs as much as a write of about this many bytes.
pub(crate) const DETECT_BLOCK_BYTES: u32 = 64 << 10;

/// Cloned ranges begin and end on multiples of this, in bytes: the block size of the file systems that can.
pub(crate) const REFLINK_ALIGN_BYTES: u64 = 4096;

/// Offsets are signed 64-bit numbers in Linux; no byte lies beyond this.
pub(crate) const OFFSET_MAX: u64 = i64::MAX as u64;

/// FAT holds no file of this many bytes.
pub(crate) const FAT_FILE_BYTES_MAX: u64 = (4 << 30) - 1;

/// Largest block of a test pattern, in bytes: what today's disks write at once. Larger ones would know less exactly
/// what became of each piece.
pub(crate) const PATTERN_BLOCK_BYTES: u32 = 4096;

/// Smallest block of a test pattern, in bytes: the smallest logical block there is.
pub(crate) const PATTERN_BLOCK_BYTES_MIN: u32 = 512;
