//! Determines how many blocks to copy.
use crate::apps::fronts::dd::plan::{DdFacts, DdKind};
use crate::apps::fronts::sg_plan::SgPlan;
use crate::core::Side;

/// Why the number of blocks is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountRefusal {
    /// The block size of a device differs from `bs=`: its side, and its size in bytes.
    BlockSize(Side, u64),
    /// Neither side has an end.
    Endless,
}

/// The number of blocks to copy without `count=`: to the end of the source, but not beyond the end of a device.
/// The last block of a file may be short.
///
/// # Errors
/// Neither side has an end, or a device has blocks of another size.
pub fn blocks_to_copy(plan: &SgPlan, source: &DdFacts, dest: &DdFacts) -> Result<u64, CountRefusal> {
    let block_bytes = plan.block_bytes();
    for (side, facts) in [(Side::Source, source), (Side::Dest, dest)] {
        if let Some(own) = facts.logical_block_bytes.filter(|own| u64::from(*own) != block_bytes) {
            return Err(CountRefusal::BlockSize(side, own.into()));
        }
    }
    let skip = plan.records.source.skip.records;
    let seek = plan.records.dest.skip.records;
    let at_source = match source.kind {
        DdKind::File => source.size.map(|size| size.div_ceil(block_bytes).saturating_sub(skip)),
        DdKind::Block | DdKind::Commands => source.size.map(|size| (size / block_bytes).saturating_sub(skip)),
        DdKind::Null => Some(0),
        _ => None,
    };
    let at_dest = match dest.kind {
        DdKind::Block | DdKind::Commands => dest.size.map(|size| (size / block_bytes).saturating_sub(seek)),
        _ => None,
    };
    at_source.into_iter().chain(at_dest).min().ok_or(CountRefusal::Endless)
}
