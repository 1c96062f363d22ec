//! What must hold of haul on each bed, each with its figure. Nothing fails on a claim that falls short; it is shown.
//!
//! Must not know: how it was measured, how it is shown.
mod certain;
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
/// At least this many times as fast as the best peer, where a head moves.
const MOVING_HEAD_SPEED_MIN: f64 = 1.10;
/// Contenders that reach this share of haul's speed are asked for their processor time.
const SPEED_SHARE: f64 = 0.9;
/// At least this share of the witness file is still cached.
const WITNESS_MIN: f64 = 0.99;
/// At most this much memory is resident, in MiB.
const RESIDENT_MAX_MIB: f64 = 64.0;
/// Why there is nothing to compare with.
const NO_PEER: &str = "no peer copied rightly";

/// One claim on one bed, and what the measurements say to it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    /// The claim in words, haul being the subject: `never slower than any peer`.
    pub what: String,
    /// What was measured, in `unit`; `None` when it could not be.
    pub figure: Option<f64>,
    /// Whether the figure must not be below or not be above `wanted`.
    pub bound: Bound,
    /// What the figure is held against, in `unit`; `None` when there is nothing to hold it against.
    pub wanted: Option<f64>,
    /// Unit of both: `x`, `s/GiB`, `%`, `MiB`.
    pub unit: &'static str,
    /// Against whom, with what noise, or why there is no figure.
    pub note: String,
    /// What comes of it.
    pub verdict: Verdict,
}

/// Which side of `wanted` the figure must be on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// The figure must be `wanted` or more.
    AtLeast,
    /// The figure must be `wanted` or less.
    AtMost,
}

/// Whether a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The figure is on the right side.
    Holds,
    /// Slower in the median, but as fast or faster in a third of the rounds: the noise hides which of the two is
    /// faster.
    Equal,
    /// The figure is on the wrong side, or haul itself copied wrongly.
    FallsShort,
    /// There was nothing to hold it against.
    NotKnown,
}

impl Verdict {
    /// In words, as all that show it say it.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Equal => "equal within the spread",
            Verdict::FallsShort => "falls short",
            Verdict::NotKnown => "not known",
        }
    }
}

/// The claims of `bed`, in the order they are shown; each that applies is there, whatever comes of it.
pub fn claims(bed: &BedResult) -> Vec<Claim> {
    let mut claims = asked_of(bed);
    let haul = haul_of(bed).map(|haul| standing(bed, haul));
    match haul {
        Some(Standing::Ranked(haul)) => {
            let seen = Seen { bed, haul, ranking: ranking(bed) };
            claims.iter_mut().for_each(|(claim, ask)| ask(&seen, claim));
        }
        Some(Standing::Marked(why)) => {
            claims.iter_mut().for_each(|(claim, _)| claim.settle(None, Verdict::FallsShort, format!("haul {why}")));
        }
        None => {
            claims.iter_mut().for_each(|(claim, _)| claim.settle(None, Verdict::NotKnown, "haul did not run".into()))
        }
    }
    claims.into_iter().map(|(claim, _)| claim).collect()
}

/// What a claim is worked out from.
struct Seen<'a> {
    bed: &'a BedResult,
    haul: Summary,
    ranking: Ranking<'a>,
}

/// Puts the figure into a claim.
type Ask = fn(&Seen, &mut Claim);

/// Which claims are made of this bed, and how each is answered.
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
        // One disk onto itself has to seek, which its limit does not count.
        if bed.name != "disk-self" {
            ask("within 5 % of the limit", AtMost, Some(LIMIT_MAX), "x", limit);
        }
        ask("never slower than any peer", AtLeast, Some(1.0), "x", not_slower);
    }
    if bed.name == "disk-7200" || bed.name == "disk-self" {
        ask("best of all by at least 10 %", AtLeast, Some(MOVING_HEAD_SPEED_MIN), "x", speed);
    }
    if is("stream-") || is("file-") {
        ask("as fast as the best peer, or faster", AtLeast, Some(1.0), "x", not_slower);
    }
    for (what, bound, wanted, unit, answer) in certain::asked_of(&bed.name) {
        ask(what, bound, Some(wanted), unit, answer);
    }
    if is(crate::bed::unlike::PREFIX) {
        ask("within 5 % of the best fixed pair of the same round", AtMost, Some(pace::MEDIAN_MAX), "x", pace::median);
        ask("within 10 % of it in every round", AtMost, Some(pace::WORST_MAX), "x", pace::worst);
    }
    // The others there are haul with options, or do something else.
    if !is("certain-") && !is(crate::bed::unlike::PREFIX) {
        let what = "least processor time of those that reach 90 % of its speed";
        ask(what, AtMost, None, "s/GiB", processor_of_fast);
    }
    if bed.contenders.iter().any(|contender| contender.witness_left.is_some()) {
        ask("the witness file is still cached", AtLeast, Some(WITNESS_MIN * 100.0), "%", witness);
    }
    ask("at most 64 MiB resident", AtMost, Some(RESIDENT_MAX_MIB), "MiB", resident);
    all
}

impl Claim {
    fn settle(&mut self, figure: Option<f64>, verdict: Verdict, note: String) {
        (self.figure, self.verdict, self.note) = (figure, verdict, note);
    }

    /// Holds `figure` against what is wanted.
    fn judge(&mut self, figure: f64, note: String) {
        let good = self.wanted.is_some_and(|wanted| match self.bound {
            Bound::AtLeast => figure >= wanted,
            Bound::AtMost => figure <= wanted,
        });
        self.settle(Some(figure), if good { Verdict::Holds } else { Verdict::FallsShort }, note);
    }
}

impl Seen<'_> {
    fn peers(&self) -> impl Iterator<Item = (&ContenderResult, &Summary)> {
        self.ranking.ranked.iter().map(|(peer, summary)| (*peer, summary)).filter(|(peer, _)| peer.name != HAUL)
    }

    /// The peer that haul does worst against, pair by pair. Nearly always the one with the best median; where the two
    /// differ, this one is the harder.
    fn hardest(&self) -> Option<(&ContenderResult, Pairs)> {
        let pairs = self.peers().filter_map(|(peer, _)| Some((peer, pairs_with_haul(self.bed, peer)?)));
        pairs.min_by(|(_, a), (_, b)| a.median.total_cmp(&b.median))
    }
}

/// Says against whom, and with what noise.
fn against(peer: &ContenderResult, pairs: &Pairs) -> String {
    let Pairs { won, rounds, .. } = pairs;
    format!("against {}; as fast or faster in {won} of {rounds} rounds", peer.name)
}

fn speed(seen: &Seen, claim: &mut Claim) {
    match seen.hardest() {
        Some((peer, pairs)) => claim.judge(pairs.median, against(peer, &pairs)),
        None => claim.note = NO_PEER.into(),
    }
}

/// As `speed`, but a noise that hides which of the two is faster is called by its name.
fn not_slower(seen: &Seen, claim: &mut Claim) {
    speed(seen, claim);
    if claim.verdict == Verdict::FallsShort && seen.hardest().is_some_and(|(_, pairs)| pairs.are_near()) {
        claim.verdict = Verdict::Equal;
    }
}

fn limit(seen: &Seen, claim: &mut Claim) {
    match seen.haul.ratio_to_limit {
        Some(ratio) => claim.judge(ratio, String::new()),
        None => claim.note = "no limit was found".into(),
    }
}

fn processor_of_all(seen: &Seen, claim: &mut Claim) {
    processor(seen, claim, f64::INFINITY);
}

fn processor_of_fast(seen: &Seen, claim: &mut Claim) {
    processor(seen, claim, 1.0 / SPEED_SHARE);
}

/// Machine's processor time against the least of the peers that take at most `ratio_max` times as long.
///
/// The whole machine's, because what a copy costs the kernel's threads is part of what it costs. Who left all
/// others behind has the least of those who did not.
fn processor(seen: &Seen, claim: &mut Claim, ratio_max: f64) {
    let rivals = seen.peers().filter(|(_, peer)| peer.ratio_to_haul.is_some_and(|ratio| ratio <= ratio_max));
    let least = rivals.min_by(|(_, a), (_, b)| a.machine_cpu_s_per_gib.total_cmp(&b.machine_cpu_s_per_gib));
    let figure = seen.haul.machine_cpu_s_per_gib;
    match least {
        Some((peer, summary)) => {
            claim.wanted = Some(summary.machine_cpu_s_per_gib);
            claim.judge(figure, format!("least of the others: {}", peer.name));
        }
        None if seen.peers().next().is_none() => claim.settle(Some(figure), Verdict::NotKnown, NO_PEER.into()),
        None => claim.settle(Some(figure), Verdict::Holds, "no other reaches 90 % of its speed".into()),
    }
}

fn witness(seen: &Seen, claim: &mut Claim) {
    match seen.haul.witness_left {
        Some(share) => claim.judge(share * 100.0, String::new()),
        None => claim.settle(
            None,
            Verdict::NotKnown,
            "haul failed with little memory, or the kernel kept too little of the file to see".into(),
        ),
    }
}

fn resident(seen: &Seen, claim: &mut Claim) {
    claim.judge(seen.haul.resident_bytes as f64 / f64::from(1 << 20), String::new());
}

#[cfg(test)]
mod tests;
