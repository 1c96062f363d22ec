//! Counters: updated by the pump, polled by the progress display.
use super::{DestTally, Endpoint, SharedPart, Side};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Counters of a running copy. Relaxed atomics that an observer polls: no lock, message or clock call per block.
#[derive(Debug, Default)]
pub struct Tally {
    /// Bytes read from the source.
    pub read_bytes: AtomicU64,
    /// Bytes of data that the dest acknowledged.
    pub written_bytes: AtomicU64,
    /// Bytes that the dest zeroed without receiving data.
    pub zeroed_bytes: AtomicU64,
    /// Bytes left as holes in the dest.
    pub hole_bytes: AtomicU64,
    /// Bytes that earlier runs of the copy made durable. Set before the first request, or, if they are read again for
    /// digests of all data, increased as they are read.
    pub already_bytes: AtomicU64,
    /// Bytes that were not written because the dest already had them.
    pub unchanged_bytes: AtomicU64,
    /// Bytes that were read from the dest and compared with the source.
    pub compared_bytes: AtomicU64,
    /// Bytes of a compressed file that were read or written, by [`super::Side::index`]; 0: it is not compressed.
    pub stored_bytes: [AtomicU64; 2],
    /// Size of the compressed file that is read; 0: unknown.
    pub stored_total_bytes: AtomicU64,
    /// The part of each side that takes most of its time, by [`super::Side::index`].
    pub slowest_part: [SharedPart; 2],
    /// Logical blocks that could not be read and were skipped.
    pub unread_sectors: AtomicU64,
    /// Time during which the pump waited for this side only, in nanoseconds, by [`super::Side::index`].
    pub waited_ns: [AtomicU64; 2],
    /// Time during which the rate limit delayed the copy, in nanoseconds.
    pub limit_waited_ns: AtomicU64,
    /// Time during which the pump waited for digests only, in nanoseconds.
    pub digest_waited_ns: AtomicU64,
    /// Requests in flight on each side, by [`super::Side::index`].
    pub in_flight: [AtomicU32; 2],
    /// Current block size, in bytes.
    pub block_bytes: AtomicU32,
    /// Current queue depth of each side, by [`super::Side::index`].
    pub queue_depth: [AtomicU32; 2],
    /// Memory of all blocks, in bytes.
    pub pool_bytes: AtomicU32,
    /// Time in steady state, without trials of other limits, in nanoseconds. The rate in this time predicts the rate of
    /// the rest.
    pub settled_ns: AtomicU64,
    /// Bytes of data transferred in that time.
    pub settled_bytes: AtomicU64,
    /// The counters of each of several dests; set before the first request.
    pub dests: Vec<Arc<DestTally>>,
    /// Number of the current [`super::Phase`].
    pub phase: AtomicU8,
}

impl Tally {
    /// Bytes copied in any form: data that the dest acknowledged, zeros, holes, and compared data.
    pub fn copied_bytes(&self) -> u64 {
        self.dest_bytes() + self.zeroed_bytes.load(Relaxed) + self.hole_bytes.load(Relaxed)
    }

    /// Bytes of data that the dest acknowledged, or that were read from it for comparison.
    pub fn dest_bytes(&self) -> u64 {
        let here = [&self.written_bytes, &self.unchanged_bytes, &self.compared_bytes];
        here.into_iter().map(|bytes| bytes.load(Relaxed)).sum()
    }

    /// Records the parts of a side: the bytes of a compressed file, and which part is the slowest.
    pub fn note_parts(&self, side: Side, end: &dyn Endpoint) {
        self.slowest_part[side.index()].set(end.slowest_part());
        let Some(stored) = end.stored() else { return };
        self.stored_bytes[side.index()].store(stored.done, Relaxed);
        if side == Side::Source {
            self.stored_total_bytes.store(stored.total.unwrap_or(0), Relaxed);
        }
    }

    /// Stores the time in steady state and the bytes transferred in it.
    pub fn note_settled(&self, time: Duration, bytes: u64) {
        self.settled_ns.store(time.as_nanos() as u64, Relaxed);
        self.settled_bytes.store(bytes, Relaxed);
    }
}

/// The counters of a run that is displayed, and its length.
#[derive(Clone, Debug)]
pub struct RunTally {
    /// The counters.
    pub tally: Arc<Tally>,
    /// Bytes to copy; `None` for a stream, which is copied to its end.
    pub total_bytes: Option<u64>,
}
