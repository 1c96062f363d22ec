use crate::core::Op;
use crate::report::printable::printable;
use crate::report::units;
use std::path::Path;

/// A rate that cannot be that of the disk, for `what` gives no more than `most_per_s`: all in bytes a second.
pub fn above_the_link(found_per_s: u64, most_per_s: u64, what: &str) -> String {
    let [found, most] = [found_per_s, most_per_s].map(units::rate_at_a_glance);
    format!("{found} exceeds the limit of {what} ({most}): this measures a cache, not the disk")
}

/// Where the answer of a sweep was kept.
pub fn kept(place: &Path, op: Op) -> String {
    let copies = if op == Op::Write { "copies to" } else { "copies from" };
    format!("haul: saved in {}; {copies} this disk start with these values\n", printable(&place.to_string_lossy()))
}

/// Where the page went.
pub fn paged(path: &Path) -> String {
    format!("haul: report written to {}\n", printable(&path.to_string_lossy()))
}
