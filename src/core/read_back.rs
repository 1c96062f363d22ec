//! Reading the dest back after a copy.
use super::{Extent, ExtentSet};
use std::time::Duration;

/// Which part of the dest is read back after a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Portion {
    /// All of it, partly during the copy if the dest has spare capacity.
    All,
    /// All of it, after everything is written and flushed.
    Afterwards,
    /// A sample of blocks spread over the whole dest, including the first and the last.
    Sample {
        /// Sampled blocks per million, from 1 to 1000000.
        per_million: u32,
    },
}

/// Reading the dest back after a copy and comparing it with the digests of the copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadBack {
    /// The part to read back.
    pub portion: Portion,
    /// Why differing blocks are not rewritten from the source, a clause; `None` if they are.
    pub not_rewritten: Option<String>,
    /// Minimum distance in bytes from the write position at which data may be read back during the copy, while the dest
    /// is not saturated. It exceeds the size of a drive's cache. `None` to read back only after the last write.
    pub window_bytes: Option<u64>,
}

/// The result of reading the dest back. Offsets count from the first byte of the copy; extents are whole blocks.
#[derive(Clone, Debug, Default)]
pub struct Verified {
    /// Whether it was completed.
    pub complete: bool,
    /// Bytes read back and compared.
    pub bytes: u64,
    /// Blocks read back and compared.
    pub blocks: u64,
    /// Part of `bytes` that was read back during the copy.
    pub behind_bytes: u64,
    /// Total duration.
    pub elapsed: Duration,
    /// Whether a sample was requested.
    pub sampled: bool,
    /// Bytes that could only be read from the page cache, although dropping them was requested; `None` if unknown.
    pub cached_bytes: Option<u64>,
    /// Extents that differed once and were correct when read again.
    pub misread: ExtentSet,
    /// Extents that were wrong on the dest and are correct after rewriting.
    pub rewritten: ExtentSet,
    /// Extents that are wrong on the dest.
    pub wrong: ExtentSet,
    /// Why wrong extents could not be rewritten, a clause.
    pub not_rewritten: Option<String>,
    /// Extents for which the source returned different data the second time, so the correct data is unknown.
    pub changed: Vec<Extent>,
}

impl Verified {
    /// Whether everything that had to be compared is correct on the dest.
    pub fn is_right(&self) -> bool {
        self.complete && self.wrong.is_empty()
    }
}
