//! How much of a copy is under way at a time.
use super::PAGE_BYTES;

/// What a copy keeps to from the next block on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Bytes per request.
    pub block_bytes: u32,
    /// Most blocks with each side at a time, by [`crate::core::Side::index`].
    pub in_flight: [u32; 2],
    /// Reads until the pool is full, then writes until it is empty: for two sides under one moving head.
    pub bursts: bool,
}

/// Whether a copy reads and writes in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bursts {
    /// It never does.
    Never,
    /// It may be better: both are tried.
    Try,
    /// It does from the first block on, and nothing else is tried.
    Always,
}

/// Where a copy begins, and the bounds within which it may look for better limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// What it begins with.
    pub limits: Limits,
    /// It may change them: the user gave neither all of them nor a rate.
    pub adaptive: bool,
    /// They are those that `haul tune --save` has found: a search finds little more, so only a long rest is worth it.
    pub tuned: bool,
    /// Whether reads and writes may go in turn.
    pub bursts: Bursts,
    /// Smallest block size to try, in bytes: that of [`Tuning::limits`] halved so many times.
    pub block_bytes_min: u32,
    /// Largest block size to try, in bytes.
    pub block_bytes_max: u32,
    /// Most requests in flight to try, on each side.
    pub in_flight_max: u32,
    /// Memory of all blocks, in bytes.
    pub pool_bytes: u32,
}

impl Tuning {
    /// Blocks of one size, `depth` of them at a time with either side or waiting between both.
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

    /// Memory of the smallest block, in bytes: what the pool counts in.
    pub fn unit_bytes(self) -> u32 {
        on_pages(self.block_bytes_min)
    }

    /// Most blocks at a time, of the size that it begins with.
    pub fn blocks(self) -> u32 {
        self.pool_bytes / on_pages(self.limits.block_bytes).max(1)
    }

    /// The same where each block takes so many buffers: of the largest there is memory for one at least.
    pub fn with_buffers(self, per_block: u32) -> Self {
        let largest = self.block_bytes_max.next_multiple_of(self.unit_bytes().max(1));
        Tuning { pool_bytes: self.pool_bytes.max(per_block * largest), ..self }
    }
}

/// Memory of a block, in bytes: each begins on a page.
fn on_pages(block_bytes: u32) -> u32 {
    block_bytes.next_multiple_of(PAGE_BYTES as u32)
}
