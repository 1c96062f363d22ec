//! Texts about copies by many workers.
use super::units;

/// How a copy was divided, and what runs its shards.
pub fn divided(shards: u64, shard_bytes: u64, state: &str) -> String {
    let size = units::size(shard_bytes);
    format!(
        "{shards} shards of {size}, state in {state}; each worker runs: haul copy --plan PLAN --shard K/{shards}; \
         then: haul finish PLAN"
    )
}
