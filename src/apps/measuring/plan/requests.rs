//! The options of measuring by writing, and by random reads.
use crate::core::Extent;
use crate::plan::Expectation;
use std::time::Duration;

/// The options of `--write`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// The data on the device may be overwritten without saving it.
    pub destroy: bool,
    /// Do not ask before a device is written to.
    pub yes: bool,
    /// The expected properties of the device.
    pub expect: Vec<Expectation>,
    /// The result is to be saved for copies to the device.
    pub save: bool,
}

/// The options of `--random`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RandomOptions {
    /// Bytes per read; `None`: auto.
    pub block_bytes: Option<u32>,
    /// Reads in flight; `None`: one.
    pub depth: Option<u32>,
    /// The range of offsets; `None`: everywhere.
    pub range: Option<Extent>,
    /// The seed of the offsets; `None`: random.
    pub seed: Option<u64>,
    /// The number of reads; `None`: limited by time only.
    pub requests: Option<u64>,
    /// The duration above which a read is slow; `None`: none is.
    pub slower_than: Option<Duration>,
}
