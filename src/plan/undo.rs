//! Plans restoring the data that a write measurement overwrote.
use crate::core::{Access, AddressMap, Cache, CommandOptions, Existing, Extent, Facts, PlanSide, Through};

/// How a device is opened to restore the data that a run overwrote.
pub fn to_put_back(facts: &Facts) -> PlanSide {
    let through = facts.passthrough.clone().filter(|node| node.named);
    let direct = facts.direct.filter(|_| through.is_none());
    let align = direct.map_or(1, |direct| direct.offset_bytes).max(facts.logical_block_bytes);
    let cache = if direct.is_some() || through.is_some() { Cache::Direct } else { Cache::Keep };
    PlanSide {
        address: facts.address.clone(),
        path: facts.path.clone(),
        kind: facts.kind,
        map: AddressMap::from(0),
        access: Access { cache, offset_align_bytes: align, exclusive: through.is_none(), existing: Existing::Keep },
        lock: Some(Extent::new(0, u64::MAX)),
        moves_head: false,
        through: through.map(|node| Through { node, options: CommandOptions::default() }),
    }
}
