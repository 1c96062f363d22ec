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

/// Most bytes in flight that a copy gives itself: half of the memory it may have. No pair of devices that was measured
/// gained anything above 16 MiB.
pub(crate) const IN_FLIGHT_BYTES: u32 = 32 << 20;

/// Block sizes are multiples of this unless asked for: the page, below which buffered I/O touches pages twice.
pub(crate) const PAGE_BYTES: u32 = 4096;

/// The smallest block size that a copy tries, in bytes. Below it the cost per request rules on every device measured.
pub(crate) const BLOCK_BYTES_MIN: u32 = 64 << 10;

/// The largest block size that a copy tries, in bytes. At 4 in flight these fill [`IN_FLIGHT_BYTES`].
pub(crate) const BLOCK_BYTES_MAX: u32 = 8 << 20;

/// The greatest depth that a copy tries.
pub(crate) const DEPTH_MAX: u32 = 64;

/// Start on devices without a moving head. Requests that follow each other are handed over together, and the kernel
/// joins them up to the device's largest, 1.25 MiB by default: smaller blocks only come back in clumps, and then one
/// side has nothing to do. At the speed of memory 1 MiB × 16 took 0.8 of the time of 256 KiB × 32, 1 MiB × 8 took 0.9;
/// on two modelled SATA SSDs all three of 8 MiB and more but 256 KiB × 32 took 1.01 of the limit, that one 1.05.
pub(crate) const SOLID_BLOCK_BYTES: u32 = 1 << 20;
/// See [`SOLID_BLOCK_BYTES`].
pub(crate) const SOLID_DEPTH: u32 = 16;
/// The same with digests: twice as many. A digest takes the blocks in order, so that a write that is late keeps those
/// behind it in their slots, and these read nothing meanwhile. On two modelled SSDs of a busy machine 16 blocks took
/// 1.03 of the time without a digest, 32 as long as without.
pub(crate) const SOLID_DIGEST_DEPTH: u32 = 32;

/// Start where a head moves: one block to work on and one to go on with, on each side. On two modelled 7200 rpm disks
/// without write cache 1 MiB × 4 took 1.02 of the limit; more blocks only come mixed up, and 2 MiB × 4 took 1.3.
pub(crate) const ROTATIONAL_BLOCK_BYTES: u32 = 1 << 20;
/// See [`ROTATIONAL_BLOCK_BYTES`].
pub(crate) const ROTATIONAL_DEPTH: u32 = 4;

/// Start with files: each request goes through the file system's extent map and locks, so fewer than on devices. From
/// ext4 to ext4 1 MiB × 8 took 0.9 of the time of 512 KiB × 16 and of 1 MiB × 16.
pub(crate) const FILE_BLOCK_BYTES: u32 = 1 << 20;
/// See [`FILE_BLOCK_BYTES`].
pub(crate) const FILE_DEPTH: u32 = 8;

/// Start with a pipe: as much as a pipe of an ordinary user holds (1 MiB), so that one call fills or empties it, and
/// few hand-overs between threads. At the speed of memory 1 MiB × 4 took 0.6 (device to pipe) and 0.75 (pipe to
/// device) of the time of 256 KiB × 16.
pub(crate) const PIPE_BLOCK_BYTES: u32 = 1 << 20;
/// See [`PIPE_BLOCK_BYTES`]; more would only smooth pauses that the pipe itself smooths.
pub(crate) const PIPE_DEPTH: u32 = 4;

/// Block size where both sides are memory: small enough for the processor's second-level cache.
pub(crate) const WARM_BLOCK_BYTES: u32 = 128 << 10;

/// Block size of the plain loop: what dd's manual recommends, so that the yardstick is a fair one.
pub(crate) const SYNC_BLOCK_BYTES: u32 = 1 << 20;

/// Both sides under one head: as few turns as memory allows, in blocks large enough not to matter.
pub(crate) const BURST_BLOCK_BYTES: u32 = 1 << 20;
/// See [`BURST_BLOCK_BYTES`]; together they are [`IN_FLIGHT_BYTES`].
pub(crate) const BURST_DEPTH: u32 = 32;

/// A preferred request size larger than this is ignored: USB bridges say 32 MiB less a sector and mean nothing.
pub(crate) const OPTIMAL_IO_BYTES_BELIEVED: u32 = 4 << 20;

/// A block may be this many times the largest request of the device. The kernel splits it, and the parts keep the queue
/// full; more of them only make each completion wait longer.
pub(crate) const SPLITS_MAX: u32 = 4;

/// Copies shorter than this are over before other block sizes could be compared, in bytes.
pub(crate) const ADAPTIVE_BYTES_MIN: u64 = 256 << 20;

/// With `--limit` a block takes at most this part of a second, so that the pace is even.
pub(crate) const LIMIT_BLOCKS_PER_S: u64 = 8;

/// Files shorter than this are copied through the page cache, in bytes: direct I/O would wait for the disk where memory
/// answers, and there is nothing to spoil.
pub(crate) const DIRECT_FILE_BYTES_MIN: u64 = 1 << 20;

/// A tail that cannot go direct begins on a multiple of this on the dest, in bytes, so that it shares no page of the
/// cache with direct writes.
pub(crate) const TAIL_ALIGN_BYTES: u32 = 4096;

/// Files shorter than this are not allocated ahead, in bytes: one or two writes allocate them as well.
pub(crate) const PREALLOCATE_BYTES_MIN: u64 = 1 << 20;

/// Zeros in data are looked for in pieces of this many bytes for a dest file: the block of common file systems, below
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
