use crate::core::{Moment, Phase, SharedPart, SidePart, Tally};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The counters of a [`Tally`] at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Time since progress began.
    pub(super) at: Duration,
    /// Bytes read from the source.
    pub(super) read_bytes: u64,
    /// Bytes acknowledged by the dest, or read from it for comparing.
    pub(super) written_bytes: u64,
    /// Bytes zeroed by the dest.
    pub(super) zeroed_bytes: u64,
    /// Bytes left as holes.
    pub(super) hole_bytes: u64,
    /// Bytes already durable after earlier runs.
    pub(super) already_bytes: u64,
    /// Bytes of compressed files that were read and written, and the size of the one that is read; 0: none, unknown.
    pub(super) stored_bytes: [u64; 2],
    pub(super) stored_total_bytes: u64,
    /// The part of each side that takes most of its time.
    pub(super) slowest_part: [Option<SidePart>; 2],
    /// Logical blocks that could not be read.
    pub(super) unread_sectors: u64,
    /// Time in which the pool was full and no other block size or depth was tried.
    pub(super) settled: Duration,
    /// Bytes acknowledged in that time.
    pub(super) settled_bytes: u64,
    /// Time spent waiting for each side.
    pub(super) waited: [Duration; 2],
    /// Time for which the limit and the digests delayed it.
    pub(super) held: [Duration; 2],
    /// The current phase.
    pub(super) phase: Phase,
    /// Bytes per request.
    pub(super) block_bytes: u32,
    /// Maximum number of requests in flight.
    pub(super) queue_depth: [u32; 2],
    pub(super) pool_bytes: u32,
}

impl Sample {
    /// The sum of the tallies of concurrent runs. They are read one after the other, so they may differ by a
    /// block.
    pub(super) fn of(tallies: &[Arc<Tally>], at: Duration) -> Self {
        tallies.iter().map(|tally| Sample::of_one(tally, at)).reduce(Sample::and).expect("a run is being shown")
    }

    fn of_one(tally: &Tally, at: Duration) -> Self {
        let time = |ns: &AtomicU64| Duration::from_nanos(ns.load(Relaxed));
        Sample {
            at,
            read_bytes: tally.read_bytes.load(Relaxed),
            written_bytes: tally.dest_bytes(),
            zeroed_bytes: tally.zeroed_bytes.load(Relaxed),
            hole_bytes: tally.hole_bytes.load(Relaxed),
            already_bytes: tally.already_bytes.load(Relaxed),
            stored_bytes: tally.stored_bytes.each_ref().map(|bytes| bytes.load(Relaxed)),
            stored_total_bytes: tally.stored_total_bytes.load(Relaxed),
            slowest_part: tally.slowest_part.each_ref().map(SharedPart::get),
            unread_sectors: tally.unread_sectors.load(Relaxed),
            settled: time(&tally.settled_ns),
            settled_bytes: tally.settled_bytes.load(Relaxed),
            waited: tally.waited_ns.each_ref().map(time),
            held: [&tally.limit_waited_ns, &tally.digest_waited_ns].map(time),
            phase: match tally.phase.load(Relaxed) {
                0 => Phase::Copying,
                1 => Phase::Flushing,
                _ => Phase::Ended,
            },
            block_bytes: tally.block_bytes.load(Relaxed),
            queue_depth: tally.queue_depth.each_ref().map(|most| most.load(Relaxed)),
            pool_bytes: tally.pool_bytes.load(Relaxed),
        }
    }

    /// The sum of two samples of the same moment: a phase counts until both have left it.
    fn and(self, other: Sample) -> Sample {
        let both = |one: [Duration; 2], other: [Duration; 2]| [one[0] + other[0], one[1] + other[1]];
        Sample {
            read_bytes: self.read_bytes + other.read_bytes,
            written_bytes: self.written_bytes + other.written_bytes,
            zeroed_bytes: self.zeroed_bytes + other.zeroed_bytes,
            hole_bytes: self.hole_bytes + other.hole_bytes,
            already_bytes: self.already_bytes + other.already_bytes,
            unread_sectors: self.unread_sectors + other.unread_sectors,
            settled: self.settled.max(other.settled),
            settled_bytes: self.settled_bytes + other.settled_bytes,
            waited: both(self.waited, other.waited),
            held: both(self.held, other.held),
            phase: if (other.phase as u8) < self.phase as u8 { other.phase } else { self.phase },
            ..self
        }
    }

    /// The values for the series.
    pub(super) fn moment(&self) -> Moment {
        Moment {
            at: self.at,
            read_bytes: self.read_bytes,
            dest_bytes: self.written_bytes,
            copied_bytes: self.copied_bytes(),
            waited: self.waited,
            limit_waited: self.held[0],
            digest_waited: self.held[1],
        }
    }

    /// Bytes acknowledged by the dest in any form, in this run.
    pub(super) fn copied_bytes(&self) -> u64 {
        self.written_bytes + self.zeroed_bytes + self.hole_bytes
    }
}
