//! Reading the dest back after a copy.
use super::{Extent, ExtentSet};
use std::time::Duration;

/// How much of the dest is read back after a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Portion {
    /// All of it; where the dest can take it, some of it behind the writer.
    All,
    /// All of it, and nothing before everything is written and flushed.
    Afterwards,
    /// So many blocks of a million, spread over all of it; the first and the last are among them.
    Sample {
        /// From 1 to 1000000.
        per_million: u32,
    },
}

/// That the dest is read back after the copy, and compared with the digests kept from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadBack {
    /// How much of it.
    pub portion: Portion,
    /// Why blocks that differ are not written again from the source, a clause; `None`: they are.
    pub not_rewritten: Option<String>,
    /// What lies so many bytes behind the writer may be read back while the copy runs and the dest has time to spare:
    /// more than a drive keeps in its cache. `None`: nothing is before everything is written.
    pub window_bytes: Option<u64>,
}

/// The result of reading the dest back. Offsets count from the first byte of the copy; extents are whole blocks.
#[derive(Clone, Debug, Default)]
pub struct Verified {
    /// It got to its end.
    pub complete: bool,
    /// Bytes that were read back and compared.
    pub bytes: u64,
    /// Blocks that were.
    pub blocks: u64,
    /// Of the bytes, those that were read back behind the writer, while the copy ran.
    pub behind_bytes: u64,
    /// Time that all of it took.
    pub elapsed: Duration,
    /// A sample was asked for.
    pub sampled: bool,
    /// Bytes that could be read from the page cache only, although it was requested to drop them; `None`: unknown.
    pub cached_bytes: Option<u64>,
    /// Differed once, and were right when they were read again.
    pub misread: ExtentSet,
    /// Were wrong on the dest, were written again, and are right now.
    pub rewritten: ExtentSet,
    /// Are wrong on the dest.
    pub wrong: ExtentSet,
    /// Of those that are wrong: why they could not be put right; a clause.
    pub not_rewritten: Option<String>,
    /// The source gave other bytes the second time: what the dest should have is not known.
    pub changed: Vec<Extent>,
}

impl Verified {
    /// All that was to be compared is right on the dest.
    pub fn is_right(&self) -> bool {
        self.complete && self.wrong.is_empty()
    }
}
