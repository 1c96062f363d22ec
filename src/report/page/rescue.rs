//! The page of a rescue: the map of the source, its areas, and what was rescued over time.
use super::axis::{Axis, Quantity};
use super::blocks::{block_bytes, colour, pictures};
use super::chart::{Chart, Curve, Shape};
use super::{Figure, Page, Table, bare, capital, device, frame, render};
use crate::core::rescue::{CoursePoint, RescueMap, Status, StatusBlock};
use crate::core::{Ended, Facts, Machine};
use crate::report::json::RescueEnd;
use crate::report::printable::shell_line;
use crate::report::rescue::{STATUSES, rescued, share_of};
use crate::report::{text, units};
use std::time::{Duration, SystemTime};

/// Areas in the table, at most; `--json` has all.
const LISTED_MAX: usize = 1000;

/// A shorter time without a new byte is normal.
const IDLE_MIN: Duration = Duration::from_secs(2);

/// The data for the page of a rescue.
#[derive(Clone, Copy, Debug)]
pub struct RescueFound<'a> {
    /// The rescue after its run.
    pub end: &'a RescueEnd<'a>,
    /// What was rescued over time.
    pub course: &'a [CoursePoint],
    /// The machine.
    pub machine: &'a Machine,
    /// When the run began.
    pub started: SystemTime,
}

/// The page of a rescue, finished or not, as HTML.
pub fn rescue(found: RescueFound<'_>) -> String {
    let RescueFound { end, course, .. } = found;
    let (map, [source, dest]) = (&end.state.map, end.sides);
    let title = format!("haul rescue: {} to {}", source.address, dest.address);
    let mut page = frame(title, end.args, found.started, found.machine);
    page.headline = headline(map);
    match &end.outcome.ended {
        Ended::Complete => {}
        Ended::Interrupted(_) => page.warnings.push("Interrupted: the rescue is incomplete.".to_owned()),
        Ended::OutOfTime => page.warnings.push("Stopped: the rescue is incomplete.".to_owned()),
        Ended::Failed(error) => page.warnings.push(bare(&text::error(error)).trim_start_matches("haul: ").to_owned()),
    }
    page.summary = summary(end);
    page.figures.push(picture(map));
    page.figures.extend(over_time(course));
    page.figures.extend(areas(map));
    add_sides(&mut page, [source, dest]);
    page.report = bare(&rescued(end));
    render(page)
}

fn headline(map: &RescueMap) -> String {
    let (bytes, all) = (map.bytes(Status::Finished), map.len_bytes());
    format!("{} of {} rescued, {}", units::size(bytes), units::size(all), share_of(bytes, all))
}

/// The bytes of each status, and what to do next.
fn summary(end: &RescueEnd<'_>) -> Vec<(String, String)> {
    let map = &end.state.map;
    let row = |(status, name): (Status, &str)| {
        let (bytes, all) = (map.bytes(status), map.len_bytes());
        (bytes > 0).then(|| (capital(name), format!("{}, {}", units::bytes(bytes), share_of(bytes, all))))
    };
    let mut rows: Vec<(String, String)> = STATUSES.into_iter().filter_map(row).collect();
    let phase = if matches!(end.outcome.ended, Ended::Complete) { "" } else { end.state.phase.name() };
    rows.extend((!phase.is_empty()).then(|| ("Ended while".to_owned(), phase.to_owned())));
    rows.push(("Elapsed".to_owned(), units::duration(end.outcome.elapsed)));
    rows.push(("Map".to_owned(), end.map.to_string_lossy().into_owned()));
    let next = end.next_command().map(|line| shell_line(line.iter().map(String::as_str)));
    rows.extend(next.map(|line| ("Next command".to_owned(), line)));
    rows
}

/// The map as blocks by status.
fn picture(map: &RescueMap) -> Figure {
    let used = STATUSES.into_iter().filter(|(status, _)| map.bytes(*status) > 0);
    let key = used.clone().map(|(status, name)| (format!("key {}", colour(status).0), name.to_owned())).collect();
    let words: Vec<String> = used.map(|(status, name)| format!("{name} {}", units::size(map.bytes(status)))).collect();
    let label = format!("Map of the source from its first byte to its last: {}", words.join(", "));
    let [wide, narrow] = pictures(map, &label);
    let what = format!(
        "The source from its first byte to its last, row by row. On a wide screen a block is {}. It has the worst \
         status of its bytes: the higher a block is, the worse.",
        units::size(block_bytes(map))
    );
    let (title, answer) = ("Map of the source".to_owned(), String::new());
    Figure { id: "map", title, answer, what, key, wide, narrow, table: None }.answering(&words.join(", "))
}

/// Rescued and failed bytes over time; `None` if there are fewer than two moments.
fn over_time(course: &[CoursePoint]) -> Option<Figure> {
    if course.len() < 2 {
        return None;
    }
    let points = |bytes: fn(&CoursePoint) -> u64| {
        course.iter().map(|point| (point.after.as_secs_f64(), bytes(point) as f64)).collect::<Vec<_>>()
    };
    let (rescued, failed) = (points(|point| point.rescued_bytes), points(|point| point.failed_bytes));
    let times = rescued.iter().map(|point| point.0);
    let bytes = rescued.iter().chain(&failed).map(|point| point.1);
    let axes = [Axis::over(Quantity::Time, times), Axis::over(Quantity::Bytes, bytes.chain([0.0]))];
    let curves = vec![
        Curve::new("rescued", 0, Shape::Area, rescued.clone()),
        Curve::new("failed", 1, Shape::Line, failed.clone()),
    ];
    let chart = Chart::new("Rescued and failed bytes over time", axes, curves);
    let row = |point: &CoursePoint| {
        let after = format!("{:.1} s", point.after.as_secs_f64());
        vec![after, units::size(point.rescued_bytes), units::size(point.failed_bytes)]
    };
    let table = Table::new(&["after", "rescued", "failed"], course.iter().map(row).collect());
    let what = "Bytes that are rescued, and bytes in areas whose reading failed: not trimmed, not scraped, and bad \
        sectors. This run only; what earlier runs have rescued is the start of the curve.";
    Some(Figure::new("rescued-over-time", "Rescued over time", what, &chart, Some(table)).answering(&gained(course)))
}

/// What this run has rescued, and the time without a new byte at its end.
fn gained(course: &[CoursePoint]) -> String {
    let (Some(first), Some(last)) = (course.first(), course.last()) else { return String::new() };
    let gained = last.rescued_bytes.saturating_sub(first.rescued_bytes);
    let since = course.iter().find(|point| point.rescued_bytes == last.rescued_bytes).unwrap_or(last);
    let idle = last.after.saturating_sub(since.after);
    let nothing_new = match idle >= IDLE_MIN {
        true => format!(", nothing new in the last {}", units::duration(idle)),
        false => String::new(),
    };
    format!("{} in this run{nothing_new}", units::size(gained))
}

/// The areas that are not rescued.
fn areas(map: &RescueMap) -> Option<Figure> {
    let missing = || map.blocks().filter(|block| block.status != Status::Finished);
    let all = missing().count();
    let name = |status: Status| STATUSES.iter().find(|(other, _)| *other == status).map_or("", |(_, name)| *name);
    let row = |StatusBlock { extent, status }: StatusBlock| {
        let [first, bytes] = [extent.offset, extent.len].map(|number| number.to_string());
        vec![name(status).to_owned(), first, bytes, units::size(extent.len)]
    };
    let rows: Vec<Vec<String>> = missing().take(LISTED_MAX).map(row).collect();
    let more = if all > LISTED_MAX { format!(" The first {LISTED_MAX} of {all}.") } else { String::new() };
    let what = format!("In the order of the source.{more} haul map show --json lists all areas of the map.");
    let table = Table::new(&["status", "first byte", "bytes", "size"], rows);
    (all > 0).then(|| Figure::of_table("areas", "Areas that are not rescued", &what, table))
}

fn add_sides(page: &mut Page, [source, dest]: [&Facts; 2]) {
    let sides = [("The source", source), ("The destination", dest)];
    page.facts.splice(0..0, sides.map(|(heading, facts)| (heading.to_owned(), device::side(facts))));
}
