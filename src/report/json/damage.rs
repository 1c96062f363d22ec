use crate::core::{Conclusion, Damage, DamageKind, DamagedRun, PatternUse};
use serde::Serialize;

/// The test pattern that was written or checked.
#[derive(Clone, Debug, Serialize)]
pub struct PatternReport {
    /// The run that its blocks carry; `null` in the plan of a check that has to find it.
    pub run: Option<u64>,
    /// Bytes of a block.
    pub block_bytes: u32,
}

impl From<PatternUse> for PatternReport {
    fn from(used: PatternUse) -> Self {
        PatternReport { run: used.run, block_bytes: used.block_bytes }
    }
}

/// What a check of the test pattern found. Offsets count from the first byte of the disk.
#[derive(Clone, Debug, Serialize)]
pub struct DamageReport {
    /// Every block that was judged is as it was written.
    pub clean: bool,
    /// Bytes that were judged.
    pub checked_bytes: u64,
    /// Blocks that are not as they were written.
    pub damaged_blocks: u64,
    /// The same by kind.
    pub blocks: DamagedBlocks,
    /// Bits that are wrong in flipped blocks.
    pub flipped_bits: u64,
    /// Runs of neighbouring blocks with the same damage, ascending.
    pub runs: Vec<DamagedRunReport>,
    /// There were more runs than are listed; their blocks are counted.
    pub runs_unlisted: bool,
    /// What the disk holds if it lies about its size, in bytes; `null` if it does not.
    pub holds_bytes: Option<u64>,
    /// The byte from which on nothing is as it was written; `null` if there is none.
    pub nothing_from_bytes: Option<u64>,
}

/// Damaged blocks by kind.
#[derive(Clone, Debug, Serialize)]
pub struct DamagedBlocks {
    /// In each other's place.
    pub swapped: u64,
    /// Other blocks of the pattern.
    pub misplaced: u64,
    /// Of another run.
    pub stale: u64,
    /// One block up to some byte and another from there.
    pub torn: u64,
    /// Nothing but zeros.
    pub zero: u64,
    /// Nothing of the pattern.
    pub foreign: u64,
    /// Right but for some bits.
    pub flipped: u64,
}

/// A run of damaged blocks.
#[derive(Clone, Debug, Serialize)]
pub struct DamagedRunReport {
    /// `swapped`, `misplaced`, `stale`, `torn`, `zero`, `foreign` or `flipped`.
    pub kind: &'static str,
    /// First byte.
    pub offset_bytes: u64,
    /// Bytes.
    pub len_bytes: u64,
    /// The first byte that is wrong; of torn blocks exact to 64 bytes.
    pub first_offset_bytes: u64,
    /// Of swapped and misplaced blocks: where those that lie here belong.
    pub belongs_at_bytes: Option<u64>,
    /// Of misplaced and stale blocks: the run that wrote them.
    pub run: Option<u64>,
    /// Of flipped blocks: bits that are wrong.
    pub bits: Option<u64>,
}

impl From<&DamagedRun> for DamagedRunReport {
    fn from(damaged: &DamagedRun) -> Self {
        let (distance, run) = match damaged.kind {
            DamageKind::Swapped { distance } => (Some(distance), None),
            DamageKind::Misplaced { distance, run } => (Some(distance), Some(run)),
            DamageKind::Stale { run } => (None, Some(run)),
            DamageKind::Torn | DamageKind::Zero | DamageKind::Foreign | DamageKind::Flipped => (None, None),
        };
        DamagedRunReport {
            kind: damaged.kind.name(),
            offset_bytes: damaged.extent.offset,
            len_bytes: damaged.extent.len,
            first_offset_bytes: damaged.first,
            belongs_at_bytes: distance.map(|distance| damaged.extent.offset.wrapping_add_signed(distance)),
            run,
            bits: (damaged.kind == DamageKind::Flipped).then_some(damaged.bits),
        }
    }
}

impl From<&Damage> for DamageReport {
    fn from(damage: &Damage) -> Self {
        let [swapped, misplaced, stale, torn, zero, foreign, flipped] = damage.blocks;
        let (holds_bytes, nothing_from_bytes) = match damage.conclusion {
            None => (None, None),
            Some(Conclusion::Wraps { holds_bytes }) => (Some(holds_bytes), None),
            Some(Conclusion::NothingFrom { offset }) => (None, Some(offset)),
        };
        DamageReport {
            clean: damage.is_empty(),
            checked_bytes: damage.checked_bytes,
            damaged_blocks: damage.damaged_blocks(),
            blocks: DamagedBlocks { swapped, misplaced, stale, torn, zero, foreign, flipped },
            flipped_bits: damage.flipped_bits,
            runs: damage.runs.iter().map(DamagedRunReport::from).collect(),
            runs_unlisted: damage.unlisted,
            holds_bytes,
            nothing_from_bytes,
        }
    }
}
