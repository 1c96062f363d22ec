//! Chooses the pieces in which a block with a failed read is read again. No I/O.

/// Size of the pieces in which a failed block is read first. The next smaller size is the logical block: a disk may
/// take seconds to fail a read, while a hundred successful reads take less.
const PIECE_BYTES: u32 = 64 << 10;

/// After a bad logical block, the next piece is one logical block, because bad blocks tend to be adjacent. Each
/// successful piece is followed by one larger by this factor.
const GROWTH: u32 = 8;

/// The block that is divided into pieces. Other offsets in this file count from its first byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// Offset on its side.
    pub(super) offset: u64,
    /// Length in bytes.
    pub(super) len: u32,
    /// Smallest readable unit in bytes; its multiples on the side are the borders of logical blocks.
    pub(super) finest_bytes: u32,
}

impl Block {
    /// The piece that contains byte `at`, if the side is divided into pieces of `bytes`.
    fn piece(&self, at: u32, bytes: u32) -> (u32, u32) {
        let into = ((self.offset + u64::from(at)) % u64::from(bytes)) as u32;
        (at.saturating_sub(into), (u64::from(at) + u64::from(bytes - into)).min(self.len.into()) as u32)
    }
}

/// What to do after a piece failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Read only up to this byte.
    ReadTo(u32),
    /// Read the same piece again.
    Again,
    /// The piece is one logical block, and it is bad.
    Bad,
}

/// State of the search for bad logical blocks in a block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BadBlockSearch {
    /// Maximum size of the current piece; 0 if nothing has failed yet.
    piece_bytes: u32,
    /// A read up to this byte failed, and the cause was not found yet; 0 if none.
    suspect_until: u32,
    /// Number of failed reads of the current piece, if it is one logical block.
    tried: u32,
}

impl BadBlockSearch {
    /// Whether no read of the block has failed.
    pub(super) fn is_idle(&self) -> bool {
        self.piece_bytes == 0
    }

    /// Called when the read of `at..until` failed. `error_offset` is the offset that the device reported; `tries` is
    /// the number of retries before a logical block counts as bad.
    pub(super) fn failed(&mut self, block: Block, at: u32, until: u32, error_offset: Option<u64>, tries: u32) -> Step {
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
        let error_offset = error_offset.and_then(|byte| u32::try_from(byte.checked_sub(block.offset)?).ok());
        if let Some(byte) = error_offset.filter(|byte| (at..until).contains(byte)) {
            self.piece_bytes = block.finest_bytes;
            // Read everything before the reported logical block at once; if it is the first one, read it alone.
            let (start, _) = block.piece(byte, block.finest_bytes);
            return Step::ReadTo(if start > at { start } else { first_end });
        }
        self.piece_bytes = if until - at > PIECE_BYTES { PIECE_BYTES } else { block.finest_bytes };
        Step::ReadTo(block.piece(at, self.piece_bytes).1)
    }

    /// Called when everything before `at` has been read; returns the end of the next piece.
    pub(super) fn on_block_ready(&mut self, block: Block, at: u32) -> u32 {
        if at >= self.suspect_until {
            self.suspect_until = 0;
            self.piece_bytes = self.piece_bytes.saturating_mul(GROWTH);
        }
        self.tried = 0;
        block.piece(at, self.piece_bytes).1
    }

    /// Called after the bad logical block that ends at `at`; returns the end of the next piece.
    pub(super) fn on_bad_block(&mut self, block: Block, at: u32) -> u32 {
        (self.suspect_until, self.tried, self.piece_bytes) = (0, 0, block.finest_bytes);
        block.piece(at, self.piece_bytes).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Result of reading a block.
    #[derive(Debug, Default)]
    struct ReadOutcome {
        /// Offsets of the logical blocks that count as bad.
        bad: Vec<u64>,
        /// Bytes read, each counted once.
        read: u64,
        reads: u32,
        failures: u32,
    }

    /// Reads `block`, in which the logical blocks at `bad` fail. With `reports_offset`, the device reports the offset
    /// of the first one.
    fn read(block: Block, bad: &[u64], reports_offset: bool, tries: u32) -> ReadOutcome {
        let (mut around, mut outcome) = (BadBlockSearch::default(), ReadOutcome::default());
        let (mut at, mut until) = (0, block.len);
        while at < block.len {
            outcome.reads += 1;
            assert!(at < until && until <= block.len && outcome.reads < 1_000_000, "{at} {until}");
            let place = block.offset + u64::from(at)..block.offset + u64::from(until);
            let hit = |&&start: &&u64| start < place.end && start + u64::from(block.finest_bytes) > place.start;
            let Some(&first) = bad.iter().find(hit) else {
                outcome.read += u64::from(until - at);
                at = until;
                if at < block.len {
                    until = if around.is_idle() { block.len } else { around.on_block_ready(block, at) };
                }
                continue;
            };
            outcome.failures += 1;
            let error_offset = reports_offset.then_some(first.max(place.start));
            match around.failed(block, at, until, error_offset, tries) {
                Step::ReadTo(shorter) => until = shorter,
                Step::Again => {}
                Step::Bad => {
                    outcome.bad.push(first);
                    at = until;
                    until = around.on_bad_block(block, at);
                }
            }
        }
        outcome
    }

    proptest! {
        #[test]
        fn exactly_the_bad_logical_blocks_are_omitted(
            skip in 0u64..2000, len in 1u32..600_000, power in 0u32..4,
            bad in prop::collection::btree_set(0u64..1200, 0..40), reports_offset: bool, tries in 0u32..3,
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
            let outcome = read(block, &bad, reports_offset, tries);
            prop_assert_eq!(&outcome.bad, &expected);
            prop_assert_eq!(outcome.read + lost, u64::from(len));
            // For each bad logical block, at most the whole block and one large piece fail, plus the retries.
            let most = expected.len() as u32 * (4 + tries);
            prop_assert!(outcome.failures <= most, "{} failures of {} bad", outcome.failures, expected.len());
        }
    }

    #[test]
    fn one_bad_sector_costs_three_failures_or_two_if_the_disk_names_it() {
        let block = Block { offset: 1 << 30, len: 1 << 20, finest_bytes: 512 };
        let bad = [(1 << 30) + 300_032];
        let [blind, reported] = [false, true].map(|reports_offset| read(block, &bad, reports_offset, 0));
        assert_eq!((blind.failures, reported.failures), (3, 2));
        assert!(blind.reads < 160 && reported.reads < 12, "{blind:?} {reported:?}");
    }

    #[test]
    fn a_block_that_is_all_bad_costs_little_more_than_its_sectors() {
        let block = Block { offset: 0, len: 1 << 20, finest_bytes: 4096 };
        let bad: Vec<u64> = (0..256).map(|number| number * 4096).collect();
        assert_eq!(read(block, &bad, false, 0).failures, 256 + 2);
    }
}
