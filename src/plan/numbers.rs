//! Every constant of a plan, with its reason.

/// Largest block size that may be requested, in bytes. Two in flight are 128 MiB; no device is faster with
/// more.
pub const BLOCK_BYTES_ASKABLE: u32 = 64 << 20;

/// Largest depth that may be requested: that of the deepest NVMe queue that Linux creates by default (1023).
pub const DEPTH_ASKABLE: u32 = 1024;

/// Maximum product of block size and depth that may be requested, in bytes: above 1 GiB it is a typing error.
pub(crate) const IN_FLIGHT_BYTES_ASKABLE: u64 = 1 << 30;

/// Block size times depth above which the documented limit of 64 MiB resident memory is exceeded, in bytes:
/// program, stacks and digests need about 10 MiB besides the blocks.
pub(crate) const IN_FLIGHT_BYTES_PROMISED: u64 = 48 << 20;

/// Default memory of all blocks, in bytes: half of the limit. Of 33 families of disk pairs, long fat networks
/// lose with 16 MiB (1.43 times the best), and none gains with more.
pub(crate) const POOL_BYTES: u32 = 32 << 20;

/// Maximum number of blocks in that memory: blocks below 32 KiB are used only on request, and more of them gain
/// nothing.
pub(crate) const POOL_BLOCKS_MAX: u32 = 1024;

/// Block sizes are multiples of this unless requested: the page size, below which buffered I/O touches pages
/// twice.
pub(crate) const PAGE_BYTES: u32 = 4096;

/// The smallest block size that auto-tuning tries, in bytes. Below it the cost per request dominates on every
/// device measured.
pub(crate) const BLOCK_BYTES_MIN: u32 = 128 << 10;

/// The largest block size that auto-tuning tries, in bytes.
pub(crate) const BLOCK_BYTES_MAX: u32 = 4 << 20;

/// Maximum number of requests in flight that auto-tuning tries, on each side.
pub(crate) const IN_FLIGHT_MAX: u32 = 128;

/// The initial pace: with 2 requests of 1 MiB per side rotational disks, sticks, cards and SATA SSDs are within
/// 1 % of the best, in the simulator of `bench/zoo` and on measured devices; auto-tuning finds larger values
/// for others.
pub(crate) const BLOCK_BYTES: u32 = 1 << 20;
/// See [`BLOCK_BYTES`].
pub(crate) const IN_FLIGHT: u32 = 2;

/// Initial bytes in flight for an NVMe drive: half of the pool per side, in blocks that two drives process in
/// parallel.
pub(crate) const NVME_IN_FLIGHT_BYTES: u32 = 16 << 20;
/// See [`NVME_IN_FLIGHT_BYTES`].
pub(crate) const NVME_BLOCK_BYTES: u32 = 512 << 10;

/// Initial requests in flight on a network.
pub(crate) const NETWORK_IN_FLIGHT: u32 = 8;
/// Initial bytes in flight with an NBD server, which processes requests in parallel: half of the pool for each side.
/// nbdcopy has 64 MiB in flight.
pub(crate) const NBD_IN_FLIGHT_BYTES: u32 = 16 << 20;
/// Initial block size between two NBD servers. A request costs little there, and each thread of a server has a buffer
/// for it: larger ones do not stay in the processor's cache.
pub(crate) const NBD_BLOCK_BYTES: u32 = 256 << 10;
/// Transports of network disks.
pub(crate) const NETWORK_TRANSPORTS: [&str; 4] = ["nbd", "http", "iscsi", "fc"];
/// Network file systems.
pub(crate) const NETWORK_FILE_SYSTEMS: [&str; 8] =
    ["nfs", "nfs4", "cifs", "smb3", "ceph", "lustre", "fuse.sshfs", "fuse.glusterfs"];

/// Initial requests in flight per side for small blocks, of which the default number of bytes would need more.
pub(crate) const SMALL_BLOCKS_IN_FLIGHT: u32 = 32;

/// Block size if both sides are memory: small enough for the processor's second-level cache.
pub(crate) const WARM_BLOCK_BYTES: u32 = 128 << 10;

/// A larger preferred request size is ignored: USB bridges report 32 MiB less a sector.
pub(crate) const OPTIMAL_IO_BYTES_BELIEVED: u32 = 4 << 20;

/// Maximum ratio of the block size to the largest request of the device. The kernel splits a block, and the
/// parts keep the queue full; more of them only delay each completion.
pub(crate) const SPLITS_MAX: u32 = 4;

/// With `--limit` a block takes at most this fraction of a second, so that the rate is even.
pub(crate) const LIMIT_BLOCKS_PER_S: u64 = 8;

/// With `--limit` the blocks in the pool are read in this fraction of a second.
pub(crate) const LIMIT_POOLS_PER_S: u64 = 2;

/// Shorter files are copied through the page cache, in bytes: direct I/O would wait for the disk instead of
/// memory, and so little data does not pollute the cache.
pub(crate) const DIRECT_FILE_BYTES_MIN: u64 = 1 << 20;

/// Alignment on the dest of a tail that direct I/O cannot write, in bytes, so that it shares no page of the
/// cache with direct writes.
pub(crate) const TAIL_ALIGN_BYTES: u32 = 4096;

/// Shorter files are not preallocated, in bytes: one or two writes allocate them as well.
pub(crate) const PREALLOCATE_BYTES_MIN: u64 = 1 << 20;

/// Data is searched for zeros in pieces of this many bytes for a dest file: the block size of common file
/// systems, below which there are no holes.
pub(crate) const DETECT_FILE_BYTES: u32 = 4096;

/// The same for a block device: a command to zero costs as much as a write of about this many bytes.
pub(crate) const DETECT_BLOCK_BYTES: u32 = 64 << 10;

/// Alignment of cloned ranges, in bytes: the block size of the file systems that support it.
pub(crate) const REFLINK_ALIGN_BYTES: u64 = 4096;

/// Offsets are signed 64-bit numbers in Linux; this is the largest.
pub(crate) const OFFSET_MAX: u64 = i64::MAX as u64;

/// Maximum size of a file on FAT, in bytes.
pub(crate) const FAT_FILE_BYTES_MAX: u64 = (4 << 30) - 1;

/// Largest block of a test pattern, in bytes: the physical block size of current disks. Larger ones would
/// locate damage less exactly.
pub(crate) const PATTERN_BLOCK_BYTES: u32 = 4096;

/// Smallest block of a test pattern, in bytes: the smallest logical block size.
pub(crate) const PATTERN_BLOCK_BYTES_MIN: u32 = 512;
