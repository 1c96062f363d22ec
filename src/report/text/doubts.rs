use crate::core::Op;
use crate::report::printable::printable;
use crate::report::units;
use std::path::Path;

/// A rate that cannot be that of the disk, because `what` is limited to `most_per_s`: all in bytes per second.
pub fn above_the_link(found_per_s: u64, most_per_s: u64, what: &str) -> String {
    let [found, most] = [found_per_s, most_per_s].map(units::rate_at_a_glance);
    format!("{found} exceeds the limit of {what} ({most}): this measures a cache, not the disk")
}

/// Where the result of a sweep was saved.
pub fn kept(place: &Path, op: Op) -> String {
    let copies = if op == Op::Write { "copies to" } else { "copies from" };
    format!("haul: saved in {}; {copies} this disk start with these values\n", printable(&place.to_string_lossy()))
}

/// Where the page was written.
pub fn paged(path: &Path) -> String {
    format!("haul: report written to {}\n", printable(&path.to_string_lossy()))
}
