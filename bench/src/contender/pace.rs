//! haul with auto-tuning, and haul with fixed block sizes and depths.
use super::{Contender, catalogue};
use crate::bed::{Bed, Task};
use crate::process::Line;

/// haul first; then eight pairs, some of which suit every disk.
pub(super) fn pairs() -> Vec<Contender> {
    let haul = |name, line| Contender {
        name,
        task: Task::Pace,
        needs: ("haul", "haul"),
        version: "haul --version",
        aside: false,
        line,
    };
    vec![
        haul("haul", |bed, haul| copy(bed, haul, "")),
        haul("64K x 16", |bed, haul| copy(bed, haul, "--block-size 64K --depth 16")),
        haul("256K x 8", |bed, haul| copy(bed, haul, "--block-size 256K --depth 8")),
        haul("256K x 32", |bed, haul| copy(bed, haul, "--block-size 256K --depth 32")),
        haul("512K x 8", |bed, haul| copy(bed, haul, "--block-size 512K --depth 8")),
        haul("1M x 2", |bed, haul| copy(bed, haul, "--block-size 1M --depth 2")),
        haul("1M x 4", |bed, haul| copy(bed, haul, "--block-size 1M --depth 4")),
        haul("1M x 16", |bed, haul| copy(bed, haul, "--block-size 1M --depth 16")),
        haul("4M x 4", |bed, haul| copy(bed, haul, "--block-size 4M --depth 4")),
    ]
}

/// The report describes how the pace was found.
fn copy(bed: &Bed, haul: &str, options: &str) -> Option<Line> {
    Some(catalogue::copy(bed, haul, &format!("--json {options}")))
}
