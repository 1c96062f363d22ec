//! The cost of stages that access every byte, in bytes per second: `make bench-stages`.
//!
//! 1 MiB fits the cache of most processors, 64 MiB fits none: the second is limited by memory.
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use haul::core::stages::{Pattern, first_difference};
use std::hint::black_box;
use std::time::Duration;

const LEN_BYTES: [usize; 2] = [1 << 20, 64 << 20];

fn stages(criterion: &mut Criterion) {
    for len in LEN_BYTES {
        let mut group = criterion.benchmark_group("stages");
        group.throughput(Throughput::Bytes(len as u64));
        let name = |what: &str| BenchmarkId::new(what, format!("{} MiB", len >> 20));
        let mut buffer = vec![1u8; len];
        for block_bytes in [512, 4096] {
            let pattern = Pattern::new(block_bytes, 1, 0).expect("a valid pattern length");
            let fill = name(&format!("pattern fill, blocks of {block_bytes}"));
            group.bench_function(fill, |bencher| bencher.iter(|| pattern.fill(black_box(&mut buffer), 0)));
            let judge = name(&format!("pattern check, blocks of {block_bytes}"));
            group.bench_function(judge, |bencher| {
                bencher.iter(|| pattern.judge(black_box(&buffer), 0, |at, verdict| panic!("{at}: {verdict:?}")));
            });
        }
        let copy = buffer.clone();
        group.bench_function(name("compare"), |bencher| {
            bencher.iter(|| assert_eq!(first_difference(black_box(&buffer), black_box(&copy)), None));
        });
        // The speed of memory itself, for comparison.
        group.bench_function(name("memset"), |bencher| bencher.iter(|| black_box(&mut buffer).fill(black_box(3))));
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    targets = stages
}
criterion_main!(benches);
