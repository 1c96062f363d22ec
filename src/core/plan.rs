//! Plans as plain data: made by `plan`, executed by `disks` and `engine`, shown by `report`.
use super::{
    BlockDigests, BlockMap, CopyName, Extent, HashKind, OnError, PatternUse, Piece, PlanDest, PlanSide, ReadBack, Side,
    Tuning, Zeros, pieces,
};
use std::sync::Arc;
use std::time::Duration;

/// Engines: methods of keeping requests in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EngineKind {
    /// One io_uring for both sides; helper threads for endpoints that it does not support.
    Ring,
    /// Blocking calls on helper threads, one for each request in flight.
    Threads,
    /// A plain loop: each block is read, then written. The baseline for comparisons.
    Sync,
    /// The file system shares the extents (FICLONERANGE): no data passes through haul.
    Reflink,
    /// The device copies the data by its copy command: no data passes through user space.
    Offload,
}

impl EngineKind {
    /// The name for options and messages.
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
    /// Written to the dest.
    Copy,
    /// Compared with the same bytes of the dest, which is only read.
    Compare {
        /// Whether both sides must have the same length; otherwise additional bytes of one side are ignored.
        ends_together: bool,
        /// The shorter side and by how many bytes it is shorter, if known in advance.
        shorter: Option<(Side, u64)>,
    },
    /// Compared with the same bytes of the dest, and written where they differ.
    Delta {
        /// Granularity of the comparison in bytes, counted from the start of each block.
        piece_bytes: u32,
    },
    /// Digested. Only the dest is read; there is no source.
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

    /// Number of buffers per block: 1, or 2 if blocks of both sides are in memory together.
    pub fn buffers_per_block(self) -> u32 {
        match self {
            Route::Copy | Route::ReadBack => 1,
            Route::Compare { .. } | Route::Delta { .. } => 2,
        }
    }

    /// Whether the dest is written.
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

/// The direction in which a copy proceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the first byte to the last.
    Forward,
    /// From the last to the first: the dest overlaps the source at a higher offset.
    Backward,
}

/// The order of writes to the dest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteOrder {
    /// The order in which reads complete.
    Any,
    /// The order of the schedule, with any number in flight: a write is submitted only after all earlier reads have
    /// completed.
    Submitted,
    /// The order of the schedule, one at a time: for pipes.
    OneAtATime,
}

/// A copy that the device makes internally, for the engine Offload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceCopy {
    /// Offset of the first byte on the whole device, even if the source is a partition.
    pub from_offset: u64,
    /// Maximum number of bytes per command; a multiple of the logical block size.
    pub command_bytes: u32,
    /// The name by which the dest identifies the source; `None` if both sides are on one device.
    pub from: Option<CopyName>,
}

/// Everything that a copy will do. The explanations for the user are in [`super::PlanNotes`]. Only the pace is adjusted
/// later, within the bounds of [`Tuning`].
#[derive(Clone, Debug)]
pub struct Plan {
    /// The source.
    pub source: PlanSide,
    /// The dest; one of `dests` if there are several.
    pub dest: PlanSide,
    /// All dests including `dest`, if there are several; otherwise empty.
    pub dests: Vec<PlanDest>,
    /// Bytes to copy or compare; `None` for a stream, which is copied to its end.
    pub len: Option<u64>,
    /// What happens to each block.
    pub route: Route,
    /// The use of the test pattern, if one side is the pattern.
    pub pattern: Option<PatternUse>,
    /// The engine.
    pub engine: EngineKind,
    /// The engine to use if Reflink or Offload is not available; `None` to fail instead.
    pub engine_instead: Option<EngineKind>,
    /// Parameters of the engine Offload.
    pub device_copy: Option<DeviceCopy>,
    /// Block size and queue depths.
    pub tuning: Tuning,
    /// Size of the first block in bytes, chosen so that the following blocks are aligned; 0 for the normal block size.
    pub head_bytes: u32,
    /// The last block is split at a multiple of this offset on the dest, so that an unaligned tail written by buffered
    /// I/O shares no page with direct I/O; 1 to never split.
    pub tail_align_bytes: u32,
    /// The direction.
    pub direction: Direction,
    /// The order of writes.
    pub write_order: WriteOrder,
    /// Whether source and dest overlap, so that copying overwrites part of the source.
    pub overlaps: bool,
    /// What happens to zero runs.
    pub zeros: Zeros,
    /// Whether to query the source for holes instead of reading them.
    pub ask_holes: bool,
    /// Granularity in bytes of zero detection in data; `None` to disable it.
    pub detect_zeros_bytes: Option<u32>,
    /// Digests of the source stream.
    pub hashes: Vec<HashKind>,
    /// Parameters of the digests of each block, reported as [`super::Event::Digested`]; `None` for no such digests.
    pub digest_blocks: Option<BlockDigests>,
    /// The block map whose ranges are all that is copied: they are compared with its digests. The maps of both sides
    /// have exactly these ranges.
    pub block_map: Option<Arc<BlockMap>>,
    /// How to read the dest back and compare it; `None` not to.
    pub read_back: Option<ReadBack>,
    /// Whether to compute a fingerprint of each block after reading and after writing, and fail if it changed in
    /// memory.
    pub checks_memory: bool,
    /// Whether to set the size of the dest file at the end, truncating a longer old file.
    pub set_end: bool,
    /// Whether to allocate space for the dest before the first write.
    pub preallocate: bool,
    /// Whether to flush the dest before exiting.
    pub durable: bool,
    /// Handling of unreadable sectors.
    pub on_error: OnError,
    /// Whether to record checkpoints, so that the copy can be resumed.
    pub journal: bool,
    /// Rate limit in bytes per second; `None` for no limit.
    pub limit_bytes_per_s: Option<u64>,
    /// Maximum duration of the copy; `None` for no limit.
    pub time_limit: Option<Duration>,
}

impl Plan {
    /// Whether all data of the copy is digested in order, so that a resumed copy reads again what it does not write.
    pub fn digests_all(&self) -> bool {
        !self.hashes.is_empty() || self.block_map.as_ref().is_some_and(|map| map.algorithm.is_some())
    }

    /// The verb for messages: "{verb} the rest".
    pub fn verb(&self) -> &'static str {
        self.pattern.map_or(self.route.verb(), |pattern| pattern.act.name())
    }

    /// Whether the BLAKE3 of all data follows from the digests of blocks.
    pub fn merges_digests(&self) -> bool {
        self.digest_blocks.is_some_and(|blocks| blocks.give(&self.hashes))
    }

    /// Whether the digests of blocks are all that a resumed copy needs of what earlier runs copied, so that blocks with
    /// a recorded digest are not read again. With `--verify` they are: the source is compared too. One block has no
    /// value of a part.
    pub fn digests_by_blocks(&self) -> bool {
        let checks_ranges = self.block_map.as_ref().is_some_and(|map| map.algorithm.is_some());
        self.records_digests()
            && !checks_ranges
            && self.read_back.is_none()
            && self.hashes.iter().all(|kind| *kind == HashKind::Blake3)
    }

    /// Whether the journal of this copy records the digests of blocks.
    pub fn records_digests(&self) -> bool {
        self.merges_digests() && self.digest_blocks.zip(self.len).is_some_and(|(blocks, len)| len > blocks.block_bytes)
    }

    /// Whether a side has a list of ranges.
    pub fn is_listed(&self) -> bool {
        self.list().is_some()
    }

    /// Description of the list for messages; that of the source if both sides have one: `3 ranges of list`.
    pub fn list(&self) -> Option<String> {
        self.source.map.name().or_else(|| self.dest.map.name())
    }

    /// The pieces of a part of the copy, each contiguous on both sides.
    pub fn pieces(&self, of: Extent) -> impl Iterator<Item = Piece> + '_ {
        pieces([&self.source.map, &self.dest.map], of)
    }

    /// The plan of one side.
    pub fn side(&self, side: Side) -> &PlanSide {
        match side {
            Side::Source => &self.source,
            Side::Dest => &self.dest,
        }
    }
}
