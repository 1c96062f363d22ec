//! A line every few seconds, for logs, and the status line.
use super::dests::DestView;
use super::phrases::{amount, compressed, holdup, left, percent, rates, unread};
use super::rescue::RescueView;
use super::subject::Subject;
use super::view::View;
use crate::core::Phase;
use crate::report::columns::{message, whole};
use crate::report::units;
use std::time::Duration;

/// Delay of the first line, which shows that the copy works.
const FIRST: Duration = Duration::from_secs(1);

/// Maximum interval of lines, so that a log shows that the copy is still running.
const FARTHEST: Duration = Duration::from_secs(30);

/// One line about the current progress, with a newline.
fn line(view: &View, dest: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    match view.phase {
        Phase::Copying => {
            parts.extend(percent(view).map(|percent| percent.trim_start().to_owned()));
            parts.push(amount(view));
            parts.push(format!("in {}", units::duration(view.elapsed)));
            parts.extend((view.stalled.is_none() || view.idle.is_some()).then(|| rates(view)));
            parts.extend(compressed(view));
            parts.extend(left(view));
            parts.extend(holdup(view));
            parts.extend(unread(view));
        }
        Phase::Flushing | Phase::Ended => {
            parts.push(match view.flushing {
                Some(time) if time.as_secs() > 0 => format!("flushing {dest} for {}", units::duration(time)),
                _ => format!("flushing {dest}"),
            });
            parts.push(format!("{} copied", units::size(view.copied_bytes)));
            parts.push(format!("mean {}", units::rate_at_a_glance(view.write.mean_per_s)));
        }
    }
    message("haul: ", "      ", &parts.iter().map(|part| whole(part)).collect::<Vec<_>>().join(", "))
}

/// The same, and a line for each of several dests, or for a rescue.
pub(super) fn lines(view: &View, subject: &Subject<'_>) -> String {
    let Subject { dest, dests, rescue } = subject;
    std::iter::once(line(view, dest))
        .chain(dests.iter().map(DestView::line))
        .chain(rescue.map(RescueView::line))
        .collect()
}

/// Decides when lines are printed: after 1 s, then at intervals that double up to 30 s, so that a short copy
/// shows some progress and a long one does not fill its log.
#[derive(Debug)]
pub(super) struct Pacer {
    gap: Duration,
    due: Duration,
}

impl Pacer {
    /// A pacer before the first line.
    pub(super) fn new() -> Self {
        Pacer { gap: FIRST, due: FIRST }
    }

    /// Whether a line is due at `now`; if so, the next one is due after the next interval.
    pub(super) fn is_due(&mut self, now: Duration) -> bool {
        if now < self.due {
            return false;
        }
        self.gap = (self.gap * 2).min(FARTHEST);
        self.due = now + self.gap;
        true
    }

    /// Whether at least one line was printed.
    pub(super) fn has_begun(&self) -> bool {
        self.gap > FIRST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_printed_at_growing_intervals_up_to_half_a_minute() {
        let mut pacer = Pacer::new();
        assert!(!pacer.has_begun());
        let due: Vec<u64> = (0..200).filter(|&second| pacer.is_due(Duration::from_secs(second))).collect();
        assert_eq!(due, [1, 3, 7, 15, 31, 61, 91, 121, 151, 181]);
        assert!(pacer.has_begun());
    }
}
