//! The expected duration of a copy, shown before it begins and next to the actual duration afterwards.
use super::Side;
use std::time::Duration;

/// The expected bottleneck of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// This side.
    Side(Side),
    /// Both sides about equally, or each in turn.
    Both,
    /// The requested rate limit.
    Limit,
}

impl Bound {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Bound::Side(side) => side.key(),
            Bound::Both => "both",
            Bound::Limit => "limit",
        }
    }
}

/// Source of the write rate of the dest. Estimating never writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteRate {
    /// The measured read rate: a rotational disk reads and writes at the same rate.
    AsRead,
    /// The rate that `haul tune --write --save` measured and stored.
    Saved,
}

impl WriteRate {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            WriteRate::AsRead => "as_read",
            WriteRate::Saved => "saved",
        }
    }
}

/// Why an estimate is a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The write rate of the dest is unknown: flash, caches that fill up and networks write at other rates than they
    /// read.
    Writing,
    /// The read rate of the source may change: a network or a virtual disk.
    Reading,
    /// More requests in flight may increase the read rate of a side.
    QueueDepth,
}

impl Doubt {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Doubt::Writing => "writing",
            Doubt::Reading => "reading",
            Doubt::QueueDepth => "queue_depth",
        }
    }
}

/// The expected duration of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// Minimum duration of the whole copy, without reading back.
    pub at_least: Duration,
    /// Maximum duration; `None` if unknown.
    pub at_most: Option<Duration>,
    /// Why minimum and maximum differ.
    pub doubt: Option<Doubt>,
    /// Mean read rate of the source over all bytes of the copy; `None` if unknown.
    pub source_bytes_per_s: Option<u64>,
    /// The same for the dest: its write rate, or its read rate if nothing is written.
    pub dest_bytes_per_s: Option<u64>,
    /// Source of the write rate; `None` if it is unknown, or nothing is written.
    pub write_rate: Option<WriteRate>,
    /// The expected bottleneck; `None` if the rate of only one side is known.
    pub bound: Option<Bound>,
    /// Number of locations that were read, on both sides together.
    pub places: u32,
    /// Duration of the measurement.
    pub took: Duration,
}

impl Estimate {
    /// The expected duration, unless the estimate is a range.
    pub fn time(&self) -> Option<Duration> {
        self.at_most.filter(|_| self.doubt.is_none())
    }
}
