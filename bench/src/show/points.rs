//! The columns of a sweep's table, for terminal and page.
use super::words::{number, size};
use crate::claims::{self, Verdict};
use crate::numbers;
use crate::result::PointResult;

/// Headings: the point's name, its bytes, both times, their ratio and its range, and the verdict.
pub(super) const HEADINGS: [&str; 7] =
    ["operands", "bytes", "GNU dd, s", "haul, s", "ratio", "least – most", "verdict"];

/// The cells of one point, and the verdict.
pub(super) fn row(point: &PointResult) -> ([String; 7], Verdict) {
    let verdict = claims::at_point(point);
    let unknown = || "–".to_owned();
    let cells = match numbers::at_point(point) {
        Some(seen) => {
            let three = |seconds: f64| format!("{seconds:.3}");
            let range = format!("{} – {}", number(seen.least), number(seen.most));
            [three(seen.peer_s), three(seen.haul_s), number(seen.pairs.median), range]
        }
        None => [unknown(), unknown(), unknown(), unknown()],
    };
    let word = match (&point.wrong, verdict) {
        (Some(why), _) => why.clone(),
        (None, Verdict::Holds) => String::new(),
        (None, verdict) => verdict.words().to_owned(),
    };
    let [peer, haul, ratio, range] = cells;
    ([point.name.clone(), size(point.bytes), peer, haul, ratio, range, word], verdict)
}
