//! Limits on the blocks in flight.
use super::PAGE_BYTES;

/// The limits that apply from the next block on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Bytes per request.
    pub block_bytes: u32,
    /// Maximum number of blocks in flight on each side, by [`crate::core::Side::index`].
    pub in_flight: [u32; 2],
    /// Read until the pool is full, then write until it is empty: for two sides on one rotational disk.
    pub bursts: bool,
}

/// Whether a copy alternates between reading and writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bursts {
    /// Never.
    Never,
    /// Both are tried; the better one is used.
    Try,
    /// From the first block on, without trying the alternative.
    Always,
}

/// The initial limits of a copy, and the bounds of auto-tuning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// The initial limits.
    pub limits: Limits,
    /// Whether auto-tuning may change them: false if the user set all of them, or a rate.
    pub adaptive: bool,
    /// Whether they were stored by `haul tune --save`. Auto-tuning then improves little, so it needs a long remaining
    /// copy to pay off.
    pub tuned: bool,
    /// Whether the copy may alternate between reading and writing.
    pub bursts: Bursts,
    /// Smallest block size to try, in bytes: the initial block size divided by a power of two.
    pub block_bytes_min: u32,
    /// Largest block size to try, in bytes.
    pub block_bytes_max: u32,
    /// Maximum number of requests in flight to try, for each side.
    pub in_flight_max: u32,
    /// Memory of all blocks, in bytes.
    pub pool_bytes: u32,
}

impl Tuning {
    /// Blocks of one fixed size, at most `depth` of them at a time.
    pub fn fixed(block_bytes: u32, depth: u32) -> Self {
        let pool_bytes = on_pages(block_bytes).saturating_mul(depth);
        Tuning {
            limits: Limits { block_bytes, in_flight: [depth; 2], bursts: false },
            adaptive: false,
            tuned: false,
            bursts: Bursts::Never,
            block_bytes_min: block_bytes,
            block_bytes_max: block_bytes,
            in_flight_max: depth,
            pool_bytes,
        }
    }

    /// Memory of the smallest block, in bytes: the allocation unit of the pool.
    pub fn unit_bytes(self) -> u32 {
        on_pages(self.block_bytes_min)
    }

    /// Maximum number of blocks of the initial size.
    pub fn blocks(self) -> u32 {
        self.pool_bytes / on_pages(self.limits.block_bytes).max(1)
    }

    /// The same limits for blocks with `per_block` buffers each. The pool then has memory for at least one block of the
    /// largest size.
    pub fn with_buffers(self, per_block: u32) -> Self {
        let largest = self.block_bytes_max.next_multiple_of(self.unit_bytes().max(1));
        Tuning { pool_bytes: self.pool_bytes.max(per_block * largest), ..self }
    }
}

/// Memory of a block, in bytes: rounded up to whole pages.
fn on_pages(block_bytes: u32) -> u32 {
    block_bytes.next_multiple_of(PAGE_BYTES as u32)
}
