//! Nothing is allocated per block: a copy of ten times the blocks allocates no more than the short one.
//!
//! A separate binary with a single test, because every allocation of the process is counted.
#[path = "model/counting.rs"]
mod counting;
#[path = "model/hollow.rs"]
mod hollow;
mod model;
mod support;

use haul::core::{CallStyle, EngineKind};
use hollow::copies_nothing;

fn allocations(engine: EngineKind, calls: CallStyle, depth: u32, blocks: u64) -> u64 {
    let before = counting::allocations();
    copies_nothing(engine, calls, 4096, depth, blocks);
    counting::allocations() - before
}

#[test]
fn ten_times_the_blocks_take_no_more_allocations() {
    const BLOCKS: u64 = 2000;
    // The number of helpers, and the size of their lists of requests, depend on timing: some allocations for each of
    // them, regardless of the number of blocks.
    let of_helpers = |depth: u32| u64::from(depth) * 2 * 16;
    let mut cases = vec![
        (EngineKind::Sync, CallStyle::Waits, 1, 0),
        (EngineKind::Threads, CallStyle::AtOnce, 8, 0),
        (EngineKind::Threads, CallStyle::Waits, 8, of_helpers(8)),
    ];
    if support::engines().contains(&"ring") {
        cases.push((EngineKind::Ring, CallStyle::Waits, 8, 0));
    }
    for (engine, calls, depth, more) in cases {
        // The first copy of a process also allocates constants.
        allocations(engine, calls, depth, BLOCKS);
        let (few, many) = (allocations(engine, calls, depth, BLOCKS), allocations(engine, calls, depth, 10 * BLOCKS));
        println!("{engine:?}, {calls:?}: {few} allocations for {BLOCKS} blocks, {many} for ten times as many");
        assert!(many <= few + more, "{engine:?}, {calls:?}: {few} allocations, then {many} for ten times the blocks");
    }
}
