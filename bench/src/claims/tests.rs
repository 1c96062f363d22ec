//! Each claim inside and outside of its bound.
use super::*;
use crate::result::{Limit, Run, Verdict as RunVerdict};

/// A contender whose runs take `walls_s`, with `cpu_s` of processor time per GiB.
fn contender(name: &str, walls_s: &[f64], cpu_s: f64) -> ContenderResult {
    let run = |(index, &wall_s): (usize, &f64)| Run {
        round: index as u32 + 1,
        wall_s,
        machine_cpu_s: cpu_s,
        resident_bytes: 20 << 20,
        ..Run::default()
    };
    let runs = walls_s.iter().enumerate().map(run).collect();
    ContenderResult { name: name.into(), runs, test_file_left: Some(1.0), ..ContenderResult::default() }
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
fn assert_verdict(bed: &BedResult, start: &str, figure: f64, verdict: Verdict) {
    let claim = claim(bed, start);
    assert!((claim.figure.expect("no figure") - figure).abs() < 1e-9, "{claim:?}");
    assert_eq!(claim.verdict, verdict, "{claim:?}");
}

#[test]
fn copies_in_memory_require_1_4_times_the_best_peer() {
    let with = |peer_s| bed("ram", vec![contender("haul", &[1.0], 1.0), contender("dd", &[peer_s], 2.0)]);
    assert_verdict(&with(1.4), "at least 1.4", 1.4, Verdict::Holds);
    assert_verdict(&with(1.39), "at least 1.4", 1.39, Verdict::FallsShort);
}

#[test]
fn copies_in_memory_require_the_least_processor_time_of_all_peers() {
    let with = |peer_cpu_s| bed("ram", vec![contender("haul", &[1.0], 1.0), contender("dd", &[9.0], peer_cpu_s)]);
    assert_verdict(&with(1.0), "least processor time of all", 1.0, Verdict::Holds);
    assert_verdict(&with(0.9), "least processor time of all", 1.0, Verdict::FallsShort);
}

#[test]
fn other_beds_compare_processor_time_with_peers_at_90_percent_of_the_speed() {
    let with = |peer_s| bed("any", vec![contender("haul", &[0.9], 1.0), contender("dd", &[peer_s], 0.5)]);
    assert_verdict(&with(1.0), "least processor time of those", 1.0, Verdict::FallsShort);
    assert_verdict(&with(1.01), "least processor time of those", 1.0, Verdict::Holds);
    assert_eq!(claim(&with(1.01), "least processor time of those").wanted, None);
}

#[test]
fn a_modelled_disk_is_compared_with_its_limit() {
    let with = |haul_s| bed("disk-nvme", vec![contender("haul", &[haul_s], 1.0), contender("dd", &[2.0], 1.0)]);
    assert_verdict(&with(1.05), "within 5 %", 1.05, Verdict::Holds);
    assert_verdict(&with(1.06), "within 5 %", 1.06, Verdict::FallsShort);
    let mut unlimited = with(1.0);
    unlimited.limits.clear();
    assert_eq!(claim(&unlimited, "within 5 %").verdict, Verdict::NotKnown);
}

#[test]
fn only_rotational_disks_require_10_percent_above_the_best_peer() {
    let with = |name, peer_s| bed(name, vec![contender("haul", &[1.0], 1.0), contender("dd", &[peer_s], 1.0)]);
    for name in ["disk-7200", "disk-self"] {
        assert_verdict(&with(name, 1.1), "best of all", 1.1, Verdict::Holds);
        assert_verdict(&with(name, 1.09), "best of all", 1.09, Verdict::FallsShort);
    }
    assert!(claims(&with("disk-nvme", 1.1)).iter().all(|claim| !claim.what.starts_with("best of all")));
}

#[test]
fn streams_and_files_are_compared_with_the_best_peer() {
    let with = |name, peer_s| bed(name, vec![contender("haul", &[1.0], 1.0), contender("dd", &[peer_s], 1.0)]);
    for name in ["stream-in", "file-ext4"] {
        assert_verdict(&with(name, 1.0), "as fast as", 1.0, Verdict::Holds);
        // Noise cannot be determined from one round.
        assert_verdict(&with(name, 0.999), "as fast as", 0.999, Verdict::FallsShort);
    }
}

#[test]
fn a_slower_median_with_a_third_of_faster_rounds_is_equal_within_the_spread() {
    let with = |peer_s: &[f64]| bed("stream-in", vec![contender("haul", &[1.0; 5], 1.0), contender("dd", peer_s, 1.0)]);
    assert_verdict(&with(&[0.98, 0.97, 0.99, 1.02, 1.03]), "as fast as", 0.99, Verdict::Equal);
    // One of five rounds does not make it equal.
    assert_verdict(&with(&[0.98, 0.97, 0.99, 0.98, 9.0]), "as fast as", 0.98, Verdict::FallsShort);
}

#[test]
fn the_best_peer_is_chosen_by_paired_ratios() {
    let haul = contender("haul", &[1.0, 2.0, 4.0], 1.0);
    let steady = contender("steady", &[2.1, 2.1, 2.1], 1.0);
    let paired = contender("paired", &[0.9, 1.8, 3.6], 1.0);
    let claim = claim(&bed("stream-in", vec![haul, steady, paired]), "as fast as");
    assert!(claim.note.starts_with("against paired"), "{claim:?}");
}

#[test]
fn unranked_and_wrong_contenders_are_not_compared() {
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
fn memory_is_claimed_on_every_bed_and_the_cached_test_file_where_measured() {
    let mut bed = bed("any", vec![contender("haul", &[1.0], 1.0)]);
    assert_verdict(&bed, "the test file", 100.0, Verdict::Holds);
    assert_verdict(&bed, "at most 64 MiB", 20.0, Verdict::Holds);
    (bed.contenders[0].test_file_left, bed.contenders[0].runs[0].resident_bytes) = (Some(0.98), 65 << 20);
    assert_verdict(&bed, "the test file", 98.0, Verdict::FallsShort);
    assert_verdict(&bed, "at most 64 MiB", 65.0, Verdict::FallsShort);
    bed.contenders[0].test_file_left = None;
    assert!(claims(&bed).iter().all(|claim| !claim.what.contains("test file")), "it was not measured");
}

#[test]
fn no_claim_holds_if_haul_copied_wrong_bytes() {
    let mut haul = contender("haul", &[1.0], 1.0);
    haul.runs[0].verdict = RunVerdict::CopiedWrongly { first_difference: 512 };
    let claims = claims(&bed("disk-7200", vec![haul, contender("dd", &[2.0], 2.0)]));
    assert_eq!(claims.len(), 6);
    for claim in claims {
        assert_eq!((claim.verdict, claim.figure), (Verdict::FallsShort, None), "{claim:?}");
        assert!(claim.note.contains("copied wrongly"), "{claim:?}");
    }
}

/// haul with an option, without it, and alternatives, in five rounds.
fn certain(name: &str, contenders: &[(&str, [f64; 5])]) -> BedResult {
    bed(name, contenders.iter().map(|(name, walls_s)| contender(name, walls_s, 1.0)).collect())
}

#[test]
fn the_cost_of_digests_and_journals_is_in_percent_with_its_noise() {
    let with = |walls_s| certain("certain-ssd", &[("haul", [2.0; 5]), ("haul --manifest", walls_s)]);
    assert_verdict(&with([2.0, 2.06, 2.1, 2.2, 2.2]), "--manifest costs", 5.0, Verdict::Holds);
    assert_verdict(&with([2.2, 2.2, 2.2, 2.2, 2.0]), "--manifest costs", 10.0, Verdict::FallsShort);
    assert_verdict(&with([2.2, 2.2, 2.2, 2.0, 2.0]), "--manifest costs", 10.0, Verdict::Equal);
    let found = claim(&with([2.0, 2.06, 2.1, 2.2, 2.2]), "--manifest costs");
    assert_eq!(found.note, "beside haul; +0.0 to +10.0 % in 5 rounds");
    let with = |walls_s| certain("certain-journal", &[("haul", walls_s), ("haul --no-journal", [2.0; 5])]);
    assert_verdict(&with([2.02; 5]), "the journal", 1.0, Verdict::Holds);
    assert_verdict(&with([2.03; 5]), "the journal", 1.5, Verdict::FallsShort);
}

#[test]
fn read_back_is_compared_with_copy_plus_read_and_with_the_best_peer() {
    let with = |verify_s: f64| {
        let verify = ("haul --verify", [verify_s; 5]);
        let peers = [("dd, then cmp", [6.0; 5]), ("qemu-img, then compare", [5.0; 5])];
        certain("certain-7200", &[("haul", [2.0; 5]), verify, ("haul, then a read", [4.0; 5]), peers[0], peers[1]])
    };
    assert_verdict(&with(4.0), "--verify is not slower", 1.0, Verdict::Holds);
    assert_verdict(&with(4.4), "--verify is not slower", 4.0 / 4.4, Verdict::FallsShort);
    assert_verdict(&with(4.0), "--verify is faster", 1.25, Verdict::Holds);
    assert_verdict(&with(5.5), "--verify is faster", 5.0 / 5.5, Verdict::FallsShort);
    let mut failed = with(4.0);
    failed.contenders[1].runs[4].verdict = RunVerdict::Failed { why: "status 1".into() };
    for start in ["--verify is not slower", "--verify is faster"] {
        let claim = claim(&failed, start);
        assert_eq!((claim.verdict, claim.figure), (Verdict::FallsShort, None), "{claim:?}");
        assert!(claim.note.contains("failed in round 5"), "{claim:?}");
    }
}

#[test]
fn two_dests_a_nearly_equal_dest_and_comparing_have_claims_of_their_own() {
    let both = |slow_s| certain("certain-also", &[("haul", [2.0; 5]), ("haul, one by one", [slow_s; 5])]);
    assert_verdict(&both(3.8), "two dests", 1.9, Verdict::Holds);
    assert_verdict(&both(3.7), "two dests", 1.85, Verdict::FallsShort);
    let delta = |ours_s| certain("certain-delta", &[("haul", [2.0; 5]), ("haul --delta", [ours_s; 5])]);
    assert_verdict(&delta(0.5), "--delta takes at most", 4.0, Verdict::Holds);
    assert_verdict(&delta(2.5), "--delta takes at most", 0.8, Verdict::FallsShort);
    assert_eq!(claim(&delta(0.5), "--delta is not slower").note, "ddpt, sparing is not there");
    let compare = |cmp_s| certain("certain-compare", &[("haul", [1.0; 5]), ("cmp", [cmp_s; 5])]);
    assert_verdict(&compare(1.2), "never slower", 1.2, Verdict::Holds);
    assert_verdict(&compare(0.9), "never slower", 0.9, Verdict::FallsShort);
    // haul with and without options is not its own peer.
    assert!(claims(&compare(1.0)).iter().all(|claim| !claim.what.contains("processor time")));
}

#[test]
fn every_bed_of_certainty_has_claims() {
    let recipes = crate::bed::recipes().into_iter().filter(|recipe| recipe.name.starts_with("certain-"));
    for recipe in recipes {
        let asked = claims(&bed(recipe.name, vec![contender("haul", &[1.0], 1.0)]));
        assert!(asked.len() > 1, "{}: {asked:?}", recipe.name);
    }
}

#[test]
fn on_unlike_disks_haul_is_compared_with_the_best_fixed_pair_of_each_round() {
    // One pair is best in two rounds, the other in one.
    let with = |walls_s: &[f64]| {
        let pairs = [contender("1M x 4", &[1.0, 1.0, 1.2], 1.0), contender("64K x 16", &[1.1, 1.2, 1.0], 1.0)];
        bed("unlike-256m-a", std::iter::once(contender("haul", walls_s, 1.0)).chain(pairs).collect())
    };
    let good = with(&[1.02, 1.05, 1.10]);
    assert_verdict(&good, "within 5 % of the best", 1.05, Verdict::Holds);
    assert_verdict(&good, "within 10 %", 1.10, Verdict::Holds);
    assert_eq!(claim(&good, "within 5 % of the best").note, "against 1M x 4 (2 of 3), 64K x 16 (1 of 3)");
    let bad = with(&[1.06, 1.06, 1.11]);
    assert_verdict(&bad, "within 5 % of the best", 1.06, Verdict::FallsShort);
    assert_verdict(&bad, "within 10 %", 1.11, Verdict::FallsShort);
    assert_eq!(claim(&bad, "within 10 %").note, "against 64K x 16");
}

#[test]
fn compressed_images_are_compared_with_the_decoder_and_with_bmaptool() {
    let with = |haul_s: f64, verify_s: f64, bmaptool_s: f64| {
        let peers = [("haul --verify", [verify_s; 5]), ("bmaptool", [bmaptool_s; 5])];
        certain("image-zst", &[("haul", [haul_s; 5]), peers[0], peers[1]])
    };
    assert_verdict(&with(1.03, 1.2, 1.5), "within 3 %", 1.03, Verdict::Holds);
    assert_verdict(&with(1.04, 1.2, 1.5), "within 3 %", 1.04, Verdict::FallsShort);
    assert_verdict(&with(1.0, 1.2, 1.5), "not slower than bmaptool", 1.5, Verdict::Holds);
    assert_verdict(&with(2.0, 2.0, 1.5), "not slower than bmaptool", 0.75, Verdict::FallsShort);
    assert_verdict(&with(1.0, 1.2, 1.2), "--verify is not slower", 1.0, Verdict::Holds);
    assert_verdict(&with(1.0, 2.0, 1.5), "--verify is not slower", 0.75, Verdict::FallsShort);
    // haul with an option is not a peer, and a decoder has memory of its own.
    let claims = claims(&with(1.0, 1.2, 1.5));
    assert!(claims.iter().all(|claim| !claim.what.contains("processor time")), "{claims:?}");
    assert_eq!(claims.last().unwrap().wanted, Some(320.0));
}

#[test]
fn object_stores_are_compared_by_the_processor_time_of_processes_and_by_time() {
    let with = |haul_own_s: f64, peer_s: f64| {
        let [mut haul, mut aws, mut rclone] = [("haul", 1.0), ("aws s3 cp", peer_s), ("rclone", 9.0)]
            .map(|(name, wall_s)| contender(name, &[wall_s], 1.0));
        for (contender, own_s) in [(&mut haul, haul_own_s), (&mut aws, 3.0), (&mut rclone, 2.0)] {
            contender.runs[0].process_cpu_s = own_s;
        }
        bed("network-s3-up", vec![haul, aws, rclone])
    };
    assert_verdict(&with(1.0, 1.0), "at most half", 0.5, Verdict::Holds);
    assert_verdict(&with(1.1, 1.0), "at most half", 0.55, Verdict::FallsShort);
    assert_verdict(&with(1.0, 1.0), "as fast as", 1.0, Verdict::Holds);
    assert_verdict(&with(1.0, 0.9), "as fast as", 0.9, Verdict::FallsShort);
}
