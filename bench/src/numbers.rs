//! What the measurements say: medians, spreads, ratios in pairs, the distance to the limit.
//!
//! Must not know: how it was measured, how it is shown.
use crate::result::{BedResult, ContenderResult, PairRun, PointResult, Run, Verdict};
use statrs::statistics::{Data, Distribution, Max, Min, OrderStatistics};

/// What the right runs of one contender say.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Median of the wall time, in seconds.
    pub median_s: f64,
    /// Shortest wall time, in seconds.
    pub min_s: f64,
    /// Longest less shortest wall time, as a share of the median.
    pub spread: f64,
    /// How many times as long as haul it took: the median over the rounds of its time by haul's time in the same round.
    pub ratio_to_haul: Option<f64>,
    /// Its median time by the limit of the bed.
    pub ratio_to_limit: Option<f64>,
    /// Processor seconds of the whole machine for each GiB, median.
    pub machine_cpu_s_per_gib: f64,
    /// Processor seconds of its own processes for each GiB, median.
    pub process_cpu_s_per_gib: f64,
    /// Largest resident memory of all runs, in bytes.
    pub resident_bytes: u64,
    /// Median of what was left of source and dest in the page cache, in bytes.
    pub cache_left_bytes: u64,
    /// Share of the witness file that was left in the page cache, 0 to 1, where that was measured.
    pub witness_left: Option<f64>,
}

/// Whether, and how, a contender may be ranked.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// All its runs were right.
    Ranked(Summary),
    /// At least one run copied wrongly or failed: shown, never ranked.
    Marked(String),
}

/// Name of the contender that all others are compared with.
pub const HAUL: &str = "haul";

/// The bytes of a GiB.
const GIB: f64 = (1u64 << 30) as f64;

/// The limit of a bed in seconds: the slowest of its binding bounds; `None` when none was found.
pub fn limit_s(bed: &BedResult) -> Option<f64> {
    bed.limits.iter().filter(|limit| limit.binding).map(|limit| limit.seconds).reduce(f64::max)
}

/// Whether `contender` of `bed` is ranked, and with which numbers.
pub fn standing(bed: &BedResult, contender: &ContenderResult) -> Standing {
    if let Some(mark) = mark(&contender.runs) {
        return Standing::Marked(mark);
    }
    let of = |field: fn(&Run) -> f64| contender.runs.iter().map(field).collect::<Vec<_>>();
    let per_gib = |field: fn(&Run) -> f64| median(of(field)) / (bed.bytes as f64 / GIB);
    let wall = Data::new(of(|run| run.wall_s));
    let median_s = median(of(|run| run.wall_s));
    let summary = Summary {
        median_s,
        min_s: wall.min(),
        spread: (wall.max() - wall.min()) / median_s,
        ratio_to_haul: pairs_with_haul(bed, contender).map(|pairs| pairs.median),
        ratio_to_limit: limit_s(bed).map(|limit| median_s / limit),
        machine_cpu_s_per_gib: per_gib(|run| run.machine_cpu_s),
        process_cpu_s_per_gib: per_gib(|run| run.process_cpu_s),
        resident_bytes: contender.runs.iter().map(|run| run.resident_bytes).max().unwrap_or(0),
        cache_left_bytes: median(of(|run| run.cache_left_bytes as f64)) as u64,
        witness_left: contender.witness_left,
    };
    Standing::Ranked(summary)
}

/// What the rounds say of one contender's time by haul's in the same round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pairs {
    /// Median.
    pub median: f64,
    /// Rounds in which haul was as fast, or faster.
    pub won: usize,
    /// Rounds that both ran.
    pub rounds: usize,
}

impl Pairs {
    /// haul is slower in the median, and still was as fast or faster in a third of the rounds, and in two at least: the
    /// noise hides which of the two is faster. Rounds are counted, because one disturbed round must not make anything
    /// equal to everything, as it does with a range, or with quartiles of few rounds.
    pub fn are_near(self) -> bool {
        self.won >= 2 && self.won * 3 >= self.rounds
    }
}

/// Time of `contender` by haul's time in the same round, over the rounds that both ran; `None` when there is no such
/// round, or haul's own copies were not right: a ratio to a wrong copy says nothing.
pub fn pairs_with_haul(bed: &BedResult, contender: &ContenderResult) -> Option<Pairs> {
    let haul = haul_of(bed).filter(|haul| mark(&haul.runs).is_none())?;
    let ratios = ratios_in_pairs(&contender.runs, &haul.runs);
    let (rounds, won) = (ratios.len(), ratios.iter().filter(|ratio| **ratio >= 1.0).count());
    (rounds > 0).then(|| Pairs { median: median(ratios), won, rounds })
}

/// What the pairs of one point say; `None` when there are none, or one of the programs was wrong.
pub fn at_point(point: &PointResult) -> Option<AtPoint> {
    if point.wrong.is_some() || point.runs.is_empty() {
        return None;
    }
    let of = |field: fn(&PairRun) -> f64| point.runs.iter().map(field).collect::<Vec<_>>();
    let ratios = of(|run| run.peer_s / run.haul_s);
    let won = ratios.iter().filter(|ratio| **ratio >= 1.0).count();
    let sorted = Data::new(ratios.clone());
    Some(AtPoint {
        peer_s: median(of(|run| run.peer_s)),
        haul_s: median(of(|run| run.haul_s)),
        least: sorted.min(),
        most: sorted.max(),
        pairs: Pairs { median: median(ratios), won, rounds: point.runs.len() },
    })
}

/// What the pairs of one point of a sweep say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AtPoint {
    /// Median of the other program's time, in seconds.
    pub peer_s: f64,
    /// Median of haul's time, in seconds.
    pub haul_s: f64,
    /// Least of its times by haul's in the same round.
    pub least: f64,
    /// Greatest of them.
    pub most: f64,
    /// Their median, and the rounds that haul won.
    pub pairs: Pairs,
}

/// The contenders of a bed as they are shown: fastest first, and apart what is not compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking<'a> {
    /// Compared with haul, and haul itself; by median.
    pub ranked: Vec<(&'a ContenderResult, Summary)>,
    /// Shown, not compared; by median.
    pub aside: Vec<(&'a ContenderResult, Summary)>,
    /// Copied wrongly or failed, with the reason; in the order they ran.
    pub marked: Vec<(&'a ContenderResult, String)>,
}

/// Sorts the contenders of a bed.
pub fn ranking(bed: &BedResult) -> Ranking<'_> {
    let mut ranking = Ranking { ranked: Vec::new(), aside: Vec::new(), marked: Vec::new() };
    for contender in &bed.contenders {
        match standing(bed, contender) {
            Standing::Ranked(summary) if contender.aside => ranking.aside.push((contender, summary)),
            Standing::Ranked(summary) => ranking.ranked.push((contender, summary)),
            Standing::Marked(why) => ranking.marked.push((contender, why)),
        }
    }
    for list in [&mut ranking.ranked, &mut ranking.aside] {
        list.sort_by(|(_, a), (_, b)| a.median_s.total_cmp(&b.median_s));
    }
    ranking
}

/// The contender that all others are compared with: haul with no option.
pub fn haul_of(bed: &BedResult) -> Option<&ContenderResult> {
    bed.contenders.iter().find(|contender| contender.name == HAUL)
}

/// The fastest ranked contender that is not haul, with its ratio to haul.
pub fn best_peer(bed: &BedResult) -> Option<(&ContenderResult, Summary)> {
    ranking(bed).ranked.into_iter().find(|(contender, _)| contender.name != HAUL)
}

/// Why runs are not ranked; `None` when all were right. No run at all is a reason too.
fn mark(runs: &[Run]) -> Option<String> {
    let wrong = |run: &Run| match &run.verdict {
        Verdict::Right => None,
        Verdict::CopiedWrongly { first_difference } => {
            Some(format!("copied wrongly in round {}: differs from byte {first_difference} on", run.round))
        }
        Verdict::Failed { why } => Some(format!("failed in round {}: {why}", run.round)),
    };
    if runs.is_empty() { Some("did not run".into()) } else { runs.iter().find_map(wrong) }
}

/// For each round that both ran, this one's time by the other's.
///
/// In pairs, because a noisy machine is noisy for both runs of a round, and a ratio of medians would not know that.
pub fn ratios_in_pairs(these: &[Run], others: &[Run]) -> Vec<f64> {
    let pair = |run: &Run| others.iter().find(|other| other.round == run.round).map(|other| run.wall_s / other.wall_s);
    these.iter().filter_map(pair).collect()
}

/// Median; NaN for no values.
pub fn median(values: Vec<f64>) -> f64 {
    Data::new(values).median()
}

/// Mean; NaN for no values.
pub fn mean(values: Vec<f64>) -> f64 {
    Data::new(values).mean().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests;
