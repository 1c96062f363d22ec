//! Statistics of the measurements: medians, spreads, ratios in pairs, the ratio to the limit.
//!
//! Independent of how it was measured, and how it is shown.
use crate::result::{BedResult, ContenderResult, PairRun, PointResult, Run, Verdict};
use statrs::statistics::{Data, Distribution, Max, Min, OrderStatistics};

/// Statistics of the correct runs of one contender.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Median of the wall time, in seconds.
    pub median_s: f64,
    /// Shortest wall time, in seconds.
    pub min_s: f64,
    /// Range of the wall times relative to the median.
    pub spread: f64,
    /// Ratio of its time to haul's: the median over the rounds, in each of which both times are compared.
    pub ratio_to_haul: Option<f64>,
    /// Ratio of its median time to the limit of the bed.
    pub ratio_to_limit: Option<f64>,
    /// Processor seconds of the whole machine per GiB, median.
    pub machine_cpu_s_per_gib: f64,
    /// Processor seconds of its own processes per GiB, median.
    pub process_cpu_s_per_gib: f64,
    /// Largest resident memory of all runs, in bytes.
    pub resident_bytes: u64,
    /// Median of the bytes of source and dest left in the page cache.
    pub cache_left_bytes: u64,
    /// Share of the cached test file left in the page cache, 0 to 1, if measured.
    pub test_file_left: Option<f64>,
}

/// Whether a contender is ranked.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// All its runs were correct.
    Ranked(Summary),
    /// At least one run copied wrongly or failed: shown, but not ranked.
    Marked(String),
}

/// Name of the contender with which all others are compared.
pub const HAUL: &str = "haul";

/// Bytes in a GiB.
const GIB: f64 = (1u64 << 30) as f64;

/// The limit of a bed in seconds: the slowest of its binding limits; `None` if there is none.
pub fn limit_s(bed: &BedResult) -> Option<f64> {
    bed.limits.iter().filter(|limit| limit.binding).map(|limit| limit.seconds).reduce(f64::max)
}

/// Whether `contender` of `bed` is ranked, and with which statistics.
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
        test_file_left: contender.test_file_left,
    };
    Standing::Ranked(summary)
}

/// Ratios of a contender's time to haul's in the same round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pairs {
    /// Median.
    pub median: f64,
    /// Rounds in which haul was as fast, or faster.
    pub won: usize,
    /// Rounds in which both ran.
    pub rounds: usize,
}

impl Pairs {
    /// Whether noise hides which of the two is faster: haul is slower in the median, but was as fast or faster in a
    /// third of the rounds, and in at least two. Rounds are counted, because a range, or quartiles of few rounds,
    /// would let one disturbed round make everything equal.
    pub fn are_near(self) -> bool {
        self.won >= 2 && self.won * 3 >= self.rounds
    }
}

/// Ratios of the time of `contender` to haul's in the same round, over the rounds in which both ran; `None` if there
/// are none, or haul's own copies were wrong: a ratio to a wrong copy has no meaning.
pub fn pairs_with_haul(bed: &BedResult, contender: &ContenderResult) -> Option<Pairs> {
    let haul = haul_of(bed).filter(|haul| mark(&haul.runs).is_none())?;
    let ratios = ratios_in_pairs(&contender.runs, &haul.runs);
    let (rounds, won) = (ratios.len(), ratios.iter().filter(|ratio| **ratio >= 1.0).count());
    (rounds > 0).then(|| Pairs { median: median(ratios), won, rounds })
}

/// Statistics of the pairs at one point; `None` if there are none, or one of the programs was wrong.
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

/// Statistics of the pairs at one point of a sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AtPoint {
    /// Median of the other program's time, in seconds.
    pub peer_s: f64,
    /// Median of haul's time, in seconds.
    pub haul_s: f64,
    /// Smallest ratio of its time to haul's in the same round.
    pub least: f64,
    /// Largest ratio.
    pub most: f64,
    /// The median of the ratios, and the rounds that haul won.
    pub pairs: Pairs,
}

/// The contenders of a bed in the order of display: fastest first, separate from those that are not compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking<'a> {
    /// Those that are compared, including haul; by median.
    pub ranked: Vec<(&'a ContenderResult, Summary)>,
    /// Those that are shown but not compared; by median.
    pub aside: Vec<(&'a ContenderResult, Summary)>,
    /// Those that copied wrongly or failed, with the reason; in the order of running.
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

/// The contender with which all others are compared: haul without options.
pub fn haul_of(bed: &BedResult) -> Option<&ContenderResult> {
    bed.contenders.iter().find(|contender| contender.name == HAUL)
}

/// The fastest ranked contender that is not haul, with its ratio to haul.
pub fn best_peer(bed: &BedResult) -> Option<(&ContenderResult, Summary)> {
    ranking(bed).ranked.into_iter().find(|(contender, _)| contender.name != HAUL)
}

/// Why runs are not ranked; `None` if all were correct. The absence of runs is a reason too.
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

/// The ratio of one contender's time to the other's, for each round in which both ran.
///
/// In pairs, because a noisy machine affects both runs of a round, which a ratio of medians would not account for.
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
