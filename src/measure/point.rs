//! What a run is made with.

/// The block size of dd by default.
pub const DD_BLOCK_BYTES: u32 = 512;

/// How bytes come from the disk, or go to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// Past the page cache.
    Direct,
    /// Through the page cache, which reads ahead.
    Buffered,
    /// Read through a mapping: of the page cache, or of memory that a node's driver shares.
    Mapped,
    /// Past the page cache, through memory of the node's driver, which copies it.
    Indirect,
}

impl Way {
    /// The word for tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Way::Direct => "direct",
            Way::Buffered => "buffered",
            Way::Mapped => "mmap",
            Way::Indirect => "indirect",
        }
    }
}

/// What a run is made with: way, block size and depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point {
    /// Past the page cache, or through it.
    pub way: Way,
    /// Bytes per request.
    pub block_bytes: u32,
    /// Requests in flight.
    pub depth: u32,
}

impl Point {
    /// Bytes in flight.
    pub fn in_flight_bytes(&self) -> u64 {
        u64::from(self.block_bytes) * u64::from(self.depth)
    }

    /// dd without operands: 512 bytes, one after the other, through the page cache.
    pub fn of_dd() -> Point {
        Point { way: Way::Buffered, block_bytes: DD_BLOCK_BYTES, depth: 1 }
    }
}
