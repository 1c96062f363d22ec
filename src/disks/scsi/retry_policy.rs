//! Retries of a command, and their counters.
use super::verdict::RetryReason;
use crate::core::CommandOptions;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// First pause before a retry on a busy disk; it doubles each time.
const PAUSE_MIN: Duration = Duration::from_millis(2);
/// Maximum pause.
const PAUSE_MAX: Duration = Duration::from_millis(500);
/// Number of retries after a timeout: each may take the whole timeout and the kernel's error recovery.
const TIMEOUTS_MAX: u32 = 1;

/// The retries of one command.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RetryPolicy {
    attempts: u32,
    timeouts: u32,
    /// Start of the first pause, and the last pause.
    waiting: Option<(Instant, Duration)>,
}

impl RetryPolicy {
    /// The pause before the next attempt; `None` if retries are exhausted.
    pub(super) fn again(&mut self, why: RetryReason, options: &CommandOptions, now: Instant) -> Option<Duration> {
        match why {
            RetryReason::Attention | RetryReason::Aborted | RetryReason::Transport => {
                self.attempts += 1;
                let is_of_failing = options.failing && why == RetryReason::Aborted;
                let retries = if is_of_failing { options.retries.min(1) } else { options.retries };
                (self.attempts <= retries).then_some(Duration::ZERO)
            }
            RetryReason::TimedOut => {
                self.timeouts += 1;
                let retries = if options.failing { 0 } else { TIMEOUTS_MAX.min(options.retries) };
                (self.timeouts <= retries).then_some(Duration::ZERO)
            }
            // Not a failure of the command: waits up to the command timeout.
            RetryReason::Busy | RetryReason::MovedNothing | RetryReason::BecomingReady => {
                let (since, pause) =
                    self.waiting.map_or((now, PAUSE_MIN), |(since, pause)| (since, (pause * 2).min(PAUSE_MAX)));
                self.waiting = Some((since, pause));
                (now - since < options.timeout).then_some(pause)
            }
        }
    }
}

/// Counters of one side, for the report.
#[derive(Debug, Default)]
pub(super) struct Counts {
    again: [AtomicU64; 7],
    /// Recovered errors that the disk reported.
    pub(super) recovered: AtomicU64,
    /// Transfers of fewer bytes than requested.
    pub(super) short: AtomicU64,
    /// Transfers requested as direct I/O, and those of them that the driver copied.
    pub(super) direct_requested: AtomicU64,
    /// See `direct_requested`.
    pub(super) indirect: AtomicU64,
}

/// In the order of [`RetryReason`].
const AGAIN_WORDS: [(&str, &str); 7] = [
    ("command retried after a unit attention", "commands retried after a unit attention"),
    ("command retried after the disk aborted it", "commands retried after the disk aborted them"),
    ("command retried after a transport error", "commands retried after a transport error"),
    ("wait for a busy disk or a full queue", "waits for a busy disk or a full queue"),
    ("command retried after it transferred nothing", "commands retried after they transferred nothing"),
    ("wait for a disk becoming ready", "waits for a disk becoming ready"),
    ("command retried after a timeout", "commands retried after a timeout"),
];

impl Counts {
    /// Counts a retry.
    pub(super) fn again(&self, why: RetryReason) {
        self.again[why as usize].fetch_add(1, Relaxed);
    }

    /// Notes for the user. `name` is that of the side: `dest /dev/sg0`.
    pub(super) fn notes(&self, name: &str) -> Vec<String> {
        let mut notes = Vec::new();
        let mut note = |count: &AtomicU64, (one, many): (&str, &str)| {
            let count = count.load(Relaxed);
            if count > 0 {
                notes.push(format!("{name}: {count} {}", if count == 1 { one } else { many }));
            }
        };
        note(&self.recovered, ("error recovered by the disk", "errors recovered by the disk"));
        self.again.iter().zip(AGAIN_WORDS).for_each(|(count, words)| note(count, words));
        note(&self.short, ("short transfer, continued", "short transfers, continued"));
        notes
    }

    /// The note about direct transfers that the driver copied. `name` is that of the side.
    pub(super) fn fallback(&self, name: &str) -> Option<String> {
        let (requested, indirect) = (self.direct_requested.load(Relaxed), self.indirect.load(Relaxed));
        let count = if indirect == requested { "all".to_owned() } else { format!("{indirect} of {requested}") };
        (indirect > 0).then(|| {
            format!(
                "{name}: the driver copied {count} transfers (writing 1 to /sys/module/sg/parameters/allow_dio avoids \
                 that)"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transient_failures_are_retried_as_configured_and_a_time_out_once() {
        let options = CommandOptions { retries: 3, ..CommandOptions::default() };
        let now = Instant::now();
        let mut patience = RetryPolicy::default();
        for _ in 0..3 {
            assert_eq!(patience.again(RetryReason::Aborted, &options, now), Some(Duration::ZERO));
        }
        assert_eq!(patience.again(RetryReason::Attention, &options, now), None, "all of these count together");
        let mut patience = RetryPolicy::default();
        assert!(patience.again(RetryReason::TimedOut, &options, now).is_some());
        assert_eq!(patience.again(RetryReason::TimedOut, &options, now), None);
    }

    #[test]
    fn a_failing_disk_is_not_asked_again_after_a_time_out_and_once_after_an_abort() {
        let options = CommandOptions { failing: true, ..CommandOptions::default() };
        let now = Instant::now();
        assert_eq!(RetryPolicy::default().again(RetryReason::TimedOut, &options, now), None);
        let mut patience = RetryPolicy::default();
        assert!(patience.again(RetryReason::Aborted, &options, now).is_some());
        assert_eq!(patience.again(RetryReason::Aborted, &options, now), None);
        let mut patience = RetryPolicy::default();
        let transport = (0..9).filter(|_| patience.again(RetryReason::Transport, &options, now).is_some()).count();
        assert_eq!(transport, 5, "after the reset that follows a timeout, other commands are repeated");
    }

    #[test]
    fn a_busy_disk_is_retried_with_growing_pauses_up_to_the_time_out() {
        let options = CommandOptions { retries: 0, timeout: Duration::from_secs(9), ..CommandOptions::default() };
        let begun = Instant::now();
        let mut patience = RetryPolicy::default();
        let pauses: Vec<_> = (0..12).filter_map(|_| patience.again(RetryReason::Busy, &options, begun)).collect();
        assert_eq!(pauses[..3], [2, 4, 8].map(Duration::from_millis));
        assert_eq!(pauses[11], PAUSE_MAX);
        assert!(patience.again(RetryReason::BecomingReady, &options, begun + Duration::from_secs(8)).is_some());
        assert_eq!(patience.again(RetryReason::Busy, &options, begun + Duration::from_secs(9)), None);
    }

    #[test]
    fn only_actual_retries_are_noted() {
        let counts = Counts::default();
        assert!(counts.notes("dest x").is_empty());
        counts.again(RetryReason::TimedOut);
        counts.again(RetryReason::Attention);
        counts.again(RetryReason::Attention);
        let wanted = ["2 commands retried after a unit attention", "1 command retried after a timeout"];
        assert_eq!(counts.notes("dest x"), wanted.map(|note| format!("dest x: {note}")));
        counts.direct_requested.store(9, Relaxed);
        counts.indirect.store(4, Relaxed);
        assert!(counts.fallback("dest x").is_some_and(|note| note.contains("copied 4 of 9")));
        assert_eq!(counts.notes("dest x").len(), 2, "what costs time alone is no note");
    }
}
