//! The claims about a sweep: point by point, and one about all of them.
use super::{Bound, Claim, Verdict};
use crate::numbers::{self, AtPoint};
use crate::result::{PointResult, Sweep};

/// Maximum number of points in a claim; the table has all of them.
const NAMED_MAX: usize = 3;

/// The verdict of one point.
pub fn at_point(point: &PointResult) -> Verdict {
    match numbers::at_point(point) {
        Some(seen) if seen.pairs.median >= point.wanted => Verdict::Holds,
        // If more than equality is required, noise does not excuse it.
        Some(seen) if point.wanted == 1.0 && seen.pairs.are_near() => Verdict::Equal,
        Some(_) => Verdict::FallsShort,
        None if point.wrong.is_some() => Verdict::FallsShort,
        None => Verdict::NotKnown,
    }
}

/// The claims about `sweep`: one for each point at which haul must be faster, and one for the others.
pub fn of_sweep(sweep: &Sweep) -> Vec<Claim> {
    let (plain, special): (Vec<_>, Vec<_>) = sweep.points.iter().partition(|point| point.wanted == 1.0);
    let special = special.into_iter().map(|point| {
        let what = format!("at least {:.0} times as fast as GNU dd with {}", point.wanted, point.name);
        claim(what, point.wanted, &[point])
    });
    let all = (!plain.is_empty()).then(|| claim("nowhere slower than GNU dd".into(), 1.0, &plain));
    special.chain(all).collect()
}

/// The worst of `points` is decisive; those that fall short are listed.
fn claim(what: String, wanted: f64, points: &[&PointResult]) -> Claim {
    let seen = |point: &&PointResult| numbers::at_point(point).map(|seen| (point.name.clone(), seen));
    let least = points.iter().filter_map(seen).min_by(|(_, a), (_, b)| a.pairs.median.total_cmp(&b.pairs.median));
    let verdicts: Vec<Verdict> = points.iter().map(|point| at_point(point)).collect();
    let worst = [Verdict::FallsShort, Verdict::NotKnown, Verdict::Equal];
    let verdict = worst.into_iter().find(|worst| verdicts.contains(worst)).unwrap_or(Verdict::Holds);
    let mut short: Vec<_> = points.iter().filter(|point| at_point(point) != Verdict::Holds).collect();
    // Points without a value were wrong, and come first.
    short.sort_by(|a, b| speed(a).total_cmp(&speed(b)));
    let short: Vec<String> = short.into_iter().map(named).collect();
    let note = match (&least, short.is_empty()) {
        (Some((name, seen)), true) if points.len() > 1 => format!("least at {name}: {}", range(seen)),
        (Some((_, seen)), true) => range(seen),
        (_, _) if short.len() > NAMED_MAX => {
            format!("{}; and {} more", short[..NAMED_MAX].join("; "), short.len() - NAMED_MAX)
        }
        _ => short.join("; "),
    };
    let figure = least.map(|(_, seen)| seen.pairs.median);
    Claim { what, figure, bound: Bound::AtLeast, wanted: Some(wanted), unit: "x", note, verdict }
}

fn speed(point: &PointResult) -> f64 {
    numbers::at_point(point).map_or(0.0, |seen| seen.pairs.median)
}

fn named(point: &&PointResult) -> String {
    let found = match (&point.wrong, numbers::at_point(point)) {
        (Some(why), _) => why.clone(),
        (None, Some(seen)) => format!("{:.2}, {}, {}", seen.pairs.median, range(&seen), at_point(point).words()),
        (None, None) => "not measured".into(),
    };
    format!("{}: {found}", point.name)
}

fn range(seen: &AtPoint) -> String {
    format!("{:.2} to {:.2}", seen.least, seen.most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::PairRun;

    /// A point at which GNU dd takes these times and haul one second.
    fn point(name: &str, wanted: f64, peers_s: &[f64]) -> PointResult {
        let run = |(at, peer_s): (usize, &f64)| PairRun { round: at as u32 + 1, peer_s: *peer_s, haul_s: 1.0 };
        let runs = peers_s.iter().enumerate().map(run).collect();
        PointResult { name: name.into(), wanted, runs, ..PointResult::default() }
    }

    fn sweep(points: Vec<PointResult>) -> Sweep {
        Sweep { points, ..Sweep::default() }
    }

    #[test]
    fn the_slowest_point_decides_the_claim_of_nowhere_slower() {
        let of = |peers_s| {
            let claims = of_sweep(&sweep(vec![point("bs=512", 1.0, &[9.0, 9.0, 9.0]), point("bs=1K", 1.0, peers_s)]));
            assert_eq!(claims.len(), 1);
            (claims[0].figure, claims[0].verdict, claims[0].note.clone())
        };
        let note = "least at bs=1K: 1.00 to 2.00".into();
        assert_eq!(of(&[1.0, 1.0, 2.0]), (Some(1.0), Verdict::Holds, note));
        let note = "bs=1K: 0.90, 0.50 to 1.00, falls short".into();
        assert_eq!(of(&[0.9, 0.5, 1.0]), (Some(0.9), Verdict::FallsShort, note));
        let near = of(&[0.9, 0.5, 0.9, 1.0, 1.1]);
        assert_eq!((near.0, near.1), (Some(0.9), Verdict::Equal));
    }

    #[test]
    fn the_worst_of_many_failed_points_are_named() {
        let points = [0.9, 0.6, 0.8, 0.7, 0.5].map(|ratio| point(&format!("at {ratio}"), 1.0, &[ratio]));
        let note = of_sweep(&sweep(points.into()))[0].note.clone();
        let places = ["at 0.5", "at 0.6", "at 0.7", "and 2 more"].map(|part| note.find(part).expect(part));
        assert!(places.is_sorted() && !note.contains("at 0.8"), "{note}");
    }

    #[test]
    fn a_claim_that_requires_more_does_not_hold_by_equality() {
        let of = |peers_s| {
            let claims = of_sweep(&sweep(vec![point("no bs=", 50.0, peers_s), point("bs=512", 1.0, &[1.0])]));
            assert_eq!(claims.len(), 2);
            assert_eq!(claims[1].verdict, Verdict::Holds);
            (claims[0].figure, claims[0].verdict)
        };
        assert_eq!(of(&[50.0]), (Some(50.0), Verdict::Holds));
        assert_eq!(of(&[49.0, 49.9, 51.0, 60.0, 10.0]), (Some(49.9), Verdict::FallsShort));
    }

    #[test]
    fn wrong_bytes_fail_every_claim_and_missing_runs_are_unknown() {
        let wrong = PointResult { wrong: Some("haul failed".into()), ..point("bs=512", 1.0, &[9.0]) };
        let claims = of_sweep(&sweep(vec![wrong]));
        assert_eq!((claims[0].figure, claims[0].verdict), (None, Verdict::FallsShort));
        assert_eq!(claims[0].note, "bs=512: haul failed");
        let claims = of_sweep(&sweep(vec![point("bs=512", 1.0, &[])]));
        assert_eq!(claims[0].verdict, Verdict::NotKnown);
    }
}
