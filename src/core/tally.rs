//! Hot numbers: written by the pump, polled by the progress display.
use super::DestTally;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Running totals. Relaxed atomics that an observer polls: no lock, no message and no clock call per block.
#[derive(Debug, Default)]
pub struct Tally {
    /// Bytes that the source has delivered.
    pub read_bytes: AtomicU64,
    /// Bytes of data that the dest has acknowledged.
    pub written_bytes: AtomicU64,
    /// Bytes that the dest was requested to zero, acknowledged; none of them was sent.
    pub zeroed_bytes: AtomicU64,
    /// Bytes left as holes in the dest.
    pub hole_bytes: AtomicU64,
    /// Bytes that earlier runs of the copy made durable; set before the first request, or, where they are read again
    /// for digests of all data, those that were so far.
    pub already_bytes: AtomicU64,
    /// Bytes that the dest had already, so that they were not written.
    pub unchanged_bytes: AtomicU64,
    /// Bytes of the dest that were compared with the source's.
    pub compared_bytes: AtomicU64,
    /// Logical blocks that could not be read and were skipped.
    pub unread_sectors: AtomicU64,
    /// Time in which the pump had nothing to do but wait for this side, by [`super::Side::index`], in nanoseconds.
    pub waited_ns: [AtomicU64; 2],
    /// Time in which the limit held the copy back, in nanoseconds.
    pub limit_waited_ns: AtomicU64,
    /// Time in which the digests did, in nanoseconds.
    pub digest_waited_ns: AtomicU64,
    /// Requests in flight on each side, by [`super::Side::index`].
    pub in_flight: [AtomicU32; 2],
    /// Bytes per request at present.
    pub block_bytes: AtomicU32,
    /// Most requests in flight at present, by [`super::Side::index`].
    pub queue_depth: [AtomicU32; 2],
    /// Memory of all blocks.
    pub pool_bytes: AtomicU32,
    /// Time in which the pipe was full and no other block size or depth was tried, in nanoseconds: what came in it is
    /// what the rest will be like.
    pub settled_ns: AtomicU64,
    /// Bytes of data that came through in that time.
    pub settled_bytes: AtomicU64,
    /// Those of each dest, where there are several; set before the first request.
    pub dests: Vec<Arc<DestTally>>,
    /// 0 copying, 1 flushing, 2 ended: the numbers of [`super::Phase`].
    pub phase: AtomicU8,
}

impl Tally {
    /// Bytes that are through in any form: data that the dest has acknowledged, zeros, holes, and what was compared.
    pub fn copied_bytes(&self) -> u64 {
        self.dest_bytes() + self.zeroed_bytes.load(Relaxed) + self.hole_bytes.load(Relaxed)
    }

    /// Bytes of data that the dest has acknowledged, or given to be compared.
    pub fn dest_bytes(&self) -> u64 {
        let here = [&self.written_bytes, &self.unchanged_bytes, &self.compared_bytes];
        here.into_iter().map(|bytes| bytes.load(Relaxed)).sum()
    }

    /// So much of the copy has been settled by now.
    pub fn note_settled(&self, time: Duration, bytes: u64) {
        self.settled_ns.store(time.as_nanos() as u64, Relaxed);
        self.settled_bytes.store(bytes, Relaxed);
    }
}

/// The numbers of a run that is shown, and the bytes that it has to move.
#[derive(Clone, Debug)]
pub struct RunTally {
    /// Polled.
    pub tally: Arc<Tally>,
    /// `None`: to the end of a stream.
    pub total_bytes: Option<u64>,
}
