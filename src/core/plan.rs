//! Settled decisions, as data: made by the room `plan`, carried out by `endpoint` and `engine`, reported by `report`.
use super::{
    BlockDigests, CopyName, Extent, HashKind, OnError, PatternUse, PlanDest, PlanSide, Ranges, ReadBack, Side, Tuning,
    Zeros,
};
use std::sync::Arc;
use std::time::Duration;

/// How requests are kept in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EngineKind {
    /// One io_uring for both sides; helper threads for what cannot be on one.
    Ring,
    /// Blocking calls on helper threads, as many as the depth.
    Threads,
    /// The plain loop: one block, read then written. The yardstick.
    Sync,
    /// No data through haul: the file system shares the extents (FICLONERANGE).
    Reflink,
    /// No data through haul: the device copies by a command of its own.
    Offload,
}

impl EngineKind {
    /// The word for options and messages.
    pub fn name(self) -> &'static str {
        match self {
            EngineKind::Ring => "ring",
            EngineKind::Threads => "threads",
            EngineKind::Sync => "sync",
            EngineKind::Reflink => "reflink",
            EngineKind::Offload => "offload",
        }
    }
}

/// What happens to a block that has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Route {
    /// It is written to the dest.
    Copy,
    /// It is compared with the same bytes of the dest, which is only read.
    Compare {
        /// Both sides have to end together: what one has beyond the other is a difference.
        ends_together: bool,
        /// The side that ends first and the bytes that it lacks, where that is known before.
        shorter: Option<(Side, u64)>,
    },
    /// It is compared with the same bytes of the dest, and written where they differ.
    Delta {
        /// In pieces of this many bytes, counted from the beginning of each block.
        piece_bytes: u32,
    },
    /// Only the dest is read, and its blocks are digested; there is no other side.
    ReadBack,
}

impl Route {
    /// The verb for messages: "{verb} the rest".
    pub fn verb(self) -> &'static str {
        match self {
            Route::Copy | Route::Delta { .. } => "copy",
            Route::Compare { .. } | Route::ReadBack => "compare",
        }
    }

    /// Buffers that a block takes: one, or one for the bytes of either side.
    pub fn buffers_per_block(self) -> u32 {
        match self {
            Route::Copy | Route::ReadBack => 1,
            Route::Compare { .. } | Route::Delta { .. } => 2,
        }
    }

    /// The dest is written to.
    pub fn writes(self) -> bool {
        matches!(self, Route::Copy | Route::Delta { .. })
    }

    /// The side that a block is read from first.
    pub fn reads_from(self) -> Side {
        match self {
            Route::Copy | Route::Delta { .. } | Route::Compare { .. } => Side::Source,
            Route::ReadBack => Side::Dest,
        }
    }
}

/// The way through the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the first byte to the last.
    Forward,
    /// From the last to the first: the dest overlaps the source and lies behind it.
    Backward,
}

/// What order writes are given to the dest in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteOrder {
    /// As reads finish.
    Any,
    /// In the order of the schedule, any number in flight: no write goes out before all reads ahead of it are done.
    Submitted,
    /// In the order of the schedule, one in flight: pipes.
    OneAtATime,
}

/// A copy that the device makes by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceCopy {
    /// First byte on the device as a whole, whatever part of it the source is.
    pub from_offset: u64,
    /// Most bytes of one command; a multiple of the logical block size.
    pub command_bytes: u32,
    /// The name of the source, which the dest copies from; `None`: both sides lie on one device, which copies within
    /// itself.
    pub from: Option<CopyName>,
}

/// Everything a copy will do, as it is carried out; [`super::PlanNotes`] are what is reported about it. Nothing is left
/// to decide but the pace within the bounds of [`Tuning`].
#[derive(Clone, Debug)]
pub struct Plan {
    /// Where bytes come from.
    pub source: PlanSide,
    /// Where bytes go.
    pub dest: PlanSide,
    /// All dests, `dest` among them, where there are several; else none.
    pub dests: Vec<PlanDest>,
    /// Bytes to copy or to compare; `None`: to the end of a stream.
    pub len: Option<u64>,
    /// The parts of that, from the first to the last of which `len` reaches; `None`: all of it.
    pub ranges: Option<Arc<Ranges>>,
    /// What happens to each block.
    pub route: Route,
    /// One side is the test pattern; `None`: both hold bytes.
    pub pattern: Option<PatternUse>,
    /// How requests are kept in flight.
    pub engine: EngineKind,
    /// Should the engine be Reflink or Offload and be refused: the engine to take instead; `None`: that is an error.
    pub engine_instead: Option<EngineKind>,
    /// For the engine Offload: where the source's byte 0 of this copy is on the device that both sides lie on, and most
    /// bytes of one command.
    pub device_copy: Option<DeviceCopy>,
    /// Block size and depth.
    pub tuning: Tuning,
    /// The first block has this many bytes, so that those behind it are aligned; 0: it is like any other.
    pub head_bytes: u32,
    /// A last block is cut at a multiple of this (offsets on the dest), so that an odd rest that cannot go direct
    /// shares no page with what did; 1: never.
    pub tail_align_bytes: u32,
    /// Where to begin.
    pub direction: Direction,
    /// What order writes go out in.
    pub write_order: WriteOrder,
    /// Source and dest have bytes in common: what was copied may no longer be in the source.
    pub overlaps: bool,
    /// What happens to zero runs.
    pub zeros: Zeros,
    /// Ask the source for its holes rather than read them.
    pub ask_holes: bool,
    /// Look for zeros in data, in pieces of this many bytes; `None`: do not look.
    pub detect_zeros_bytes: Option<u32>,
    /// Digests of the source stream.
    pub hashes: Vec<HashKind>,
    /// Digests of each block, told as [`super::Event::Digested`]; `None`: none.
    pub digest_blocks: Option<BlockDigests>,
    /// The dest is read back afterwards and compared with these; `None`: it is not.
    pub read_back: Option<ReadBack>,
    /// Each block is fingerprinted when it has been read and again when it has been written: the copy fails where its
    /// bytes changed in memory in between.
    pub checks_memory: bool,
    /// Let the dest file end where the copy ends, and cut a longer old tail off.
    pub set_end: bool,
    /// Allocate the dest before the first write.
    pub preallocate: bool,
    /// Exit only after the dest said that the data is on the medium.
    pub durable: bool,
    /// What happens to a place that cannot be read.
    pub on_error: OnError,
    /// What is durable is written down while the copy runs, so that it can be continued.
    pub journal: bool,
    /// Most bytes a second; `None`: as fast as possible.
    pub limit_bytes_per_s: Option<u64>,
    /// It ends when so much time has passed since it began, whole or not; `None`: when it is whole.
    pub time_limit: Option<Duration>,
}

impl Plan {
    /// The verb for messages: "{verb} the rest".
    pub fn verb(&self) -> &'static str {
        self.pattern.map_or(self.route.verb(), |pattern| pattern.act.name())
    }

    /// Bytes that are to be moved or compared; `None`: to the end of a stream.
    pub fn total_bytes(&self) -> Option<u64> {
        self.ranges.as_ref().map(|ranges| ranges.total_bytes()).or(self.len)
    }

    /// The ranges of a copy of such, counted from its first byte; `None`: it is of one run of bytes.
    pub fn ranges_from_first(&self) -> Option<Vec<Extent>> {
        let from_first = |range: &Extent| Extent::new(range.offset - self.source.offset, range.len);
        self.ranges.as_ref().map(|ranges| ranges.extents().iter().map(from_first).collect())
    }

    /// Bytes of `claimed`, which counts from the first byte of the copy, that were to be moved.
    pub fn claimed_bytes(&self, claimed: Extent) -> u64 {
        let on_source = Extent::new(self.source.offset + claimed.offset, claimed.len);
        self.ranges.as_ref().map_or(claimed.len, |ranges| ranges.within(on_source).map(|part| part.len).sum())
    }

    /// The source or the dest.
    pub fn side(&self, side: Side) -> &PlanSide {
        match side {
            Side::Source => &self.source,
            Side::Dest => &self.dest,
        }
    }
}
