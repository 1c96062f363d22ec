//! What is wrong on a disk that the test pattern was written to.
use super::{Extent, ExtentSet};

/// Damaged runs that are kept apart. Beyond this, blocks are counted and no longer listed: a disk without one good
/// block must not fill the memory.
pub const DAMAGED_RUNS_MAX: usize = 1 << 16;

/// What a block is instead of what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DamageKind {
    /// Two blocks lie in each other's place: here is the one that belongs `distance` bytes further on, and the other
    /// way round.
    Swapped {
        /// In bytes; negative where the other lies before this one.
        distance: i64,
    },
    /// Another block of the pattern: the one that belongs `distance` bytes further on.
    Misplaced {
        /// In bytes; negative where that place lies before this one.
        distance: i64,
        /// The run that wrote it.
        run: u64,
    },
    /// Of another run: what this run wrote there was lost.
    Stale {
        /// The run that wrote it.
        run: u64,
    },
    /// One block up to some byte and another from there.
    Torn,
    /// Nothing but zeros: discarded, or never written.
    Zero,
    /// Nothing of the pattern.
    Foreign,
    /// Right but for some bits.
    Flipped,
}

impl DamageKind {
    /// The words for all kinds, in the order of [`DamageKind::index`].
    pub const NAMES: [&'static str; 7] = ["swapped", "misplaced", "stale", "torn", "zero", "foreign", "flipped"];

    /// Position in arrays of one entry a kind.
    pub fn index(self) -> usize {
        match self {
            DamageKind::Swapped { .. } => 0,
            DamageKind::Misplaced { .. } => 1,
            DamageKind::Stale { .. } => 2,
            DamageKind::Torn => 3,
            DamageKind::Zero => 4,
            DamageKind::Foreign => 5,
            DamageKind::Flipped => 6,
        }
    }

    /// The word for messages and JSON.
    pub fn name(self) -> &'static str {
        Self::NAMES[self.index()]
    }
}

/// Neighbouring blocks with the same damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DamagedRun {
    /// Which blocks; offsets count from the first byte of the disk.
    pub extent: Extent,
    /// What they are.
    pub kind: DamageKind,
    /// The first byte that is wrong; exact to 64 bytes for torn blocks, the first of the block where all of it is.
    pub first: u64,
    /// Bits that are wrong, where only some are; 0 otherwise.
    pub bits: u64,
}

/// What the damage of a whole disk says about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// Addresses repeat: the disk says that it is larger than it is.
    Wraps {
        /// What it holds, in bytes.
        holds_bytes: u64,
    },
    /// From this byte to the end of what was checked no block is right.
    NothingFrom {
        /// In bytes.
        offset: u64,
    },
}

/// What is wrong on a disk that the test pattern was written to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// Bytes of a block.
    pub block_bytes: u32,
    /// The run that was searched for.
    pub run: u64,
    /// Bytes that were judged, in whole blocks.
    pub checked_bytes: u64,
    /// Runs of damaged blocks, ascending.
    pub runs: Vec<DamagedRun>,
    /// Damaged blocks of each kind, by [`DamageKind::index`].
    pub blocks: [u64; DamageKind::NAMES.len()],
    /// Bits that are wrong in the blocks that are right but for some bits.
    pub flipped_bits: u64,
    /// There were more runs than are kept; their blocks are counted.
    pub unlisted: bool,
    /// What all this says about the disk.
    pub conclusion: Option<Conclusion>,
}

impl Damage {
    /// Every block that was judged is what was written.
    pub fn is_empty(&self) -> bool {
        self.damaged_blocks() == 0
    }

    /// Takes blocks out that could not be read in whole: what was judged in their place says nothing. `unread` counts
    /// from the first byte of the disk.
    pub fn leave_out(&mut self, unread: &ExtentSet) {
        let block = u64::from(self.block_bytes.max(1));
        let whole = |extent: Extent| {
            let start = extent.offset - extent.offset % block;
            Extent::new(start, extent.end().next_multiple_of(block) - start)
        };
        let gone: ExtentSet = unread.iter().map(whole).collect();
        self.checked_bytes = self.checked_bytes.saturating_sub(gone.total_bytes());
        for run in std::mem::take(&mut self.runs) {
            let lost_bytes = gone.covered_bytes(run.extent);
            self.blocks[run.kind.index()] -= lost_bytes / block;
            if lost_bytes == run.extent.len {
                self.flipped_bits -= run.bits;
            }
            self.runs.extend(gone.gaps(run.extent).map(|extent| {
                let first = if (extent.offset..extent.end()).contains(&run.first) { run.first } else { extent.offset };
                DamagedRun { extent, first, ..run }
            }));
        }
    }

    /// Blocks that are not what was written.
    pub fn damaged_blocks(&self) -> u64 {
        self.blocks.iter().sum()
    }
}
