//! How a run ended, with its totals: data only, made by `engine`, reported by `report`.
use super::{
    Damage, DestOutcome, Differences, EngineKind, Error, Estimate, Extent, HashKind, Kind, Limits, Side, Unread,
    Verified,
};
use std::path::PathBuf;
use std::time::Duration;

/// How a run ended.
#[derive(Debug)]
pub enum Ended {
    /// Every byte arrived but those in [`Outcome::unread`], and is durable if the plan wanted that.
    Complete,
    /// A signal asked for the end, by its number; what was in flight was finished.
    Interrupted(i32),
    /// The time that was asked for was up; what was in flight was finished.
    OutOfTime,
    /// Something failed.
    Failed(Box<Error>),
}

impl Ended {
    /// The logical block of the source where a copy that does not skip has stopped, if that is why it ended; counted
    /// from the first byte of the source.
    pub fn bad_place(&self) -> Option<Extent> {
        let Ended::Failed(error) = self else { return None };
        let (Kind::Io, Some(Side::Source), Some(offset)) = (error.kind, error.side, error.offset) else { return None };
        let sector = u64::from(error.sector_bytes.max(512));
        Some(Extent::new(offset - offset % sector, sector))
    }
}

/// Bytes and records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Bytes that the source delivered.
    pub read_bytes: u64,
    /// Bytes of data that the dest acknowledged.
    pub written_bytes: u64,
    /// Bytes that the dest zeroed by itself.
    pub zeroed_bytes: u64,
    /// Bytes left as holes.
    pub hole_bytes: u64,
    /// Bytes whose extents the file system lets both files share.
    pub shared_bytes: u64,
    /// Bytes that the dest had already, so that they were not written.
    pub unchanged_bytes: u64,
    /// Bytes of the dest that were read and compared with the source's.
    pub compared_bytes: u64,
    /// Bytes that the device copied by itself.
    pub offloaded_bytes: u64,
    /// Bytes that an earlier run copied and that were read again, for digests of all data.
    pub reread_bytes: u64,
    /// Runs of zeros that the dest zeroed by itself.
    pub zeroed_runs: u64,
    /// Runs left as holes.
    pub hole_runs: u64,
    /// Requests to the source, with those for the rest of a short one.
    pub read_requests: u64,
    /// Requests to the dest, likewise.
    pub write_requests: u64,
}

impl Totals {
    /// Bytes that are through, in any form.
    pub fn copied_bytes(&self) -> u64 {
        self.dest_bytes() + self.zeroed_bytes + self.hole_bytes + self.shared_bytes + self.offloaded_bytes
    }

    /// Bytes of which the dest got no data.
    pub fn other_bytes(&self) -> u64 {
        self.zeroed_bytes + self.hole_bytes + self.reread_bytes
    }

    /// Bytes of data that went to the dest, or came from it to be compared.
    pub fn dest_bytes(&self) -> u64 {
        self.written_bytes + self.unchanged_bytes + self.compared_bytes
    }
}

/// How long requests took, in microseconds, from the moment their queue got them; waiting for order, bursts or a limit
/// is not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Latency {
    /// Requests counted.
    pub count: u64,
    /// Half were faster.
    pub p50_us: u64,
    /// Nine in ten were faster.
    pub p90_us: u64,
    /// 99 in 100 were faster.
    pub p99_us: u64,
    /// The slowest.
    pub max_us: u64,
}

/// What is known about one side after the copy.
#[derive(Clone, Debug, Default)]
pub struct SideReport {
    /// How long its requests took.
    pub latency: Latency,
    /// The same in full: classes of latency, the shortest first, each by its upper end in microseconds and how many
    /// requests are in it. Each class but the last is as wide as the next is, by their logarithm.
    pub latencies: Vec<(u64, u64)>,
    /// Time in which there was nothing to do but wait for this side.
    pub waited: Duration,
    /// Time in which it had no request in flight.
    pub idle: Duration,
    /// Bytes in the page cache before, where that can be known.
    pub cached_before_bytes: Option<u64>,
    /// Bytes in the page cache after.
    pub cached_after_bytes: Option<u64>,
}

/// Block size and queue depth as settled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    /// What the copy kept to in the end; block size 0 where no byte went through haul.
    pub limits: Limits,
    /// Why these: a clause.
    pub because: String,
    /// What was tried, in order.
    pub trials: Vec<Trial>,
    /// What trials cost that were worse than what they were compared with.
    pub search_cost: Duration,
}

/// The result of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialVerdict {
    /// It was better: the limits stay changed.
    Kept,
    /// It was not better: the limits are what they were.
    Dropped,
    /// The side no longer reaches its limit, and as much arrives as before: the other side is the slower one now. The
    /// limits stay changed.
    NoLongerFull,
}

/// A trial that is over, for the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// When it was over, since the copy began.
    pub at: Duration,
    /// The side whose rate was judged; `None`: both together.
    pub side: Option<Side>,
    /// The limits without the change.
    pub from: Limits,
    /// The limits with it.
    pub to: Limits,
    /// What it gained, in percent of the rate without it.
    pub gain_percent: i32,
    /// From how many pairs of windows; 0: none was finished.
    pub pairs: u32,
    /// The result of it.
    pub verdict: TrialVerdict,
}

impl TrialVerdict {
    /// As JSON reports name it.
    pub fn name(self) -> &'static str {
        match self {
            TrialVerdict::Kept => "kept",
            TrialVerdict::Dropped => "dropped",
            TrialVerdict::NoLongerFull => "kept_no_longer_full",
        }
    }
}

/// What the process used.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Processor time in user mode.
    pub user: Duration,
    /// Processor time in the kernel, on our account; kernel threads are not in it.
    pub system: Duration,
    /// Most memory resident, in bytes.
    pub peak_resident_bytes: u64,
}

/// A digest of the source stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// Which.
    pub kind: HashKind,
    /// In hexadecimal, lower case.
    pub hex: String,
}

/// The result of comparing each block's bytes when it had been read with its bytes when it had been written. It says
/// nothing about the medium, nor about what a program behind a pipe received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryCheck {
    /// Bytes that were written as they had been read.
    pub unchanged_bytes: u64,
    /// Where on the destination the first block begins that changed in memory; `None`: none did.
    pub changed_at: Option<u64>,
}

/// What a journal had to do with a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalTotals {
    /// Bytes that earlier runs had made durable, and this one did not touch.
    pub already_bytes: u64,
    /// Bytes that are durable by the journal, those included.
    pub durable_bytes: u64,
    /// Times that it was written to: each after a flush of the dest.
    pub checkpoints: u64,
    /// Bytes that could not be read from the source, by the journal that is left.
    pub unread_bytes: u64,
    /// The journal, where it is left for `--resume`: the copy is not complete and something of it is durable, or not
    /// all could be read.
    pub left: Option<PathBuf>,
}

/// How a run ended, with everything worth telling.
#[derive(Debug)]
pub struct Outcome {
    /// How.
    pub ended: Ended,
    /// The engine that did it, and how in detail: `io_uring, fixed buffers, huge pages`.
    pub engine: EngineKind,
    /// See `engine`.
    pub engine_detail: String,
    /// Bytes and requests.
    pub totals: Totals,
    /// All bytes that arrived with none missing between them, with zeros for those in `unread`; offsets count from the
    /// first byte of the copy.
    pub claimed: Extent,
    /// What it was expected to take; `None`: it was not measured.
    pub estimate: Option<Estimate>,
    /// From the first request to the end, flushing included.
    pub elapsed: Duration,
    /// Of that, making it durable.
    pub flushing: Duration,
    /// What was claimed was flushed: it survives a power loss, unless it is [`Outcome::memory`] that it is in.
    pub durable: bool,
    /// What keeps the dest in memory, where that is so: see [`super::Facts::memory`].
    pub memory: Option<String>,
    /// Both sides, by [`super::Side::index`].
    pub sides: [SideReport; 2],
    /// Time in which there was nothing to do but wait for digests.
    pub digest_waited: Duration,
    /// Time in which the limit held the copy back.
    pub limit_waited: Duration,
    /// Block size and depth.
    pub pace: Pace,
    /// What the process used.
    pub usage: Usage,
    /// What differs, where the sides were compared.
    pub differences: Option<Differences>,
    /// What is wrong, where a test pattern was checked.
    pub damage: Option<Damage>,
    /// What could not be read and was skipped, by [`super::Side::index`]; what a copy has in its place is zeros.
    pub unread: [Unread; 2],
    /// How each dest ended, where there were several; else none.
    pub dests: Vec<DestOutcome>,
    /// Path of the manifest that was written; `None`: none was, or not to its end.
    pub manifest: Option<String>,
    /// The result of reading the one dest back; `None`: it was not.
    pub verified: Option<Verified>,
    /// The result of comparing blocks in memory before and after they were written; `None`: that was not asked for.
    pub memory_check: Option<MemoryCheck>,
    /// Digests of the source stream as it was written, in the order asked for; none unless it was read to its end.
    pub digests: Vec<Digest>,
    /// What the journal had to do with it; `None` where none was to be kept.
    pub kept: Option<JournalTotals>,
    /// What the user should know.
    pub notes: Vec<String>,
    /// What was not available for speed, and what was used instead: the data is the same.
    pub fallbacks: Vec<String>,
}

/// Where what was claimed is safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// On the medium: it survives a power loss.
    Medium,
    /// In memory, which is as far as it can get there: it does not survive a power loss.
    Memory,
    /// It was not flushed, or the flush failed.
    No,
}

impl Durability {
    /// Of what was `flushed` to a dest that `memory` keeps, or a medium.
    pub fn of(flushed: bool, memory: Option<&str>) -> Self {
        match (flushed, memory) {
            (true, None) => Durability::Medium,
            (true, Some(_)) => Durability::Memory,
            (false, _) => Durability::No,
        }
    }

    /// The word for programs.
    pub fn name(self) -> &'static str {
        match self {
            Durability::Medium => "medium",
            Durability::Memory => "memory",
            Durability::No => "no",
        }
    }
}

impl Outcome {
    /// Where what was claimed is safe.
    pub fn durability(&self) -> Durability {
        Durability::of(self.durable, self.memory.as_deref())
    }

    /// One of several dests failed.
    pub fn any_dest_failed(&self) -> bool {
        self.dests.iter().any(|dest| dest.error.is_some())
    }

    /// What was read back is wrong on the dest, or on one of several, or could not be read back to its end.
    pub fn any_dest_wrong(&self) -> bool {
        let each = self.dests.iter().filter_map(|dest| dest.verified.as_ref());
        self.verified.iter().chain(each).any(|found| !found.is_right())
    }

    /// Something failed, differs or is damaged, although the run came to its end.
    pub fn is_wrong(&self) -> bool {
        let differs = self.differences.as_ref().is_some_and(|found| !found.is_empty());
        let damaged = self.damage.as_ref().is_some_and(|found| !found.is_empty());
        self.any_dest_failed() || self.any_dest_wrong() || differs || damaged
    }

    /// Something could not be read, and was skipped.
    pub fn is_unread(&self) -> bool {
        self.unread.iter().any(|unread| !unread.is_empty())
    }

    /// Of several dests, not all have what the copy has come to.
    pub fn dests_differ(&self) -> bool {
        self.dests.iter().any(|dest| dest.error.is_some() || dest.behind)
    }

    /// Nothing failed and nothing interrupted it; what was compared or checked may still be wrong.
    pub fn ended_well(&self) -> bool {
        matches!(self.ended, Ended::Complete)
    }
}
