//! The cost of a block for the pump and its queues, with endpoints that cost nothing: `make bench-pump`.
//!
//! The time that criterion prints is that of one block, read and written. It does not depend on the block size
//! unless the bytes are accessed. Constant costs of a copy (memory, a ring, threads) are spread over the blocks of a
//! sample.
#[path = "../tests/model/hollow.rs"]
mod hollow;
#[path = "../tests/model/mod.rs"]
mod model;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, criterion_group, criterion_main};
use haul::core::{CallStyle, EngineKind};
use hollow::copies_nothing;
use std::time::{Duration, Instant};

const BLOCK_BYTES: [u32; 3] = [4 << 10, 64 << 10, 1 << 20];
const DEPTHS: [u32; 3] = [2, 8, 32];

fn block(group: &mut BenchmarkGroup<'_, WallTime>, engine: EngineKind, calls: CallStyle, bytes: u32, depth: u32) {
    let id = BenchmarkId::from_parameter(format!("{} KiB x {depth}", bytes >> 10));
    group.bench_function(id, |bencher| {
        bencher.iter_custom(|blocks| {
            let began = Instant::now();
            copies_nothing(engine, calls, bytes, depth, blocks);
            began.elapsed()
        });
    });
}

fn pump(criterion: &mut Criterion) {
    let ring = io_uring::IoUring::new(4).is_ok();
    let cases = [
        ("sync", EngineKind::Sync, CallStyle::AtOnce, &[1][..]),
        // Calls made by the pump itself: only the cost of the pump.
        ("threads, on the spot", EngineKind::Threads, CallStyle::AtOnce, &DEPTHS),
        ("threads, by helpers", EngineKind::Threads, CallStyle::Waits, &DEPTHS),
        ("ring", EngineKind::Ring, CallStyle::Waits, &DEPTHS),
    ];
    for (name, engine, calls, depths) in cases {
        if engine == EngineKind::Ring && !ring {
            eprintln!("skipped: ring: io_uring is not to be had here");
            continue;
        }
        let mut group = criterion.benchmark_group(name);
        for &depth in depths {
            block(&mut group, engine, calls, BLOCK_BYTES[0], depth);
        }
        // Larger blocks at one depth: they must cost the same.
        for bytes in &BLOCK_BYTES[1..] {
            block(&mut group, engine, calls, *bytes, depths[depths.len() / 2]);
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    targets = pump
}
criterion_main!(benches);
