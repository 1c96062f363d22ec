//! Latencies and bottleneck in the report of a copy.
use crate::model::{copies, pattern, plan};
use crate::support::engines;
use haul::core::{EngineKind, Side};
use haul::disks::memory::{Fault, Memory};
use std::sync::Arc;
use std::time::Duration;

const BLOCKS: u64 = 12;
const BLOCK_BYTES: u64 = 4096;
const READ: Duration = Duration::from_millis(6);
const WRITE: Duration = Duration::from_millis(2);

/// A side whose transfers take at least this time.
fn slow(time: Duration) -> Arc<Memory> {
    let len = (BLOCKS * BLOCK_BYTES) as usize;
    Arc::new(Memory::disk(pattern(len, 0), &[Fault::Takes(time)]))
}

#[test]
fn latency_counts_the_time_of_the_side_with_and_without_a_limit() {
    for engine in [EngineKind::Sync, EngineKind::Threads, EngineKind::Ring] {
        if !engines().contains(&engine.name()) {
            continue;
        }
        for limit in [None, Some(BLOCK_BYTES * 8)] {
            // A block is permitted every 125 ms: waiting for that does not count as latency. A busy machine can delay
            // the blocks of a copy, but not those of every copy.
            let is_counted = |_| p50s_us(engine, limit).iter().all(|p50_us| *p50_us < 100_000);
            assert!((0..20).any(is_counted), "{engine:?} {limit:?}");
        }
    }
}

/// The median latency of each side, all of whose latencies include the time of its transfer.
fn p50s_us(engine: EngineKind, limit: Option<u64>) -> [u64; 2] {
    let mut plan = plan(engine, Some(BLOCKS * BLOCK_BYTES), 0, 0);
    plan.limit_bytes_per_s = limit;
    let outcome = copies(&plan, &slow(READ), &slow(WRITE));
    for (side, least) in outcome.sides.iter().zip([READ, WRITE]) {
        assert_eq!(side.latency.count, BLOCKS, "{engine:?} {limit:?}");
        let fastest_us = side.latencies.first().expect("there are classes").0;
        let least_us = least.as_micros() as u64 * 98 / 100;
        assert!(fastest_us >= least_us, "{engine:?} {limit:?}: {:?}", side.latencies);
    }
    [outcome.sides[0].latency.p50_us, outcome.sides[1].latency.p50_us]
}

#[test]
fn a_read_released_by_a_limit_counts_as_time_of_the_source() {
    let mut plan = plan(EngineKind::Sync, Some(BLOCKS * BLOCK_BYTES), 0, 0);
    plan.limit_bytes_per_s = Some(BLOCK_BYTES * 50);
    let outcome = copies(&plan, &slow(READ), &slow(WRITE));
    let waited = Side::BOTH.map(|side| outcome.sides[side.index()].waited);
    assert!(waited[0] >= READ * BLOCKS as u32, "{waited:?}");
    assert!(outcome.sides[0].idle <= outcome.elapsed - READ * BLOCKS as u32, "{:?}", outcome.sides[0]);
}
