//! The cost of verification: claims about the beds on which haul's options are compared with haul without them, and
//! with the usual alternatives.
use super::{Ask, Bound, Claim, NO_PEER, Seen, Verdict, limit, not_slower};
use crate::numbers::{HAUL, Pairs, Standing, median, ratios_in_pairs, standing};
use crate::result::ContenderResult;

/// Maximum cost of a digest or a manifest, in percent of a copy's time.
const DIGEST_MAX: f64 = 5.0;
/// Maximum cost of a journal, in percent.
const JOURNAL_MAX: f64 = 1.0;
/// `--delta` is at least this many times as fast as a copy, whatever differs: at most 1.05 times as long.
const DELTA_SPEED_MIN: f64 = 1.0 / 1.05;
/// Two dests at once are at least this many times as fast as one after the other; 2 is the maximum.
const BOTH_SPEED_MIN: f64 = 1.9;

const HASH: &str = "haul --hash blake3";
const MANIFEST: &str = "haul --manifest";
const VERIFY: &str = "haul --verify";
const THEN_A_READ: &str = "haul, then a read";
const NO_JOURNAL: &str = "haul --no-journal";
const DELTA: &str = "haul --delta";
const ONE_BY_ONE: &str = "haul, one by one";

/// A claim about a bed: its words, its bound, and its function.
pub(super) type Asked = (&'static str, Bound, f64, &'static str, Ask);

/// The claims about the bed called `name`; none if it is not about verification.
pub(super) fn asked_of(name: &str) -> Vec<Asked> {
    use Bound::{AtLeast, AtMost};
    match name {
        "certain-ssd" | "certain-7200" => vec![
            ("--hash blake3 costs at most 5 %", AtMost, DIGEST_MAX, "%", |seen, claim| costs(seen, claim, HASH, HAUL)),
            ("--manifest costs at most 5 %", AtMost, DIGEST_MAX, "%", |seen, claim| costs(seen, claim, MANIFEST, HAUL)),
            ("--verify is not slower than a copy and one read of the dest", AtLeast, 1.0, "x", |seen, claim| {
                faster(seen, claim, VERIFY, THEN_A_READ);
            }),
            ("--verify is faster than any peer that copies and then compares", AtLeast, 1.0, "x", verify_of_peers),
        ],
        "certain-journal" | "certain-journal-cache" => {
            vec![("the journal costs at most 1 %", AtMost, JOURNAL_MAX, "%", |seen, claim| {
                costs(seen, claim, HAUL, NO_JOURNAL);
            })]
        }
        "certain-delta" => vec![
            ("--delta takes at most 1.05 times as long as a copy", AtLeast, DELTA_SPEED_MIN, "x", |seen, claim| {
                faster(seen, claim, DELTA, HAUL);
            }),
            ("--delta is not slower than ddpt's sparing", AtLeast, 1.0, "x", |seen, claim| {
                faster(seen, claim, DELTA, "ddpt, sparing");
            }),
        ],
        "certain-also" => vec![
            ("two dests are at least 1.9 times as fast as two copies", AtLeast, BOTH_SPEED_MIN, "x", |seen, claim| {
                faster(seen, claim, HAUL, ONE_BY_ONE);
            }),
            ("within 5 % of the limit", AtMost, super::LIMIT_MAX, "x", limit),
        ],
        "certain-compare" | "certain-compare-7200" => vec![
            ("within 5 % of the limit", AtMost, super::LIMIT_MAX, "x", limit),
            ("never slower than any peer", AtLeast, 1.0, "x", not_slower),
        ],
        _ => Vec::new(),
    }
}

/// How much longer `dear` takes than `cheap`, in percent, with the range over the rounds.
fn costs(seen: &Seen, claim: &mut Claim, dear: &str, cheap: &str) {
    let Some(ratios) = ratios(seen, claim, dear, cheap) else { return };
    let percent: Vec<f64> = ratios.iter().map(|ratio| 100.0 * ratio - 100.0).collect();
    let range =
        percent.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), one| (low.min(*one), high.max(*one)));
    let note = format!("beside {cheap}; {:+.1} to {:+.1} % in {}", range.0, range.1, rounds(percent.len()));
    let kept = percent.iter().filter(|percent| claim.wanted.is_none_or(|wanted| **percent <= wanted)).count();
    let pairs = Pairs { median: median(percent.clone()), won: kept, rounds: percent.len() };
    claim.check(pairs.median, note);
    equal_if_near(claim, pairs);
}

/// How many times as fast as `other` `ours` is.
pub(super) fn faster(seen: &Seen, claim: &mut Claim, ours: &str, other: &str) {
    let Some(ratios) = ratios(seen, claim, other, ours) else { return };
    let won = ratios.iter().filter(|ratio| claim.wanted.is_none_or(|wanted| **ratio >= wanted)).count();
    let pairs = Pairs { median: median(ratios.clone()), won, rounds: ratios.len() };
    let note = format!("beside {other}; so in {won} of {}", rounds(pairs.rounds));
    claim.check(pairs.median, note);
    equal_if_near(claim, pairs);
}

/// The best peer is decisive.
fn verify_of_peers(seen: &Seen, claim: &mut Claim) {
    let peers = seen.peers().filter(|(peer, _)| !peer.name.starts_with(HAUL));
    let best = peers.min_by(|(_, a), (_, b)| a.median_s.total_cmp(&b.median_s)).map(|(peer, _)| peer.name.clone());
    match best {
        Some(best) => faster(seen, claim, VERIFY, &best),
        None => claim.note = NO_PEER.into(),
    }
}

/// If noise hides on which side of the bound the value is, the verdict states that.
fn equal_if_near(claim: &mut Claim, pairs: Pairs) {
    if claim.verdict == Verdict::FallsShort && pairs.are_near() {
        claim.verdict = Verdict::Equal;
    }
}

fn rounds(count: usize) -> String {
    format!("{count} round{}", if count == 1 { "" } else { "s" })
}

/// The ratios of the times of `these` to those of `others`, round by round; `None`, with the claim answered, if one
/// was not correct.
fn ratios(seen: &Seen, claim: &mut Claim, these: &str, others: &str) -> Option<Vec<f64>> {
    let these = right(seen, claim, these)?;
    let others = right(seen, claim, others)?;
    let ratios = ratios_in_pairs(&these.runs, &others.runs);
    if ratios.is_empty() {
        claim.note = format!("{} and {} have no round in common", these.name, others.name);
        return None;
    }
    Some(ratios)
}

/// The contender called `name`. If haul was wrong, the claim falls short; if a peer was wrong, or is not installed,
/// there is no verdict.
fn right<'a>(seen: &Seen<'a>, claim: &mut Claim, name: &str) -> Option<&'a ContenderResult> {
    let Some(found) = seen.bed.contenders.iter().find(|contender| contender.name == name) else {
        claim.note = format!("{name} is not there");
        return None;
    };
    match standing(seen.bed, found) {
        Standing::Ranked(_) => Some(found),
        Standing::Marked(why) => {
            let verdict = if name.starts_with(HAUL) { Verdict::FallsShort } else { Verdict::NotKnown };
            claim.conclude(None, verdict, format!("{name} {why}"));
            None
        }
    }
}
