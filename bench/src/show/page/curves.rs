//! Curves: rates by block size, and times over the rounds. Drawn by the code for haul's own pages.
use crate::numbers::{self, HAUL, ranking};
use crate::result::{self, BedResult, ContenderResult, PointResult, Sweep};
use haul::report::page::{Axis, Chart, Curve, Quantity, Shape};
use serde::Serialize;

/// Number of colours.
const CURVES_MAX: usize = 7;

/// Points of a curve that are marked.
const DOTS_MAX: usize = 100;

/// A chart and its description.
#[derive(Serialize)]
pub(super) struct Curves {
    /// Its identifier for programs: `rates`, `ratios`, `rounds` or `course`.
    class: &'static str,
    what: String,
    /// Colour and name of each curve.
    key: Vec<(usize, String)>,
    /// The same chart for wide and for narrow screens, with text of the same size.
    wide: String,
    narrow: String,
}

impl Curves {
    fn drawn(
        class: &'static str,
        what: impl Into<String>,
        label: String,
        quantities: [Quantity; 2],
        lines: Lines,
    ) -> Curves {
        let points = || lines.iter().flat_map(|(_, points)| points.iter().copied());
        let across = Axis::over(quantities[0], points().map(|point| point.0));
        // Starting at 0, as bars do.
        let up = Axis::over(quantities[1], points().map(|point| point.1).chain([0.0]));
        let both = |(number, (name, points)): (usize, &Line)| {
            let dots = if points.len() <= DOTS_MAX { points.clone() } else { Vec::new() };
            [Curve::new(name, number, Shape::Line, points.clone()), Curve::new("", number, Shape::Dots, dots)]
        };
        // The first, haul or the only one, is drawn on top.
        let curves: Vec<Curve> = lines.iter().enumerate().rev().flat_map(both).collect();
        let chart = Chart::new(&label, [across, up], curves);
        let mut key = chart.key();
        key.reverse();
        Curves { class, what: what.into(), key, wide: chart.wide(), narrow: chart.narrow() }
    }
}

/// Points with their block sizes in bytes.
type BySize<'a> = Vec<(f64, &'a PointResult)>;

/// The name of a curve and its points.
type Line = (String, Vec<(f64, f64)>);

/// Names of curves with their points.
type Lines = Vec<Line>;

/// Rates of both programs by block size; if block sizes occur repeatedly, as for conversions, the ratio of each.
/// `None` for fewer than two block sizes.
pub(super) fn by_block_size(sweep: &Sweep) -> Option<Curves> {
    let mut groups: Vec<(String, BySize<'_>)> = Vec::new();
    for point in &sweep.points {
        let Some((group, bytes)) = block_bytes(&point.name) else { continue };
        match groups.iter_mut().find(|(name, _)| *name == group) {
            Some((_, points)) => points.push((bytes, point)),
            None => groups.push((group, vec![(bytes, point)])),
        }
    }
    let seen = |points: &[(f64, &PointResult)], of: fn(&PointResult, numbers::AtPoint) -> f64| -> Vec<(f64, f64)> {
        points.iter().filter_map(|&(bytes, point)| Some((bytes, of(point, numbers::at_point(point)?)))).collect()
    };
    let (class, what, up, lines): (_, _, _, Lines) = match groups.as_slice() {
        [(_, points)] => {
            let haul = seen(points, |point, seen| point.bytes as f64 / seen.haul_s);
            let peer = seen(points, |point, seen| point.bytes as f64 / seen.peer_s);
            let what = "Bytes a second by block size, from the median times; the axis is logarithmic.";
            ("rates", what, Quantity::Rate, vec![("haul dd".to_owned(), haul), ("GNU dd".to_owned(), peer)])
        }
        groups => {
            let ratios = groups.iter().take(CURVES_MAX);
            let lines =
                ratios.map(|(name, points)| (name.clone(), seen(points, |_, seen| seen.pairs.median))).collect();
            ("ratios", "The ratio by the size of records; the axis is logarithmic.", Quantity::Times, lines)
        }
    };
    if lines.iter().all(|(_, points)| points.len() < 2) {
        return None;
    }
    let label = format!("{}: by block size", sweep.title);
    Some(Curves::drawn(class, what, label, [Quantity::BlockSize, up], lines))
}

/// Time of each run of haul and of the fastest others, round by round: whether the machine's speed was constant.
/// `None` for a single round.
pub(super) fn over_rounds(bed: &BedResult) -> Option<Curves> {
    let ranking = ranking(bed);
    let ranked: Vec<&ContenderResult> = ranking.ranked.iter().map(|(contender, _)| *contender).collect();
    let haul = ranked.iter().filter(|one| one.name == HAUL);
    let others = ranked.iter().filter(|one| one.name != HAUL);
    let times = |one: &&ContenderResult| {
        let points = one.runs.iter().map(|run| (f64::from(run.round), run.wall_s)).collect();
        (one.name.clone(), points)
    };
    let lines: Lines = haul.chain(others).take(CURVES_MAX).map(times).collect();
    if lines.iter().all(|(_, points)| points.len() < 2) {
        return None;
    }
    let what = "Wall time over the rounds, of haul and the fastest others: what moves all together is the machine.";
    let label = format!("{}: wall time over the rounds", bed.title);
    Some(Curves::drawn("rounds", what, label, [Quantity::Count, Quantity::Time], lines))
}

/// Bytes over time, as a table has measured them.
pub(super) fn over_time(title: &str, curves: &result::Curves) -> Curves {
    let label = format!("{title}: bytes over time");
    Curves::drawn("course", curves.what.as_str(), label, [Quantity::Time, Quantity::Bytes], curves.lines.clone())
}

/// The block size in a point's name, in bytes, and the rest of it: `conv=swab bs=4K` is 4096 of `conv=swab`.
fn block_bytes(name: &str) -> Option<(String, f64)> {
    let word = name.split_whitespace().find_map(|word| word.strip_prefix("bs=")).filter(|word| !word.is_empty())?;
    let digits = word.trim_end_matches(['K', 'M']);
    let unit = match &word[digits.len()..] {
        "" => 1.0,
        "K" => 1024.0,
        "M" => 1_048_576.0,
        _ => return None,
    };
    let rest: Vec<&str> = name.split_whitespace().filter(|word| !word.starts_with("bs=")).collect();
    Some((rest.join(" "), digits.parse::<u32>().ok().map(f64::from)? * unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_point_has_its_block_size() {
        let of = |name: &str| block_bytes(name);
        assert_eq!(of("bs=512"), Some((String::new(), 512.0)));
        assert_eq!(of("conv=swab bs=4K"), Some(("conv=swab".to_owned(), 4096.0)));
        assert_eq!(of("bs=64M"), Some((String::new(), 67_108_864.0)));
        assert_eq!([of("no bs="), of("bs=K"), of("bs=1G"), of("bs=1MK")], [None, None, None, None]);
    }
}
