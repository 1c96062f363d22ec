//! Damage found on a disk that holds the test pattern.
use super::{Extent, ExtentSet};

/// Maximum number of damaged runs that are listed. Further damaged blocks are only counted, so that a disk without a
/// good block does not exhaust memory.
pub const DAMAGED_RUNS_MAX: usize = 1 << 16;

/// The kind of damage of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DamageKind {
    /// Two blocks are exchanged: this one holds the block that belongs `distance` bytes further on, and vice versa.
    Swapped {
        /// In bytes; negative if the other block has the lower offset.
        distance: i64,
    },
    /// Holds the block of the pattern that belongs `distance` bytes further on.
    Misplaced {
        /// In bytes; negative if that block belongs at a lower offset.
        distance: i64,
        /// The run that wrote it.
        run: u64,
    },
    /// Holds a block of another run: the write of this run was lost.
    Stale {
        /// The run that wrote it.
        run: u64,
    },
    /// Holds parts of two different blocks.
    Torn,
    /// Only zeros: discarded, or never written.
    Zero,
    /// Not a block of the pattern.
    Foreign,
    /// The expected block with some flipped bits.
    Flipped,
}

impl DamageKind {
    /// The names of all kinds, in the order of [`DamageKind::index`].
    pub const NAMES: [&'static str; 7] = ["swapped", "misplaced", "stale", "torn", "zero", "foreign", "flipped"];

    /// Index into arrays with one entry per kind.
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

    /// The name for messages and JSON.
    pub fn name(self) -> &'static str {
        Self::NAMES[self.index()]
    }
}

/// Adjacent blocks with the same damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DamagedRun {
    /// The blocks; offsets count from the first byte of the disk.
    pub extent: Extent,
    /// The kind of damage.
    pub kind: DamageKind,
    /// Offset of the first wrong byte: exact to 64 bytes for torn blocks, the start of the block if all of it is wrong.
    pub first: u64,
    /// Number of wrong bits if the kind is flipped; 0 otherwise.
    pub bits: u64,
}

/// The diagnosis for the disk as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// Addresses wrap around: the disk reports a larger capacity than it has.
    Wraps {
        /// The actual capacity, in bytes.
        holds_bytes: u64,
    },
    /// No block from this offset to the end of the checked range is correct.
    NothingFrom {
        /// In bytes.
        offset: u64,
    },
}

/// Damage found on a disk that holds the test pattern.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// Block size, in bytes.
    pub block_bytes: u32,
    /// The expected run.
    pub run: u64,
    /// Bytes checked, in whole blocks.
    pub checked_bytes: u64,
    /// Runs of damaged blocks, ascending by offset.
    pub runs: Vec<DamagedRun>,
    /// Number of damaged blocks of each kind, by [`DamageKind::index`].
    pub blocks: [u64; DamageKind::NAMES.len()],
    /// Number of flipped bits in blocks of the kind flipped.
    pub flipped_bits: u64,
    /// More runs were found than are listed; their blocks are only counted.
    pub unlisted: bool,
    /// The diagnosis of the disk.
    pub conclusion: Option<Conclusion>,
}

impl Damage {
    /// Whether every checked block is correct.
    pub fn is_empty(&self) -> bool {
        self.damaged_blocks() == 0
    }

    /// Removes blocks that could not be read completely, because their verdict is meaningless. Offsets in `unread`
    /// count from the first byte of the disk.
    pub fn leave_out(&mut self, unread: &ExtentSet) {
        let block = u64::from(self.block_bytes.max(1));
        let whole = |extent: Extent| {
            let start = extent.offset - extent.offset % block;
            Extent::new(start, extent.end().next_multiple_of(block) - start)
        };
        let removed: ExtentSet = unread.iter().map(whole).collect();
        self.checked_bytes = self.checked_bytes.saturating_sub(removed.total_bytes());
        for run in std::mem::take(&mut self.runs) {
            let lost_bytes = removed.covered_bytes(run.extent);
            self.blocks[run.kind.index()] -= lost_bytes / block;
            if lost_bytes == run.extent.len {
                self.flipped_bits -= run.bits;
            }
            self.runs.extend(removed.gaps(run.extent).map(|extent| {
                let first = if (extent.offset..extent.end()).contains(&run.first) { run.first } else { extent.offset };
                DamagedRun { extent, first, ..run }
            }));
        }
    }

    /// Number of damaged blocks.
    pub fn damaged_blocks(&self) -> u64 {
        self.blocks.iter().sum()
    }
}
