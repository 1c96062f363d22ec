//! How a run ended, with its totals: plain data, filled in by `engine`, shown by `report`.
use super::{
    Damage, DestOutcome, Differences, EngineKind, Error, Estimate, Extent, HashKind, Kind, Limits, Side, SidePart,
    Unread, Verified,
};
use std::path::PathBuf;
use std::time::Duration;

/// How a run ended.
#[derive(Debug)]
pub enum Ended {
    /// Every byte was copied except those in [`Outcome::unread`], and is durable if the plan requires it.
    Complete,
    /// The signal with this number requested the end; requests in flight were completed.
    Interrupted(i32),
    /// The time limit was reached; requests in flight were completed.
    OutOfTime,
    /// The run failed.
    Failed(Box<Error>),
}

impl Ended {
    /// The logical block of the source at which the copy failed, if the cause was a read error; offsets count from the
    /// first byte of the source.
    pub fn bad_place(&self) -> Option<Extent> {
        let Ended::Failed(error) = self else { return None };
        let (Kind::Io, Some(Side::Source), Some(offset)) = (error.kind, error.side, error.offset) else { return None };
        let sector = u64::from(error.sector_bytes.max(512));
        Some(Extent::new(offset - offset % sector, sector))
    }
}

/// Totals of bytes and requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Bytes read from the source.
    pub read_bytes: u64,
    /// Bytes of data that the dest acknowledged.
    pub written_bytes: u64,
    /// Bytes that the dest zeroed without receiving data.
    pub zeroed_bytes: u64,
    /// Bytes left as holes.
    pub hole_bytes: u64,
    /// Bytes in extents that both files share.
    pub shared_bytes: u64,
    /// Bytes that were not written because the dest already had them.
    pub unchanged_bytes: u64,
    /// Bytes that were read from the dest and compared with the source.
    pub compared_bytes: u64,
    /// Bytes that the device copied internally.
    pub offloaded_bytes: u64,
    /// Bytes that an earlier run had copied and that were read again for digests of all data.
    pub reread_bytes: u64,
    /// Number of zero runs that the dest zeroed without receiving data.
    pub zeroed_runs: u64,
    /// Number of runs left as holes.
    pub hole_runs: u64,
    /// Number of requests to the source, including those that continue short reads.
    pub read_requests: u64,
    /// Number of requests to the dest.
    pub write_requests: u64,
}

impl Totals {
    /// Bytes copied by any method.
    pub fn copied_bytes(&self) -> u64 {
        self.dest_bytes() + self.zeroed_bytes + self.hole_bytes + self.shared_bytes + self.offloaded_bytes
    }

    /// Bytes for which no data was sent to the dest.
    pub fn other_bytes(&self) -> u64 {
        self.zeroed_bytes + self.hole_bytes + self.reread_bytes
    }

    /// Bytes written to the dest, or read from it for comparison.
    pub fn dest_bytes(&self) -> u64 {
        self.written_bytes + self.unchanged_bytes + self.compared_bytes
    }
}

/// Latency of requests, in microseconds, from submission to completion. Time that gates delay a request is not
/// included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Latency {
    /// Number of requests.
    pub count: u64,
    /// Median.
    pub p50_us: u64,
    /// 90th percentile.
    pub p90_us: u64,
    /// 99th percentile.
    pub p99_us: u64,
    /// Maximum.
    pub max_us: u64,
}

/// Statistics of one side.
#[derive(Clone, Debug, Default)]
pub struct SideReport {
    /// Latency percentiles.
    pub latency: Latency,
    /// Latency histogram: the upper bound of each bucket in microseconds, ascending, and the number of requests in it.
    /// All buckets but the last have the same width on a logarithmic scale.
    pub latencies: Vec<(u64, u64)>,
    /// Time during which the copy waited for this side only.
    pub waited: Duration,
    /// The part of it that took most of its time, if it has several.
    pub slowest_part: Option<SidePart>,
    /// Time during which it had no request in flight.
    pub idle: Duration,
    /// Bytes in the page cache before the copy, if known.
    pub cached_before_bytes: Option<u64>,
    /// Bytes in the page cache after the copy, if known.
    pub cached_after_bytes: Option<u64>,
}

/// The final block size and queue depths, and how they were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    /// The limits at the end of the copy; the block size is 0 if no data passed through haul.
    pub limits: Limits,
    /// The reason for these limits, a clause.
    pub because: String,
    /// The trials, in order.
    pub trials: Vec<Trial>,
    /// Time lost to trials that were slower than the limits they were compared with.
    pub search_cost: Duration,
}

/// The result of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialVerdict {
    /// It was faster: the change is kept.
    Kept,
    /// It was not faster: the change is reverted.
    Dropped,
    /// The side is below its limit now and throughput is unchanged: the other side is the bottleneck. The change is
    /// kept.
    NoLongerFull,
}

/// A completed trial, for the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// Time of its end, since the start of the copy.
    pub at: Duration,
    /// The side whose rate was compared; `None` for both together.
    pub side: Option<Side>,
    /// The limits before the change.
    pub from: Limits,
    /// The limits after the change.
    pub to: Limits,
    /// Gain, in percent of the rate before the change.
    pub gain_percent: i32,
    /// Number of measured pairs of windows; 0 if none was completed.
    pub pairs: u32,
    /// The result.
    pub verdict: TrialVerdict,
}

impl TrialVerdict {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            TrialVerdict::Kept => "kept",
            TrialVerdict::Dropped => "dropped",
            TrialVerdict::NoLongerFull => "kept_no_longer_full",
        }
    }
}

/// Resources that the process used.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Processor time in user mode.
    pub user: Duration,
    /// Processor time in the kernel, without kernel threads.
    pub system: Duration,
    /// Peak RSS, in bytes.
    pub peak_resident_bytes: u64,
}

/// A digest of the source stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// The algorithm.
    pub kind: HashKind,
    /// Lowercase hexadecimal.
    pub hex: String,
}

/// The result of comparing the fingerprint of each block after reading with its fingerprint after writing. It does not
/// cover the medium, nor what a process at the other end of a pipe received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryCheck {
    /// Bytes that were unchanged in memory between reading and writing.
    pub unchanged_bytes: u64,
    /// Offset on the dest of the first block that changed in memory; `None` if none did.
    pub changed_at: Option<u64>,
}

/// Totals of the journal of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalTotals {
    /// Bytes that earlier runs had made durable and this run skipped.
    pub already_bytes: u64,
    /// Bytes that are durable according to the journal, including those.
    pub durable_bytes: u64,
    /// Number of checkpoints written, each after a flush of the dest.
    pub checkpoints: u64,
    /// Bytes that could not be read from the source, according to a journal that remains.
    pub unread_bytes: u64,
    /// Path of the journal if it remains for `--resume`: the copy is incomplete and some of it is durable, or sectors
    /// were unreadable.
    pub left: Option<PathBuf>,
}

/// The complete result of a run.
#[derive(Debug)]
pub struct Outcome {
    /// How the run ended.
    pub ended: Ended,
    /// The engine.
    pub engine: EngineKind,
    /// Details of the engine: `io_uring, fixed buffers, huge pages`.
    pub engine_detail: String,
    /// Bytes and requests.
    pub totals: Totals,
    /// The contiguous extent that was copied, with zeros for bytes in `unread`. Offsets count from the first byte of
    /// the copy.
    pub claimed: Extent,
    /// The estimate made before the copy; `None` if there was none.
    pub estimate: Option<Estimate>,
    /// Time from the first request to the end, including flushes.
    pub elapsed: Duration,
    /// Part of `elapsed` spent on flushing.
    pub flushing: Duration,
    /// Whether the claimed bytes were flushed: they survive a power loss unless [`Outcome::memory`] is set.
    pub durable: bool,
    /// The volatile storage of the dest, if any: see [`super::Facts::memory`].
    pub memory: Option<String>,
    /// Statistics of both sides, by [`super::Side::index`].
    pub sides: [SideReport; 2],
    /// Time during which the copy waited for digests only.
    pub digest_waited: Duration,
    /// Time during which the rate limit delayed the copy.
    pub limit_waited: Duration,
    /// Block size and depth.
    pub pace: Pace,
    /// Resources that the process used.
    pub usage: Usage,
    /// The differences, if the sides were compared.
    pub differences: Option<Differences>,
    /// The damage, if a test pattern was checked.
    pub damage: Option<Damage>,
    /// Unreadable sectors that were skipped, by [`super::Side::index`]; the copy has zeros in their place.
    pub unread: [Unread; 2],
    /// The outcome of each of several dests; empty for a single dest.
    pub dests: Vec<DestOutcome>,
    /// Path of the manifest; `None` if none was written, or not completely.
    pub manifest: Option<String>,
    /// The result of reading a single dest back; `None` if that was not done.
    pub verified: Option<Verified>,
    /// The result of comparing blocks in memory before and after writing; `None` if not requested.
    pub memory_check: Option<MemoryCheck>,
    /// Digests of the source stream, in the requested order; empty unless it was read completely.
    pub digests: Vec<Digest>,
    /// The digest of the source file itself, where its content was copied; `None`: it was not requested, or not all of
    /// it was read.
    pub stored_digest: Option<Digest>,
    /// What the journal recorded; `None` without a journal.
    pub kept: Option<JournalTotals>,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// Unavailable optimizations and the methods used instead. The copied data is the same.
    pub fallbacks: Vec<String>,
}

/// The durability of the claimed bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// On the medium: they survive a power loss.
    Medium,
    /// In volatile storage, where flushing has no effect: they do not survive a power loss.
    Memory,
    /// Not flushed, or the flush failed.
    No,
}

impl Durability {
    /// The durability of data that was `flushed` or not; `memory` is the volatile storage of the dest, if any.
    pub fn of(flushed: bool, memory: Option<&str>) -> Self {
        match (flushed, memory) {
            (true, None) => Durability::Medium,
            (true, Some(_)) => Durability::Memory,
            (false, _) => Durability::No,
        }
    }

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Durability::Medium => "medium",
            Durability::Memory => "memory",
            Durability::No => "no",
        }
    }
}

impl Outcome {
    /// The durability of the claimed bytes. Of several destinations it is the weakest of those that did not fail.
    pub fn durability(&self) -> Durability {
        if self.dests.is_empty() {
            return Durability::of(self.durable, self.memory.as_deref());
        }
        let good = self.dests.iter().filter(|dest| dest.error.is_none());
        let weakest = good.map(|dest| Durability::of(dest.durable, dest.memory.as_deref())).max();
        weakest.unwrap_or(Durability::No).max(Durability::of(self.durable, None))
    }

    /// Whether one of several dests failed.
    pub fn any_dest_failed(&self) -> bool {
        self.dests.iter().any(|dest| dest.error.is_some())
    }

    /// Whether reading back found wrong data on any dest, or could not be completed.
    pub fn any_dest_wrong(&self) -> bool {
        let each = self.dests.iter().filter_map(|dest| dest.verified.as_ref());
        self.verified.iter().chain(each).any(|found| !found.is_right())
    }

    /// Whether data is wrong, differs or is damaged, even if the run completed.
    pub fn is_wrong(&self) -> bool {
        let differs = self.differences.as_ref().is_some_and(|found| !found.is_empty());
        let damaged = self.damage.as_ref().is_some_and(|found| !found.is_empty());
        self.any_dest_failed() || self.any_dest_wrong() || differs || damaged
    }

    /// Whether unreadable sectors were skipped.
    pub fn is_unread(&self) -> bool {
        self.unread.iter().any(|unread| !unread.is_empty())
    }

    /// Whether one of several dests has less data than the copy as a whole.
    pub fn dests_differ(&self) -> bool {
        self.dests.iter().any(|dest| dest.error.is_some() || dest.behind)
    }

    /// Whether the run completed without failure or interruption. Data that was compared or checked may still be wrong.
    pub fn ended_well(&self) -> bool {
        matches!(self.ended, Ended::Complete)
    }
}
