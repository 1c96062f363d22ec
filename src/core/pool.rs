//! A pool of blocks of several sizes in one arena, managed by a bitmap of allocation units.
use super::buffer::{Arena, Buffer, PAGE_BYTES};
use std::sync::Arc;

/// Allocates buffers from an arena. Block sizes are the allocation unit times powers of two.
///
/// A block of 2^k units is aligned to 2^k units, as in a buddy allocator, so free space left by blocks of one size
/// always fits another block of that size. The lowest free run is allocated first, which keeps the memory in use small
/// and warm in caches. Nothing is allocated on the heap after [`Pool::new`].
pub struct Pool {
    arena: Arc<Arena>,
    unit_bytes: usize,
    units: usize,
    /// One bit per unit; 1 means free.
    free: Vec<u64>,
    free_units: usize,
}

const WORD_BITS: usize = u64::BITS as usize;
/// Maximum units of a block: a run never crosses a word of the bitmap.
const RUN_UNITS_MAX: usize = WORD_BITS;

impl Pool {
    /// A pool of `units` units of `unit_bytes`, rounded up to whole pages. The first `ready_bytes` become resident now,
    /// so that no page fault delays the copy; only they can be registered with a ring.
    ///
    /// # Errors
    /// The error of `mmap(2)`, usually ENOMEM.
    pub fn new(unit_bytes: u32, units: u32, ready_bytes: usize) -> std::io::Result<Self> {
        let (unit_bytes, units) = ((unit_bytes as usize).next_multiple_of(PAGE_BYTES), units as usize);
        let arena = Arena::for_pool(unit_bytes * units, ready_bytes)?;
        let free = (0..units.div_ceil(WORD_BITS)).map(|word| ones(units - word * WORD_BITS)).collect();
        Ok(Pool { arena, unit_bytes, units, free, free_units: units })
    }

    /// The arena that contains all blocks.
    pub fn arena(&self) -> &Arc<Arena> {
        &self.arena
    }

    /// Maximum number of blocks in use: the number of units.
    pub fn blocks_max(&self) -> u32 {
        self.units as u32
    }

    /// Allocates a buffer of `block_bytes`; `None` if no run of free units is long enough.
    pub fn take(&mut self, block_bytes: u32) -> Option<Buffer> {
        let run = self.run_units(block_bytes);
        let first = if run == 1 { self.first_free_unit()? } else { self.first_free_run(run)? };
        self.free[first / WORD_BITS] &= !(ones(run) << (first % WORD_BITS));
        self.free_units -= run;
        // SAFETY: inside the arena, because runs are inside its units. No other buffer contains these units: their bits
        // were set, and stay cleared until this buffer is released.
        Some(unsafe { Buffer::within(&self.arena, first * self.unit_bytes, block_bytes) })
    }

    /// Returns a buffer that [`Pool::take`] handed out.
    pub fn release(&mut self, buffer: Buffer) {
        let first = buffer.offset_in(&self.arena).expect("a buffer of this pool") / self.unit_bytes;
        let run = self.run_units(buffer.len());
        self.free[first / WORD_BITS] |= ones(run) << (first % WORD_BITS);
        self.free_units += run;
    }

    /// Number of units of a block, rounded up to a power of two.
    fn run_units(&self, block_bytes: u32) -> usize {
        let run = (block_bytes as usize).div_ceil(self.unit_bytes).max(1).next_power_of_two();
        assert!(run <= RUN_UNITS_MAX, "a block of {block_bytes} bytes is too large for units of {}", self.unit_bytes);
        run
    }

    fn first_free_unit(&self) -> Option<usize> {
        let word = self.free.iter().position(|&word| word != 0)?;
        Some(word * WORD_BITS + self.free[word].trailing_zeros() as usize)
    }

    fn first_free_run(&self, run: usize) -> Option<usize> {
        if self.free_units < run {
            return None;
        }
        let mask = ones(run);
        for (index, &word) in self.free.iter().enumerate() {
            let found = (0..WORD_BITS).step_by(run).find(|at| (word >> at) & mask == mask);
            if let Some(at) = found {
                return Some(index * WORD_BITS + at);
            }
        }
        None
    }
}

/// A word with the lowest `count` bits set, or all bits if `count` exceeds the word size.
fn ones(count: usize) -> u64 {
    if count >= WORD_BITS { u64::MAX } else { (1 << count) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const UNIT: u32 = 4096;

    #[test]
    fn a_pool_has_as_many_blocks_as_units() {
        for units in [1, 3, 64, 65, 200] {
            let mut pool = Pool::new(UNIT, units, 0).unwrap();
            let out: Vec<Buffer> = std::iter::from_fn(|| pool.take(UNIT)).collect();
            assert_eq!(out.len(), units as usize);
            out.into_iter().for_each(|buffer| pool.release(buffer));
            assert_eq!(pool.free_units, units as usize);
        }
    }

    #[test]
    fn blocks_of_one_size_fill_a_pool_in_any_order_of_return() {
        let mut pool = Pool::new(UNIT, 64, 0).unwrap();
        let mut out: Vec<Buffer> = std::iter::from_fn(|| pool.take(4 * UNIT)).collect();
        assert_eq!(out.len(), 16);
        for index in [3, 9, 1, 12, 0] {
            let buffer = out.swap_remove(index % out.len());
            pool.release(buffer);
        }
        assert_eq!(std::iter::from_fn(|| pool.take(4 * UNIT)).count(), 5);
    }

    #[test]
    fn a_block_of_any_number_of_units_shares_no_byte() {
        let mut pool = Pool::new(UNIT, 8, 0).unwrap();
        let [mut one, mut other] = [(); 2].map(|()| pool.take(3 * UNIT).unwrap());
        one.bytes_mut().fill(1);
        other.bytes_mut().fill(2);
        assert!(one.bytes().iter().all(|&byte| byte == 1) && one.len() == 3 * UNIT);
        assert!(pool.take(3 * UNIT).is_none());
    }

    #[test]
    fn only_memory_ready_from_the_start_counts_as_registered() {
        let mut pool = Pool::new(2 << 20, 2, 2 << 20).unwrap();
        pool.arena().set_registered(Some(0));
        let [first, second] = [(); 2].map(|()| pool.take(2 << 20).unwrap());
        assert_eq!((first.registered(), second.registered()), (Some(0), None));
    }

    proptest! {
        /// Blocks of changing sizes never overlap, keep their contents, and free all memory on release.
        #[test]
        fn blocks_of_any_sizes_never_overlap(
            steps in proptest::collection::vec((0u32..6, any::<prop::sample::Index>()), 1..200),
        ) {
            let mut pool = Pool::new(UNIT, 100, 0).unwrap();
            let mut out: Vec<(Buffer, u8)> = Vec::new();
            for (number, (size, victim)) in steps.into_iter().enumerate() {
                let (mark, taken) = (number as u8, if size < 5 { pool.take(UNIT << size) } else { None });
                match taken {
                    Some(mut buffer) => {
                        prop_assert_eq!(buffer.bytes().as_ptr() as usize % PAGE_BYTES, 0);
                        buffer.bytes_mut().fill(mark);
                        out.push((buffer, mark));
                    }
                    None if !out.is_empty() => {
                        let (buffer, mark) = out.swap_remove(victim.index(out.len()));
                        prop_assert!(buffer.bytes().iter().all(|&byte| byte == mark));
                        pool.release(buffer);
                    }
                    None => {}
                }
            }
            for (buffer, mark) in out.drain(..) {
                prop_assert!(buffer.bytes().iter().all(|&byte| byte == mark));
                pool.release(buffer);
            }
            // All free units are contiguous again.
            prop_assert_eq!(std::iter::from_fn(|| pool.take(32 * UNIT)).count(), 3);
        }
    }
}
