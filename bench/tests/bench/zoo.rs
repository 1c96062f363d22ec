//! The governor on disks drawn at random, in simulated time: a part of `make bench SCENARIO=zoo`. The results are
//! the same on every machine; `docs/developer/measuring.md` has those of all seeds.
use haul_bench::zoo::{Draw, FAMILIES, Regret, regrets, summary};

/// Families with two rotational disks, whose queues are reordered.
const HEADS: &[&str] = &["spindle", "spindle-hidden"];

fn assert_at_most(regrets: &[Regret], mean: f64, worst: f64) {
    let found = summary(regrets).expect("there are copies");
    let greatest = regrets.iter().max_by(|one, other| one.ratio.total_cmp(&other.ratio)).expect("there are copies");
    assert!(found.mean <= mean && found.worst <= worst, "{found:?}, wanted {mean} and {worst}; {greatest:#?}");
}

fn copies(families: &[&str], seeds: std::ops::Range<u64>, mib: u64, draw: Draw) -> Vec<Regret> {
    regrets(families, seeds, mib << 20, &draw, &|| false)
}

#[test]
fn copies_of_256_mib_take_at_most_3_percent_longer_than_with_the_best_limits() {
    assert_at_most(&copies(&[], 400..402, 256, Draw::default()), 1.03, 1.20);
}

#[test]
fn copies_of_1_gib_take_at_most_2_percent_longer_than_with_the_best_limits() {
    assert_at_most(&copies(&[], 7000..7001, 1024, Draw::default()), 1.02, 1.10);
}

#[test]
fn rotational_disks_take_at_most_10_percent_longer_with_any_reordering() {
    for sloppy in [0.0, 0.1, 0.2, 0.35, 0.5] {
        let draw = Draw { sloppy: Some(sloppy), ..Draw::default() };
        assert_at_most(&copies(HEADS, 400..401, 1024, draw), 1.10, 1.10);
    }
}

#[test]
fn disks_from_wider_ranges_take_at_most_3_percent_longer() {
    let draw = Draw { wider: 1.5, ..Draw::default() };
    assert_at_most(&copies(&[], 8300..8301, 256, draw), 1.03, 1.25);
}

#[test]
fn the_same_seed_gives_the_same_figures() {
    let [one, other] = [0, 1].map(|_| copies(&FAMILIES[..3], 5..6, 64, Draw::default()));
    let ratios = |regrets: &[Regret]| regrets.iter().map(|regret| regret.ratio).collect::<Vec<_>>();
    assert_eq!(ratios(&one), ratios(&other));
}
