//! What measuring by writing, and by random reads, is asked for.
use crate::core::Extent;
use crate::plan::Expectation;
use std::time::Duration;

/// Writing was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteWish {
    /// What is on the device may be lost.
    pub destroy: bool,
    /// Do not ask before a device is written to.
    pub yes: bool,
    /// What the device must be.
    pub expect: Vec<Expectation>,
    /// What is found is to be kept for copies to the device.
    pub save: bool,
}

/// What random reads were asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RandomWish {
    /// Bytes of a read; `None`: auto.
    pub block_bytes: Option<u32>,
    /// Reads in flight; `None`: one.
    pub depth: Option<u32>,
    /// Where; `None`: anywhere.
    pub range: Option<Extent>,
    /// `None`: any.
    pub seed: Option<u64>,
    /// So many; `None`: as time allows.
    pub requests: Option<u64>,
    /// What counts as slow; `None`: nothing.
    pub slower_than: Option<Duration>,
}
