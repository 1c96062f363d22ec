//! haul with auto-tuning, compared with the best of several fixed block sizes and depths.
use super::{Claim, Seen};
use crate::numbers;
use crate::result::Run;

/// At most this many times the best fixed pair, in the median.
pub(super) const MEDIAN_MAX: f64 = 1.05;
/// At most this many times the best fixed pair, in any round.
pub(super) const WORST_MAX: f64 = 1.10;

/// haul's time relative to that of the fastest fixed pair of the same round, in each round, and that pair.
fn ratios(seen: &Seen) -> Vec<(f64, String)> {
    let of_round = |run: &Run| {
        let others = seen.peers().flat_map(|(peer, _)| peer.runs.iter().map(move |run| (run, &peer.name)));
        let others = others.filter(|(other, _)| other.round == run.round);
        let (best, name) = others.min_by(|(a, _), (b, _)| a.wall_s.total_cmp(&b.wall_s))?;
        Some((run.wall_s / best.wall_s, name.clone()))
    };
    let haul = numbers::haul_of(seen.bed);
    haul.map(|haul| haul.runs.iter().filter_map(of_round).collect()).unwrap_or_default()
}

/// The best pairs of the rounds, the most frequent first: `against 1M x 4 (3 of 5), 512K x 8`.
fn against(ratios: &[(f64, String)]) -> String {
    let mut names: Vec<(usize, &str)> = Vec::new();
    for (_, name) in ratios {
        match names.iter_mut().find(|(_, known)| *known == name) {
            Some((count, _)) => *count += 1,
            None => names.push((1, name)),
        }
    }
    names.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let names: Vec<String> =
        names.iter().map(|(count, name)| format!("{name} ({count} of {})", ratios.len())).collect();
    format!("against {}", names.join(", "))
}

/// The median over the rounds.
pub(super) fn median(seen: &Seen, claim: &mut Claim) {
    let ratios = ratios(seen);
    if !ratios.is_empty() {
        claim.check(numbers::median(ratios.iter().map(|(ratio, _)| *ratio).collect()), against(&ratios));
    }
}

/// The worst round.
pub(super) fn worst(seen: &Seen, claim: &mut Claim) {
    if let Some((ratio, name)) = ratios(seen).into_iter().max_by(|(a, _), (b, _)| a.total_cmp(b)) {
        claim.check(ratio, format!("against {name}"));
    }
}
