//! Statistics compared with manual calculations.
use super::*;
use crate::result::Limit;

const GIB_BYTES: u64 = 1 << 30;

fn contender(name: &str, walls_s: &[(u32, f64)]) -> ContenderResult {
    let run = |&(round, wall_s): &(u32, f64)| Run { round, wall_s, ..Run::default() };
    ContenderResult { name: name.into(), runs: walls_s.iter().map(run).collect(), ..ContenderResult::default() }
}

fn bed(contenders: Vec<ContenderResult>) -> BedResult {
    BedResult { name: "bed".into(), bytes: 2 * GIB_BYTES, contenders, ..BedResult::default() }
}

#[track_caller]
fn summary(bed: &BedResult, name: &str) -> Summary {
    let contender = bed.contenders.iter().find(|contender| contender.name == name).expect("no such contender");
    match standing(bed, contender) {
        Standing::Ranked(summary) => summary,
        Standing::Marked(why) => panic!("{name} {why}"),
    }
}

#[track_caller]
fn assert_near(left: f64, right: f64) {
    assert!((left - right).abs() < 1e-9, "{left} is not {right}");
}

#[test]
fn the_median_of_an_even_count_is_halfway_between_the_middle_two() {
    assert_near(median(vec![4.0, 1.0, 2.0, 10.0]), 3.0);
    assert_near(median(vec![3.0, 1.0, 2.0]), 2.0);
    assert!(median(Vec::new()).is_nan());
}

#[test]
fn the_spread_is_the_range_as_a_share_of_the_median() {
    let bed = bed(vec![contender("haul", &[(1, 2.0), (2, 2.5), (3, 1.5)])]);
    let haul = summary(&bed, "haul");
    assert_near(haul.median_s, 2.0);
    assert_near(haul.min_s, 1.5);
    assert_near(haul.spread, 0.5);
}

#[test]
fn processor_time_is_for_each_gib() {
    let mut haul = contender("haul", &[(1, 1.0), (2, 1.0), (3, 1.0)]);
    for (run, cpu_s) in haul.runs.iter_mut().zip([3.0, 1.0, 8.0]) {
        (run.machine_cpu_s, run.process_cpu_s) = (cpu_s, cpu_s / 2.0);
    }
    let haul = summary(&bed(vec![haul]), "haul");
    // The median of 3, 1, 8 over 2 GiB.
    assert_near(haul.machine_cpu_s_per_gib, 1.5);
    assert_near(haul.process_cpu_s_per_gib, 0.75);
}

#[test]
fn memory_counts_by_its_maximum_and_the_page_cache_by_its_median() {
    let mut haul = contender("haul", &[(1, 1.0), (2, 1.0)]);
    (haul.runs[0].resident_bytes, haul.runs[0].cache_left_bytes) = (7, 10);
    (haul.runs[1].resident_bytes, haul.runs[1].cache_left_bytes) = (9, 20);
    let haul = summary(&bed(vec![haul]), "haul");
    assert_eq!((haul.resident_bytes, haul.cache_left_bytes), (9, 15));
}

#[test]
fn ratios_are_medians_of_paired_rounds() {
    let haul = contender("haul", &[(1, 1.0), (2, 2.0), (3, 4.0)]);
    let peer = contender("dd", &[(1, 3.0), (2, 2.0), (3, 4.4)]);
    // Pairs: 3, 1, 1.1. The ratio of the medians would be 1.5.
    assert_near(summary(&bed(vec![haul, peer]), "dd").ratio_to_haul.unwrap(), 1.1);
}

#[test]
fn a_round_of_only_one_contender_makes_no_pair() {
    let haul = contender("haul", &[(1, 1.0), (3, 1.0)]);
    let peer = contender("dd", &[(1, 2.0), (2, 100.0), (3, 3.0)]);
    let bed = bed(vec![haul, peer]);
    let pairs = pairs_with_haul(&bed, &bed.contenders[1]).unwrap();
    assert_eq!((pairs.rounds, pairs.won), (2, 2));
    assert_near(pairs.median, 2.5);
}

#[test]
fn without_a_common_round_there_is_no_ratio() {
    let bed = bed(vec![contender("haul", &[(1, 1.0)]), contender("dd", &[(2, 1.0)])]);
    assert_eq!(summary(&bed, "dd").ratio_to_haul, None);
}

#[test]
fn nothing_is_compared_with_a_wrong_copy_of_haul() {
    let mut haul = contender("haul", &[(1, 1.0), (2, 1.0)]);
    haul.runs[1].verdict = Verdict::CopiedWrongly { first_difference: 0 };
    let bed = bed(vec![haul, contender("dd", &[(1, 2.0), (2, 2.0)])]);
    assert_eq!(summary(&bed, "dd").ratio_to_haul, None);
}

#[test]
fn the_limit_is_the_slowest_bound() {
    let limit = |seconds, binding| Limit { what: String::new(), seconds, binding };
    let mut bed = bed(vec![contender("haul", &[(1, 3.0)])]);
    assert_eq!(limit_s(&bed), None);
    assert_eq!(summary(&bed, "haul").ratio_to_limit, None);
    bed.limits = vec![limit(1.0, true), limit(2.0, true), limit(9.0, false)];
    assert_eq!(limit_s(&bed), Some(2.0));
    assert_near(summary(&bed, "haul").ratio_to_limit.unwrap(), 1.5);
}

#[test]
fn one_wrong_run_excludes_a_contender_from_the_ranking() {
    let mut wrong = contender("wrong", &[(1, 0.1), (2, 0.1)]);
    wrong.runs[1].verdict = Verdict::CopiedWrongly { first_difference: 4096 };
    let mut failed = contender("failed", &[(1, 0.1)]);
    failed.runs[0].verdict = Verdict::Failed { why: "status 1".into() };
    let mut aside = contender("haul --engine sync", &[(1, 0.5)]);
    aside.aside = true;
    let slow = contender("slow", &[(1, 5.0)]);
    let fast = contender("fast", &[(1, 2.0)]);
    let never = contender("never", &[]);
    let bed = bed(vec![contender("haul", &[(1, 1.0)]), wrong, failed, aside, slow, fast, never]);
    let ranking = ranking(&bed);
    let names = |list: &[(&ContenderResult, Summary)]| list.iter().map(|(one, _)| one.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&ranking.ranked), ["haul", "fast", "slow"]);
    assert_eq!(names(&ranking.aside), ["haul --engine sync"]);
    let marked: Vec<&str> = ranking.marked.iter().map(|(_, why)| why.as_str()).collect();
    assert_eq!(
        marked,
        ["copied wrongly in round 2: differs from byte 4096 on", "failed in round 1: status 1", "did not run",]
    );
    assert_eq!(best_peer(&bed).unwrap().0.name, "fast");
}

#[test]
fn without_a_correct_run_there_is_no_best_peer() {
    let mut peer = contender("dd", &[(1, 1.0)]);
    peer.runs[0].verdict = Verdict::Failed { why: "status 1".into() };
    assert!(best_peer(&bed(vec![contender("haul", &[(1, 1.0)]), peer])).is_none());
}
