//! Parameters of a run.

/// Default block size of dd.
pub const DD_BLOCK_BYTES: u32 = 512;

/// How data is transferred from or to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// Direct I/O.
    Direct,
    /// Buffered I/O, with read-ahead.
    Buffered,
    /// Through a mapping of the page cache, or of memory that a node's driver shares.
    Mapped,
    /// By passthrough commands whose data the node's driver copies.
    Indirect,
}

impl Way {
    /// The name for tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Way::Direct => "direct",
            Way::Buffered => "buffered",
            Way::Mapped => "mmap",
            Way::Indirect => "indirect",
        }
    }
}

/// Parameters of a run: way, block size and depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point {
    /// How data is transferred.
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

    /// The defaults of dd: 512 bytes at depth 1 by buffered I/O.
    pub fn of_dd() -> Point {
        Point { way: Way::Buffered, block_bytes: DD_BLOCK_BYTES, depth: 1 }
    }
}
