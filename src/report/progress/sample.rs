use crate::core::{Moment, Phase, Tally};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The numbers of a [`Tally`] at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Since progress began.
    pub(super) at: Duration,
    /// Delivered by the source.
    pub(super) read_bytes: u64,
    /// Data acknowledged by the dest, or read from it to be compared.
    pub(super) written_bytes: u64,
    /// Zeroed by the dest.
    pub(super) zeroed_bytes: u64,
    /// Left as holes.
    pub(super) hole_bytes: u64,
    /// Durable since earlier runs of the copy.
    pub(super) already_bytes: u64,
    /// Logical blocks that could not be read.
    pub(super) unread_sectors: u64,
    /// Time in which the pipe was full and no other block size or depth was tried.
    pub(super) settled: Duration,
    /// Data acknowledged in that time.
    pub(super) settled_bytes: u64,
    /// Time spent waiting for each side.
    pub(super) waited: [Duration; 2],
    /// Time in which the limit and the digests held it back.
    pub(super) held: [Duration; 2],
    /// What the copy is busy with.
    pub(super) phase: Phase,
    /// Bytes per request.
    pub(super) block_bytes: u32,
    /// Most requests in flight.
    pub(super) queue_depth: [u32; 2],
    pub(super) pool_bytes: u32,
}

impl Sample {
    /// The tallies of what runs at once, as they are now, taken together. Their numbers are read one after the other,
    /// so they may be a block apart.
    pub(super) fn of(tallies: &[Arc<Tally>], at: Duration) -> Self {
        tallies.iter().map(|tally| Sample::of_one(tally, at)).reduce(Sample::and).expect("there is a run to be shown")
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

    /// Both together, which are of one moment: what one is still busy with, both are.
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

    /// What of it is worth keeping.
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

    /// Acknowledged by the dest in any form, in this run.
    pub(super) fn copied_bytes(&self) -> u64 {
        self.written_bytes + self.zeroed_bytes + self.hole_bytes
    }
}
