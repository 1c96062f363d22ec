//! The claims about haul on each bed, with measured figures. A claim that falls short is shown; it is not an error.
//!
//! Independent of how it was measured, and how it is shown.
mod certain;
mod image;
mod pace;
mod sweeps;

use crate::numbers::{HAUL, Pairs, Ranking, Standing, Summary, haul_of, pairs_with_haul, ranking, standing};
use crate::result::{BedResult, ContenderResult};
use serde::Serialize;
pub use sweeps::{at_point, of_sweep};

/// At least this many times as fast as the best peer, through memory.
const RAM_SPEED_MIN: f64 = 1.4;
/// At most this many times the limit, on a modelled disk.
const LIMIT_MAX: f64 = 1.05;
/// At least this many times as fast as the best peer, on rotational disks.
const MOVING_HEAD_SPEED_MIN: f64 = 1.10;
/// Processor times are compared with those of contenders that reach this share of haul's speed.
const SPEED_SHARE: f64 = 0.9;
/// Processor time of haul's processes by that of a peer's, at most, on copies to and from object stores.
const OWN_PROCESSOR_MAX: f64 = 0.5;
/// At least this share of the cached test file remains cached.
const TEST_FILE_MIN: f64 = 0.99;
/// Maximum resident memory, in MiB.
const RESIDENT_MAX_MIB: f64 = 64.0;
/// Why no comparison is possible.
const NO_PEER: &str = "no peer copied rightly";

/// One claim about one bed, and its verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    /// The claim in words, with haul as the subject: `never slower than any peer`.
    pub what: String,
    /// The measured value, in `unit`; `None` if there is none.
    pub figure: Option<f64>,
    /// Whether `wanted` is a lower or an upper bound.
    pub bound: Bound,
    /// The bound, in `unit`; `None` if there is none.
    pub wanted: Option<f64>,
    /// Unit of both: `x`, `s/GiB`, `%`, `MiB`.
    pub unit: &'static str,
    /// The peer, the noise, or why there is no value.
    pub note: String,
    /// The verdict.
    pub verdict: Verdict,
}

/// The kind of bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// The value must be `wanted` or more.
    AtLeast,
    /// The value must be `wanted` or less.
    AtMost,
}

/// Whether a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The value is within the bound.
    Holds,
    /// Slower in the median, but as fast or faster in a third of the rounds: noise hides which of the two is faster.
    Equal,
    /// The value is outside the bound, or haul copied wrongly.
    FallsShort,
    /// There is no value or no bound.
    NotKnown,
}

impl Verdict {
    /// The verdict in words, the same in every output.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Equal => "equal within the spread",
            Verdict::FallsShort => "falls short",
            Verdict::NotKnown => "not known",
        }
    }
}

/// The claims about `bed`, in the order of display; each that applies is listed, with any verdict.
pub fn claims(bed: &BedResult) -> Vec<Claim> {
    let mut claims = asked_of(bed);
    let haul = haul_of(bed).map(|haul| standing(bed, haul));
    match haul {
        Some(Standing::Ranked(haul)) => {
            let seen = Seen { bed, haul, ranking: ranking(bed) };
            claims.iter_mut().for_each(|(claim, ask)| ask(&seen, claim));
        }
        Some(Standing::Marked(why)) => {
            claims.iter_mut().for_each(|(claim, _)| claim.conclude(None, Verdict::FallsShort, format!("haul {why}")));
        }
        None => {
            claims.iter_mut().for_each(|(claim, _)| claim.conclude(None, Verdict::NotKnown, "haul did not run".into()))
        }
    }
    claims.into_iter().map(|(claim, _)| claim).collect()
}

/// The data from which a claim is computed.
struct Seen<'a> {
    bed: &'a BedResult,
    haul: Summary,
    ranking: Ranking<'a>,
}

/// Computes the value of a claim.
type Ask = fn(&Seen, &mut Claim);

/// The claims about this bed, and the function for each.
fn asked_of(bed: &BedResult) -> Vec<(Claim, Ask)> {
    use Bound::{AtLeast, AtMost};
    let is = |start: &str| bed.name.starts_with(start);
    let mut all: Vec<(Claim, Ask)> = Vec::new();
    let mut ask = |what: &str, bound, wanted, unit, ask: Ask| {
        let claim = Claim {
            what: what.into(),
            figure: None,
            bound,
            wanted,
            unit,
            note: String::new(),
            verdict: Verdict::NotKnown,
        };
        all.push((claim, ask));
    };
    if bed.name == "ram" {
        ask("at least 1.4 times as fast as the best peer", AtLeast, Some(RAM_SPEED_MIN), "x", speed);
        ask("least processor time of all", AtMost, None, "s/GiB", processor_of_all);
    }
    if is("disk-") {
        // A copy within one disk has to seek, which its limit does not include.
        if bed.name != "disk-self" {
            ask("within 5 % of the limit", AtMost, Some(LIMIT_MAX), "x", limit);
        }
        ask("never slower than any peer", AtLeast, Some(1.0), "x", not_slower);
    }
    if bed.name == "disk-7200" || bed.name == "disk-self" {
        ask("best of all by at least 10 %", AtLeast, Some(MOVING_HEAD_SPEED_MIN), "x", speed);
    }
    if is("network-http-device-20ms") {
        ask("at least twice as fast as the best peer", AtLeast, Some(2.0), "x", speed);
    } else if is("network-nbd-nbd-5ms") {
        ask("at least 1.11 times as fast as the best peer", AtLeast, Some(1.11), "x", speed);
    } else if is("network-s3-") {
        let what = "at most half of the processor time of any peer's processes";
        ask(what, AtMost, Some(OWN_PROCESSOR_MAX), "x", own_processor);
    } else if is("network-") {
        ask("least processor time of all", AtMost, None, "s/GiB", processor_of_all);
    }
    if is("stream-") || is("file-") || is("network-") {
        ask("as fast as the best peer, or faster", AtLeast, Some(1.0), "x", not_slower);
    }
    for (what, bound, wanted, unit, answer) in
        certain::asked_of(&bed.name).into_iter().chain(image::asked_of(&bed.name))
    {
        ask(what, bound, Some(wanted), unit, answer);
    }
    if is(crate::bed::unlike::PREFIX) {
        ask("within 5 % of the best fixed pair of the same round", AtMost, Some(pace::MEDIAN_MAX), "x", pace::median);
        ask("within 10 % of it in every round", AtMost, Some(pace::WORST_MAX), "x", pace::worst);
    }
    // The other contenders there are haul with options, or do something else.
    let image = is(crate::bed::image::PREFIX);
    if !is("certain-") && !is(crate::bed::unlike::PREFIX) && !image && !is("network-s3-") {
        let what = "least processor time of those that reach 90 % of its speed";
        ask(what, AtMost, None, "s/GiB", processor_of_fast);
    }
    if bed.contenders.iter().any(|contender| contender.test_file_left.is_some()) {
        ask("the test file is still cached", AtLeast, Some(TEST_FILE_MIN * 100.0), "%", test_file);
    }
    if image {
        let wanted = RESIDENT_MAX_MIB + image::DECODER_MAX_MIB;
        ask("at most 64 MiB resident, and 256 MiB of a decoder", AtMost, Some(wanted), "MiB", resident);
    } else {
        ask("at most 64 MiB resident", AtMost, Some(RESIDENT_MAX_MIB), "MiB", resident);
    }
    all
}

impl Claim {
    fn conclude(&mut self, figure: Option<f64>, verdict: Verdict, note: String) {
        (self.figure, self.verdict, self.note) = (figure, verdict, note);
    }

    /// Compares `figure` with the bound.
    fn check(&mut self, figure: f64, note: String) {
        let good = self.wanted.is_some_and(|wanted| match self.bound {
            Bound::AtLeast => figure >= wanted,
            Bound::AtMost => figure <= wanted,
        });
        self.conclude(Some(figure), if good { Verdict::Holds } else { Verdict::FallsShort }, note);
    }
}

impl Seen<'_> {
    fn peers(&self) -> impl Iterator<Item = (&ContenderResult, &Summary)> {
        self.ranking.ranked.iter().map(|(peer, summary)| (*peer, summary)).filter(|(peer, _)| peer.name != HAUL)
    }

    /// The peer with the worst ratio for haul, round by round. Usually that with the best median; if they differ,
    /// this one is stricter.
    fn hardest(&self) -> Option<(&ContenderResult, Pairs)> {
        let pairs = self.peers().filter_map(|(peer, _)| Some((peer, pairs_with_haul(self.bed, peer)?)));
        pairs.min_by(|(_, a), (_, b)| a.median.total_cmp(&b.median))
    }
}

/// Describes the peer and the noise.
fn against(peer: &ContenderResult, pairs: &Pairs) -> String {
    let Pairs { won, rounds, .. } = pairs;
    format!("against {}; as fast or faster in {won} of {rounds} rounds", peer.name)
}

fn speed(seen: &Seen, claim: &mut Claim) {
    match seen.hardest() {
        Some((peer, pairs)) => claim.check(pairs.median, against(peer, &pairs)),
        None => claim.note = NO_PEER.into(),
    }
}

/// As `speed`, but if noise hides which of the two is faster, the verdict states that.
fn not_slower(seen: &Seen, claim: &mut Claim) {
    speed(seen, claim);
    if claim.verdict == Verdict::FallsShort && seen.hardest().is_some_and(|(_, pairs)| pairs.are_near()) {
        claim.verdict = Verdict::Equal;
    }
}

fn limit(seen: &Seen, claim: &mut Claim) {
    match seen.haul.ratio_to_limit {
        Some(ratio) => claim.check(ratio, String::new()),
        None => claim.note = "no limit was found".into(),
    }
}

fn processor_of_all(seen: &Seen, claim: &mut Claim) {
    processor(seen, claim, f64::INFINITY);
}

fn processor_of_fast(seen: &Seen, claim: &mut Claim) {
    processor(seen, claim, 1.0 / SPEED_SHARE);
}

/// Processor time of the machine relative to the lowest of the peers that take at most `ratio_max` times as long.
///
/// That of the whole machine, because the kernel's threads are part of the cost of a copy. If a contender is far
/// faster than all others, it is compared with the lowest of those.
fn processor(seen: &Seen, claim: &mut Claim, ratio_max: f64) {
    let rivals = seen.peers().filter(|(_, peer)| peer.ratio_to_haul.is_some_and(|ratio| ratio <= ratio_max));
    let least = rivals.min_by(|(_, a), (_, b)| a.machine_cpu_s_per_gib.total_cmp(&b.machine_cpu_s_per_gib));
    let figure = seen.haul.machine_cpu_s_per_gib;
    match least {
        Some((peer, summary)) => {
            claim.wanted = Some(summary.machine_cpu_s_per_gib);
            claim.check(figure, format!("least of the others: {}", peer.name));
        }
        None if seen.peers().next().is_none() => claim.conclude(Some(figure), Verdict::NotKnown, NO_PEER.into()),
        None => claim.conclude(Some(figure), Verdict::Holds, "no other reaches 90 % of its speed".into()),
    }
}

/// Processor time of the processes themselves: the server takes most of the machine's.
fn own_processor(seen: &Seen, claim: &mut Claim) {
    let least = seen.peers().min_by(|(_, a), (_, b)| a.process_cpu_s_per_gib.total_cmp(&b.process_cpu_s_per_gib));
    match least {
        Some((peer, summary)) => {
            let ratio = seen.haul.process_cpu_s_per_gib / summary.process_cpu_s_per_gib;
            claim.check(ratio, format!("least of the others: {}", peer.name));
        }
        None => claim.note = NO_PEER.into(),
    }
}

fn test_file(seen: &Seen, claim: &mut Claim) {
    match seen.haul.test_file_left {
        Some(share) => claim.check(share * 100.0, String::new()),
        None => claim.conclude(
            None,
            Verdict::NotKnown,
            "haul failed with little memory, or the kernel kept too little of the file".into(),
        ),
    }
}

fn resident(seen: &Seen, claim: &mut Claim) {
    claim.check(seen.haul.resident_bytes as f64 / f64::from(1 << 20), String::new());
}

#[cfg(test)]
mod tests;
