//! The best fixed limits, found by trying them all on the same pair with the same random numbers.
use super::pump::{Fixed, Job};
use super::spec::{Pair, READ, WRITE};
use super::start::{POOL_BYTES, largest_block};
use haul::engine::valves::Limits;

/// The best limits, and the time of a copy with them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Best {
    pub(super) took_s: f64,
    pub(super) limits: Limits,
    pub(super) pool_bytes: u64,
}

/// Larger copies are not tried with all limits, but with those that were best for `SAMPLE_BYTES`, and a few more.
const SHORT_BYTES: u64 = 2 << 30;
/// See [`SHORT_BYTES`].
const SAMPLE_BYTES: u64 = 256 << 20;

struct Search<'a> {
    pair: &'a Pair,
    len: u64,
    seed: u64,
    best: Option<Best>,
}

impl Search<'_> {
    fn try_limits(&mut self, limits: Limits, pool_bytes: u64) {
        let job = Job { pair: self.pair, len: self.len, pool_bytes, seed: self.seed };
        let took_s = job.copy(&mut Fixed(limits));
        if self.best.is_none_or(|best| took_s < best.took_s) {
            self.best = Some(Best { took_s, limits, pool_bytes });
        }
    }

    /// A limit for each side and a pool of blocks between them.
    fn try_sides(&mut self, block_bytes: u32, in_flight: [u32; 2]) {
        if u64::from(block_bytes) * u64::from(in_flight[READ].max(in_flight[WRITE])) <= POOL_BYTES {
            self.try_limits(Limits { block_bytes, in_flight, bursts: false }, POOL_BYTES);
        }
    }

    /// One depth for both sides together; half of it for a side that reports itself as rotational.
    fn try_shared(&mut self, block_bytes: u32, depth: u32) {
        let pool_bytes = u64::from(block_bytes) * u64::from(depth);
        if pool_bytes <= POOL_BYTES && !self.pair.one_known {
            let half = |side: usize| if self.pair.disks[side].reported_rotational { (depth / 2).max(1) } else { depth };
            let in_flight = [half(READ), half(WRITE)];
            self.try_limits(Limits { block_bytes, in_flight, bursts: false }, pool_bytes);
        }
    }

    fn try_all(&mut self) {
        for block_bytes in [256 << 10, 1 << 20, 4 << 20] {
            for depth in [2, 4, 8, 16, 32, 64] {
                self.try_shared(block_bytes, depth);
            }
        }
        if let Some(Best { limits: Limits { block_bytes, .. }, pool_bytes, .. }) = self.best {
            let depth = (pool_bytes / u64::from(block_bytes)) as u32;
            self.try_shared(block_bytes / 2, depth);
            self.try_shared(block_bytes / 2, depth * 2);
            self.try_shared(block_bytes * 2, depth);
            self.try_shared(block_bytes * 2, (depth / 2).max(1));
        }
        let counts = [1, 2, 4, 8, 16, 32];
        for block_bytes in [256 << 10, 1 << 20, 4 << 20] {
            for reads in counts {
                counts.iter().for_each(|&writes| self.try_sides(block_bytes, [reads, writes]));
            }
        }
        if let Some(Best { limits: Limits { block_bytes, in_flight: [reads, writes], .. }, .. }) = self.best {
            for block_bytes in [block_bytes / 2, block_bytes * 2] {
                self.try_sides(block_bytes, [reads, writes]);
                self.try_sides(block_bytes, [reads * 2, writes * 2]);
                self.try_sides(block_bytes, [reads.div_ceil(2), writes.div_ceil(2)]);
            }
        }
        if self.pair.one {
            for block_bytes in [1 << 20, 4 << 20] {
                for count in [1, 2, 4, 16] {
                    let limits = Limits { block_bytes, in_flight: [count; 2], bursts: true };
                    self.try_limits(limits, POOL_BYTES);
                }
            }
        }
    }
}

/// The best limits for a copy of `len` bytes.
pub(super) fn find(pair: &Pair, len: u64, seed: u64) -> Best {
    let mut search = Search { pair, len: if len > SHORT_BYTES { SAMPLE_BYTES } else { len }, seed, best: None };
    search.try_all();
    if len > SHORT_BYTES {
        let sampled = search.best;
        search = Search { pair, len, seed, best: None };
        if let Some(best) = sampled {
            search.try_limits(best.limits, best.pool_bytes);
        }
        let largest = largest_block(pair, 1 << 20);
        for count in [2, 8, 16] {
            search.try_sides(largest, [count; 2]);
        }
        for (block_bytes, count) in [(1 << 20, 4), (4 << 20, 2), (512 << 10, 32), (256 << 10, 32)] {
            search.try_sides(block_bytes, [count; 2]);
        }
        if pair.one {
            search.try_limits(Limits { block_bytes: 1 << 20, in_flight: [2; 2], bursts: true }, POOL_BYTES);
        }
    }
    search.best.expect("a trial was made")
}
