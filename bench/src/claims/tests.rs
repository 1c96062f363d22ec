//! Each claim on both sides of its bound.
use super::*;
use crate::result::{Limit, Run, Verdict as RunVerdict};

/// A contender whose runs take `walls_s`; a GiB costs it `cpu_s` of the machine.
fn contender(name: &str, walls_s: &[f64], cpu_s: f64) -> ContenderResult {
    let run = |(index, &wall_s): (usize, &f64)| Run {
        round: index as u32 + 1,
        wall_s,
        machine_cpu_s: cpu_s,
        resident_bytes: 20 << 20,
        ..Run::default()
    };
    let runs = walls_s.iter().enumerate().map(run).collect();
    ContenderResult { name: name.into(), runs, witness_left: Some(1.0), ..ContenderResult::default() }
}

fn bed(name: &str, contenders: Vec<ContenderResult>) -> BedResult {
    let limits = vec![Limit { what: "reading alone".into(), seconds: 1.0, binding: true }];
    BedResult { name: name.into(), bytes: 1 << 30, limits, contenders, ..BedResult::default() }
}

#[track_caller]
fn claim(bed: &BedResult, start: &str) -> Claim {
    let claims = claims(bed);
    let found = claims.iter().find(|claim| claim.what.starts_with(start));
    found.unwrap_or_else(|| panic!("no claim {start:?} among {claims:#?}")).clone()
}

#[track_caller]
fn assert_says(bed: &BedResult, start: &str, figure: f64, verdict: Verdict) {
    let claim = claim(bed, start);
    assert!((claim.figure.expect("no figure") - figure).abs() < 1e-9, "{claim:?}");
    assert_eq!(claim.verdict, verdict, "{claim:?}");
}

#[test]
fn through_memory_1_4_times_the_best_peer_is_wanted() {
    let with = |peer_s| bed("ram", vec![contender("haul", &[1.0], 1.0), contender("dd", &[peer_s], 2.0)]);
    assert_says(&with(1.4), "at least 1.4", 1.4, Verdict::Holds);
    assert_says(&with(1.39), "at least 1.4", 1.39, Verdict::FallsShort);
}

#[test]
fn through_memory_the_least_processor_time_of_all_is_wanted_however_slow_they_are() {
    let with = |peer_cpu_s| bed("ram", vec![contender("haul", &[1.0], 1.0), contender("dd", &[9.0], peer_cpu_s)]);
    assert_says(&with(1.0), "least processor time of all", 1.0, Verdict::Holds);
    assert_says(&with(0.9), "least processor time of all", 1.0, Verdict::FallsShort);
}

#[test]
fn elsewhere_processor_time_is_compared_with_those_that_reach_90_percent_of_the_speed() {
    let with = |peer_s| bed("any", vec![contender("haul", &[0.9], 1.0), contender("dd", &[peer_s], 0.5)]);
    assert_says(&with(1.0), "least processor time of those", 1.0, Verdict::FallsShort);
    assert_says(&with(1.01), "least processor time of those", 1.0, Verdict::Holds);
    assert_eq!(claim(&with(1.01), "least processor time of those").wanted, None);
}

#[test]
fn a_modelled_disk_is_held_against_its_limit() {
    let with = |haul_s| bed("disk-nvme", vec![contender("haul", &[haul_s], 1.0), contender("dd", &[2.0], 1.0)]);
    assert_says(&with(1.05), "within 5 %", 1.05, Verdict::Holds);
    assert_says(&with(1.06), "within 5 %", 1.06, Verdict::FallsShort);
    let mut unlimited = with(1.0);
    unlimited.limits.clear();
    assert_eq!(claim(&unlimited, "within 5 %").verdict, Verdict::NotKnown);
}

#[test]
fn only_where_a_head_moves_10_percent_before_the_best_are_wanted() {
    let with = |name, peer_s| bed(name, vec![contender("haul", &[1.0], 1.0), contender("dd", &[peer_s], 1.0)]);
    for name in ["disk-7200", "disk-self"] {
        assert_says(&with(name, 1.1), "best of all", 1.1, Verdict::Holds);
        assert_says(&with(name, 1.09), "best of all", 1.09, Verdict::FallsShort);
    }
    assert!(claims(&with("disk-nvme", 1.1)).iter().all(|claim| !claim.what.starts_with("best of all")));
}

#[test]
fn streams_and_files_are_held_against_the_best_peer() {
    let with = |name, peer_s| bed(name, vec![contender("haul", &[1.0], 1.0), contender("dd", &[peer_s], 1.0)]);
    for name in ["stream-in", "file-ext4"] {
        assert_says(&with(name, 1.0), "as fast as", 1.0, Verdict::Holds);
        // Of one round nothing can be called noise.
        assert_says(&with(name, 0.999), "as fast as", 0.999, Verdict::FallsShort);
    }
}

#[test]
fn slower_in_the_median_but_not_in_a_third_of_the_rounds_is_equal_within_the_spread() {
    let with = |peer_s: &[f64]| bed("stream-in", vec![contender("haul", &[1.0; 5], 1.0), contender("dd", peer_s, 1.0)]);
    assert_says(&with(&[0.98, 0.97, 0.99, 1.02, 1.03]), "as fast as", 0.99, Verdict::Equal);
    // One round out of five does not make it equal.
    assert_says(&with(&[0.98, 0.97, 0.99, 0.98, 9.0]), "as fast as", 0.98, Verdict::FallsShort);
}

#[test]
fn the_peer_that_counts_is_the_one_haul_does_worst_against_pair_by_pair() {
    let haul = contender("haul", &[1.0, 2.0, 4.0], 1.0);
    let steady = contender("steady", &[2.1, 2.1, 2.1], 1.0);
    let paired = contender("paired", &[0.9, 1.8, 3.6], 1.0);
    let claim = claim(&bed("stream-in", vec![haul, steady, paired]), "as fast as");
    assert!(claim.note.starts_with("against paired"), "{claim:?}");
}

#[test]
fn aside_and_wrong_contenders_are_nobodys_rival() {
    let mut aside = contender("haul --engine sync", &[0.1], 0.1);
    aside.aside = true;
    let mut wrong = contender("wrong", &[0.1], 0.1);
    wrong.runs[0].verdict = RunVerdict::CopiedWrongly { first_difference: 0 };
    let bed = bed("ram", vec![contender("haul", &[1.0], 1.0), aside, wrong]);
    for start in ["at least 1.4", "least processor time of all", "least processor time of those"] {
        let claim = claim(&bed, start);
        assert_eq!((claim.verdict, claim.note.as_str()), (Verdict::NotKnown, NO_PEER));
    }
}

#[test]
fn memory_and_the_witness_are_claimed_on_every_bed() {
    let mut bed = bed("any", vec![contender("haul", &[1.0], 1.0)]);
    assert_says(&bed, "the witness", 100.0, Verdict::Holds);
    assert_says(&bed, "at most 64 MiB", 20.0, Verdict::Holds);
    (bed.contenders[0].witness_left, bed.contenders[0].runs[0].resident_bytes) = (Some(0.98), 65 << 20);
    assert_says(&bed, "the witness", 98.0, Verdict::FallsShort);
    assert_says(&bed, "at most 64 MiB", 65.0, Verdict::FallsShort);
    bed.contenders[0].witness_left = None;
    assert_eq!(claim(&bed, "the witness").verdict, Verdict::NotKnown);
}

#[test]
fn nothing_holds_where_haul_copied_wrongly() {
    let mut haul = contender("haul", &[1.0], 1.0);
    haul.runs[0].verdict = RunVerdict::CopiedWrongly { first_difference: 512 };
    let claims = claims(&bed("disk-7200", vec![haul, contender("dd", &[2.0], 2.0)]));
    assert_eq!(claims.len(), 6);
    for claim in claims {
        assert_eq!((claim.verdict, claim.figure), (Verdict::FallsShort, None), "{claim:?}");
        assert!(claim.note.contains("copied wrongly"), "{claim:?}");
    }
}
