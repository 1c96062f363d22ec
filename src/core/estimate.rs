//! How long a copy is expected to take, reported before it begins and beside what it took.
use super::Side;
use std::time::Duration;

/// What a copy is expected to be held up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// By this side.
    Side(Side),
    /// By both about as much, or by one after the other.
    Both,
    /// By the limit that was asked for.
    Limit,
}

impl Bound {
    /// The word for JSON.
    pub fn name(self) -> &'static str {
        match self {
            Bound::Side(side) => side.key(),
            Bound::Both => "both",
            Bound::Limit => "limit",
        }
    }
}

/// Where the rate of writing the dest is taken from: nothing is written to find it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteRate {
    /// It was read: a rotational disk passes the same bytes in the same time, whatever it does there.
    AsRead,
    /// It was measured and kept by `haul tune --write --save`.
    Saved,
}

impl WriteRate {
    /// The word for JSON.
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
    /// The write rate of the destination is unknown: flash, caches that fill up and networks do not write as they read.
    Writing,
    /// The source may not keep the rate at which it was read: a network or a virtual disk.
    Reading,
    /// With more requests in flight a side may be read faster than it was.
    QueueDepth,
}

impl Doubt {
    /// The word for JSON.
    pub fn name(self) -> &'static str {
        match self {
            Doubt::Writing => "writing",
            Doubt::Reading => "reading",
            Doubt::QueueDepth => "queue_depth",
        }
    }
}

/// How long a copy is expected to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// For the whole copy, before what is read back: not less than this.
    pub at_least: Duration,
    /// Nor more than this; `None` if unknown.
    pub at_most: Option<Duration>,
    /// Why these differ.
    pub doubt: Option<Doubt>,
    /// Mean rate of reading the source over all bytes of the copy; `None` where it is not known.
    pub source_bytes_per_s: Option<u64>,
    /// The same for the other side: of writing it, or of reading it where nothing is written.
    pub dest_bytes_per_s: Option<u64>,
    /// Where the rate of writing is from; `None` where it is not known, or nothing is written.
    pub write_rate: Option<WriteRate>,
    /// What is expected to hold it up; `None` where only one side is known.
    pub bound: Option<Bound>,
    /// Places that were read, on both sides together.
    pub places: u32,
    /// What finding this out took.
    pub took: Duration,
}

impl Estimate {
    /// The time, where it is not a range.
    pub fn time(&self) -> Option<Duration> {
        self.at_most.filter(|_| self.doubt.is_none())
    }
}
