//! The latency of commands, in sentences and rows.
use super::{heading, latency, whole};
use crate::measure::Cost;
use crate::measure::fit::Fit;
use crate::report::units;

/// A line with residuals above this share fits badly.
const RESIDUAL_FINE: f64 = 0.15;

/// The latency of commands of each size, with the line fitted to them.
pub(super) fn costs(of: &str, costs: &[Cost], fit: Option<Fit>) -> String {
    let mut text = heading(&format!("{of:>12} {:>9} {:>12} {:>10}", "time", "rate", "line"));
    for cost in costs {
        let rate = units::rate_at_a_glance(whole(cost.bytes_per_s()));
        let line = fit.map(|fit| fit.seconds(cost.bytes.into()) * 1e6).map(latency).unwrap_or_default();
        let size = units::block(cost.bytes.into());
        text += &format!("{size:>12} {:>9} {rate:>12} {line:>10}\n", latency(cost.seconds * 1e6));
    }
    text
}

/// The parameters of the line fitted to the latencies.
pub(crate) fn line_words(fit: &Fit) -> String {
    let rate = || units::rate_at_a_glance(whole(fit.bytes_per_s));
    let flow = if fit.bytes_per_s.is_finite() { rate() } else { "at any rate".to_owned() };
    let fits = if fit.residual <= RESIDUAL_FINE { "linear fit" } else { "poor linear fit" };
    format!(
        "fixed latency {}, then {flow}: {fits}, mean deviation {:.0} %, maximum {:.0} %",
        latency(fit.latency_s * 1e6),
        fit.residual * 100.0,
        fit.residual_max * 100.0
    )
}
