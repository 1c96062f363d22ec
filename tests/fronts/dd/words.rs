//! Random operands.
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

pub const CONVERSIONS: [&str; 16] = [
    "ascii",
    "ebcdic",
    "ibm",
    "block",
    "unblock",
    "lcase",
    "ucase",
    "sparse",
    "swab",
    "sync",
    "excl",
    "nocreat",
    "notrunc",
    "noerror",
    "fdatasync",
    "fsync",
];
/// Without direct, which not every file system supports.
pub const FLAGS: [&str; 12] = [
    "append",
    "nocache",
    "fullblock",
    "count_bytes",
    "skip_bytes",
    "seek_bytes",
    "dsync",
    "sync",
    "noatime",
    "noctty",
    "nofollow",
    "directory",
];
const SIZES: [u64; 16] = [1, 2, 3, 7, 8, 10, 13, 64, 100, 300, 511, 512, 513, 1000, 1024, 4096];

/// The value in the environment, or `default`.
pub fn number(default: u64, name: &str) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn size() -> impl Strategy<Value = String> {
    select(&SIZES[..]).prop_map(|size| size.to_string())
}

fn count() -> impl Strategy<Value = String> {
    let amount = select(&[0u64, 1, 2, 3, 5, 20, 100][..]);
    (amount, select(&["", "", "", "c", "B", "w", "wB"][..])).prop_map(|(amount, suffix)| format!("{amount}{suffix}"))
}

fn list(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    subsequence(words, 1..=3).prop_map(|words| words.join(","))
}

/// One operand of any kind, except those that name files.
pub fn operand() -> impl Strategy<Value = String> {
    let named = |name: &'static str| move |value: String| format!("{name}={value}");
    prop_oneof![
        3 => size().prop_map(named("bs")),
        3 => size().prop_map(named("ibs")),
        3 => size().prop_map(named("obs")),
        3 => size().prop_map(named("cbs")),
        2 => count().prop_map(named("skip")),
        2 => count().prop_map(named("seek")),
        3 => count().prop_map(named("count")),
        1 => count().prop_map(named("iseek")),
        1 => count().prop_map(named("oseek")),
        6 => list(&CONVERSIONS).prop_map(named("conv")),
        2 => list(&FLAGS).prop_map(named("iflag")),
        2 => list(&FLAGS).prop_map(named("oflag")),
        1 => select(&["none", "noxfer", "progress"][..]).prop_map(|level| format!("status={level}")),
        1 => select(&["of=/dev/full", "of=/dev/null", "if=/dev/null", "if=missing", "if=/", "bogus=1"][..])
            .prop_map(str::to_owned),
    ]
}

/// This many cases of each thousand in `HAUL_DD_CASES` (300; `make test-long` has more) with the seed
/// `HAUL_DD_SEED`, which is printed and returned.
pub fn runner(of_each_thousand: u64) -> (TestRunner, u64) {
    let (all, seed) = (number(300, "HAUL_DD_CASES"), number(1, "HAUL_DD_SEED"));
    let cases = all * of_each_thousand / 1000;
    println!("HAUL_DD_SEED={seed} HAUL_DD_CASES={all}");
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let config = Config { cases: cases as u32, failure_persistence: None, ..Config::default() };
    (TestRunner::new_with_rng(config, rng), seed)
}
