//! The position of a copy on its sides, and the positions of errors: a figure of the areas, and their list.
use super::strips::{Kind, Strip, Strips};
use super::{Figure, Table};
use crate::core::{Ended, EndpointKind, Extent, ExtentSet, Facts, Outcome, Plan, Side, Verified};
use crate::report::units;

/// Maximum number of listed areas; the strips show all.
const LISTED_MAX: usize = 1000;

/// `None` if neither side has offsets, the copy has not begun, or it is complete without errors.
pub(super) fn map(plan: &Plan, outcome: &Outcome, facts: &[(Side, Facts)]) -> Option<Figure> {
    let dests = facts.iter().filter(|(side, _)| *side == Side::Dest).count();
    let mut number = 0usize;
    let strip = |(side, facts): &(Side, Facts)| {
        let name = match side {
            Side::Source => "source".to_owned(),
            Side::Dest if dests == 1 => "destination".to_owned(),
            Side::Dest => {
                number += 1;
                format!("destination {number}")
            }
        };
        let areas = match side {
            Side::Source => source(plan, outcome),
            Side::Dest => dest(plan, outcome, number.checked_sub(1)),
        };
        strip(plan, *side, facts, name, areas)
    };
    let strips: Vec<Strip> = facts.iter().filter_map(strip).collect();
    let is_copied = |strip: &Strip| strip.areas.iter().all(|(kind, _)| *kind == Kind::Copied);
    if strips.iter().all(is_copied) {
        return None;
    }
    let answer = answer(&strips);
    let (rows, all) = rows(&strips);
    let more =
        if all > LISTED_MAX { format!(" The table has the first {LISTED_MAX} of {all} areas.") } else { String::new() };
    let what = format!(
        "Each side from its first byte to its last. Areas that are too small for the picture are drawn wider; the \
         table has their exact offsets.{more}"
    );
    let table = Table::new(&["side", "area", "first byte", "bytes", "size"], rows);
    let strips = Strips { label: "Map of both sides by position".to_owned(), strips };
    let [wide, narrow] = strips.pictures();
    let (title, key) = ("Map".to_owned(), strips.key());
    let figure = Figure { id: "map", title, answer: String::new(), what, key, wide, narrow, table: Some(table) };
    Some(figure.answering(&answer))
}

/// A side with its areas; `None` for a stream.
fn strip(plan: &Plan, side: Side, facts: &Facts, name: String, areas: Vec<(Kind, ExtentSet)>) -> Option<Strip> {
    if !matches!(facts.kind, EndpointKind::File | EndpointKind::Block) {
        return None;
    }
    let areas: Vec<(Kind, ExtentSet)> = areas.into_iter().filter(|(_, set)| !set.is_empty()).collect();
    let covered = areas.iter().map(|(_, set)| set.end()).max()?;
    // A file that is truncated first ends where the copy ends.
    let size = facts.size.filter(|_| facts.kind == EndpointKind::Block || side == Side::Source);
    let planned = plan.len.map_or(0, |len| plan.side(side).map.end(len));
    let len_bytes = size.unwrap_or(0).max(covered).max(planned);
    let areas = areas.into_iter().map(|(kind, set)| (kind, set.iter().collect())).collect();
    Some(Strip { name, len_bytes, areas })
}

/// The copied and the remaining part, derived from `claimed`, in offsets of `side`.
fn progress(plan: &Plan, side: Side, claimed: Extent) -> [(Kind, ExtentSet); 2] {
    let whole: ExtentSet = [plan.len.map_or(claimed, |len| Extent::new(0, len))].into_iter().collect();
    let copied: ExtentSet = whole.within(claimed).collect();
    let mut remaining = whole;
    remaining.remove_all(&copied);
    [(Kind::Copied, copied), (Kind::Remaining, remaining)].map(|(kind, set)| (kind, on_side(plan, side, &set)))
}

/// Converts offsets of the copy into offsets of `side`.
fn on_side(plan: &Plan, side: Side, set: &ExtentSet) -> ExtentSet {
    set.iter().flat_map(|extent| plan.side(side).map.places(extent)).collect()
}

/// The offset on `side` at which the copy failed.
fn failed(outcome: &Outcome, side: Side) -> ExtentSet {
    let Ended::Failed(error) = &outcome.ended else { return ExtentSet::new() };
    let place = error.offset.filter(|_| error.side == Some(side));
    place.map(|offset| Extent::new(offset, u64::from(error.sector_bytes.max(1)))).into_iter().collect()
}

fn source(plan: &Plan, outcome: &Outcome) -> Vec<(Kind, ExtentSet)> {
    let verified = outcome.verified.iter().chain(outcome.dests.iter().filter_map(|dest| dest.verified.as_ref()));
    let changed: ExtentSet = verified.flat_map(|found| found.changed.iter().copied()).collect();
    let mut areas = progress(plan, Side::Source, outcome.claimed).to_vec();
    areas.push((Kind::Changed, on_side(plan, Side::Source, &changed)));
    areas.push((Kind::Unread, outcome.unread[Side::Source.index()].runs.clone()));
    areas.push((Kind::Failed, failed(outcome, Side::Source)));
    areas
}

/// The areas of the destination, or of the given one of several.
fn dest(plan: &Plan, outcome: &Outcome, number: Option<usize>) -> Vec<(Kind, ExtentSet)> {
    let ended = number.and_then(|number| outcome.dests.get(number));
    let claimed = ended.map_or(outcome.claimed, |ended| ended.claimed);
    let verified: Option<&Verified> = ended.map_or(outcome.verified.as_ref(), |ended| ended.verified.as_ref());
    let mut areas = progress(plan, Side::Dest, claimed).to_vec();
    let unread = &outcome.unread[Side::Source.index()].runs;
    let zeros: ExtentSet = unread.iter().flat_map(|run| plan.source.map.copied_from(run)).collect();
    // Sectors skipped after the claimed part are copied again.
    let zeros: ExtentSet = zeros.within(claimed).collect();
    areas.push((Kind::Zeros, on_side(plan, Side::Dest, &zeros)));
    for (kind, set) in verified.into_iter().flat_map(|found| {
        [(Kind::Misread, &found.misread), (Kind::Rewritten, &found.rewritten), (Kind::Wrong, &found.wrong)]
    }) {
        areas.push((kind, on_side(plan, Side::Dest, set)));
    }
    areas.push((Kind::Unread, outcome.unread[Side::Dest.index()].runs.clone()));
    areas.push((Kind::Failed, ended.map_or_else(|| failed(outcome, Side::Dest), |_| ExtentSet::new())));
    areas
}

/// A sentence about errors, and the remaining part.
fn answer(strips: &[Strip]) -> String {
    let of_kind = |(kind, extents): &(Kind, Vec<Extent>)| {
        let bytes = units::size(extents.iter().map(|extent| extent.len).sum());
        let areas = units::count(extents.len() as u64, "area", "areas");
        match kind {
            Kind::Failed => kind.name().to_owned(),
            _ => format!("{bytes} {} in {areas}", kind.name()),
        }
    };
    let describe = |strip: &Strip, wanted: &dyn Fn(Kind) -> bool| -> Option<String> {
        let words: Vec<String> = strip.areas.iter().filter(|(kind, _)| wanted(*kind)).map(of_kind).collect();
        (!words.is_empty()).then(|| format!("{}: {}", strip.name, words.join(", ")))
    };
    let bad: Vec<String> = strips.iter().filter_map(|strip| describe(strip, &Kind::is_bad)).collect();
    let remains: Vec<String> =
        strips.iter().filter_map(|strip| describe(strip, &|kind| kind == Kind::Remaining)).collect();
    match bad.is_empty() {
        true => remains.join("; "),
        false => bad.join("; "),
    }
}

/// The areas of each side by offset, and their number.
fn rows(strips: &[Strip]) -> (Vec<Vec<String>>, usize) {
    let mut rows = Vec::new();
    let mut all = 0;
    for strip in strips {
        let of_kind = |(kind, extents): &(Kind, Vec<Extent>)| -> Vec<(Extent, Kind)> {
            extents.iter().map(|&extent| (extent, *kind)).collect()
        };
        let mut areas: Vec<(Extent, Kind)> = strip.areas.iter().flat_map(of_kind).collect();
        areas.sort_by_key(|(extent, kind)| (extent.offset, *kind));
        all += areas.len();
        rows.extend(areas.into_iter().take(LISTED_MAX - rows.len().min(LISTED_MAX)).map(|(extent, kind)| {
            let [first, bytes] = [extent.offset, extent.len].map(|number| number.to_string());
            vec![strip.name.clone(), kind.name().to_owned(), first, bytes, units::size(extent.len)]
        }));
    }
    (rows, all)
}
