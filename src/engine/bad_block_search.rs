//! In which pieces a block is read of which a read has failed: arithmetic alone, no I/O.

/// What a block is read in once it has failed, to find the bad place in it. There is no size between this and the
/// logical block: a disk may try for seconds before it fails a read, and a hundred good ones take less.
const PIECE_BYTES: u32 = 64 << 10;

/// Behind a bad logical block the next piece is one, as bad ones like company. Each good piece is followed by one that
/// is larger by this factor.
const GROWTH: u32 = 8;

/// What a block's pieces are cut from. Other offsets here count from its first byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// Its first byte on its side.
    pub(super) offset: u64,
    /// Bytes.
    pub(super) len: u32,
    /// The least that can be read, in bytes; logical blocks begin at multiples of it on the side.
    pub(super) finest_bytes: u32,
}

impl Block {
    /// The piece that holds byte `at`, if pieces of `bytes` are laid from the beginning of the side.
    fn piece(&self, at: u32, bytes: u32) -> (u32, u32) {
        let into = ((self.offset + u64::from(at)) % u64::from(bytes)) as u32;
        (at.saturating_sub(into), (u64::from(at) + u64::from(bytes - into)).min(self.len.into()) as u32)
    }
}

/// What to do about a piece that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Read up to here instead.
    ReadTo(u32),
    /// Read the same once more.
    Again,
    /// It is one logical block that cannot be read.
    Bad,
}

/// How far the search for the bad places of a block is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BadBlockSearch {
    /// Bytes of the present piece at most; 0: nothing has failed yet.
    piece_bytes: u32,
    /// Something before this byte has failed and was not found yet; 0: nothing is suspected.
    suspect_until: u32,
    /// Tries of the present piece that failed, where it is one logical block.
    tried: u32,
}

impl BadBlockSearch {
    /// Nothing of the block has failed.
    pub(super) fn is_idle(&self) -> bool {
        self.piece_bytes == 0
    }

    /// The read of `at..until` has failed. `blamed`: the byte that the device names; `tries`: how often a logical block
    /// is read again before it counts as bad.
    pub(super) fn failed(&mut self, block: Block, at: u32, until: u32, blamed: Option<u64>, tries: u32) -> Step {
        let (_, first_end) = block.piece(at, block.finest_bytes);
        if until <= first_end {
            self.piece_bytes = block.finest_bytes;
            if self.tried < tries {
                self.tried += 1;
                return Step::Again;
            }
            return Step::Bad;
        }
        (self.suspect_until, self.tried) = (until, 0);
        let blamed = blamed.and_then(|byte| u32::try_from(byte.checked_sub(block.offset)?).ok());
        if let Some(byte) = blamed.filter(|byte| (at..until).contains(byte)) {
            self.piece_bytes = block.finest_bytes;
            // All before the logical block that is blamed is read at once; if that is the first, it is read alone.
            let (start, _) = block.piece(byte, block.finest_bytes);
            return Step::ReadTo(if start > at { start } else { first_end });
        }
        self.piece_bytes = if until - at > PIECE_BYTES { PIECE_BYTES } else { block.finest_bytes };
        Step::ReadTo(block.piece(at, self.piece_bytes).1)
    }

    /// All before `at` has been read; where to read to next.
    pub(super) fn on_block_ready(&mut self, block: Block, at: u32) -> u32 {
        if at >= self.suspect_until {
            self.suspect_until = 0;
            self.piece_bytes = self.piece_bytes.saturating_mul(GROWTH);
        }
        self.tried = 0;
        block.piece(at, self.piece_bytes).1
    }

    /// All before `at` has been read but for a bad logical block, which ends there; where to read to next.
    pub(super) fn on_bad_block(&mut self, block: Block, at: u32) -> u32 {
        (self.suspect_until, self.tried, self.piece_bytes) = (0, 0, block.finest_bytes);
        block.piece(at, self.piece_bytes).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The result of reading a block.
    #[derive(Debug, Default)]
    struct ReadOutcome {
        /// First bytes of logical blocks that count as bad.
        bad: Vec<u64>,
        /// Bytes that were read, each once.
        read: u64,
        reads: u32,
        failures: u32,
    }

    /// Reads `block`, of which the logical blocks at `bad` fail; `blames`: the device names the first of them.
    fn read(block: Block, bad: &[u64], blames: bool, tries: u32) -> ReadOutcome {
        let (mut around, mut came) = (BadBlockSearch::default(), ReadOutcome::default());
        let (mut at, mut until) = (0, block.len);
        while at < block.len {
            came.reads += 1;
            assert!(at < until && until <= block.len && came.reads < 1_000_000, "{at} {until}");
            let place = block.offset + u64::from(at)..block.offset + u64::from(until);
            let hit = |&&start: &&u64| start < place.end && start + u64::from(block.finest_bytes) > place.start;
            let Some(&first) = bad.iter().find(hit) else {
                came.read += u64::from(until - at);
                at = until;
                if at < block.len {
                    until = if around.is_idle() { block.len } else { around.on_block_ready(block, at) };
                }
                continue;
            };
            came.failures += 1;
            let blamed = blames.then_some(first.max(place.start));
            match around.failed(block, at, until, blamed, tries) {
                Step::ReadTo(shorter) => until = shorter,
                Step::Again => {}
                Step::Bad => {
                    came.bad.push(first);
                    at = until;
                    until = around.on_bad_block(block, at);
                }
            }
        }
        came
    }

    proptest! {
        #[test]
        fn exactly_the_bad_logical_blocks_are_left_out(
            skip in 0u64..2000, len in 1u32..600_000, power in 0u32..4,
            bad in prop::collection::btree_set(0u64..1200, 0..40), blames: bool, tries in 0u32..3,
        ) {
            let finest_bytes = 512 << power;
            let block = Block { offset: 3 * 4096 + skip, len, finest_bytes };
            let bad: Vec<u64> = bad.into_iter().map(|number| number * u64::from(finest_bytes)).collect();
            let end = block.offset + u64::from(len);
            let within = |&start: &u64| start < end && start + u64::from(finest_bytes) > block.offset;
            let expected: Vec<u64> = bad.iter().copied().filter(within).collect();
            let lost: u64 = expected.iter().map(|&start| {
                (start + u64::from(finest_bytes)).min(end) - start.max(block.offset)
            }).sum();
            let came = read(block, &bad, blames, tries);
            prop_assert_eq!(&came.bad, &expected);
            prop_assert_eq!(came.read + lost, u64::from(len));
            // The block and a large piece at the most fail beside each bad logical block, and its tries.
            let most = expected.len() as u32 * (4 + tries);
            prop_assert!(came.failures <= most, "{} failures of {} bad", came.failures, expected.len());
        }
    }

    #[test]
    fn one_bad_sector_costs_three_failures_and_two_where_the_disk_names_it() {
        let block = Block { offset: 1 << 30, len: 1 << 20, finest_bytes: 512 };
        let bad = [(1 << 30) + 300_032];
        let [blind, told] = [false, true].map(|blames| read(block, &bad, blames, 0));
        assert_eq!((blind.failures, told.failures), (3, 2));
        assert!(blind.reads < 160 && told.reads < 12, "{blind:?} {told:?}");
    }

    #[test]
    fn a_block_that_is_all_bad_costs_little_more_than_its_sectors() {
        let block = Block { offset: 0, len: 1 << 20, finest_bytes: 4096 };
        let bad: Vec<u64> = (0..256).map(|number| number * 4096).collect();
        assert_eq!(read(block, &bad, false, 0).failures, 256 + 2);
    }
}
