//! How often, and how long, a command is tried again; and what is counted on the way.
use super::verdict::RetryReason;
use crate::core::CommandOptions;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// First pause before a busy disk is asked again; each next one is twice as long.
const PAUSE_MIN: Duration = Duration::from_millis(2);
/// Longest pause.
const PAUSE_MAX: Duration = Duration::from_millis(500);
/// A command that took too long is given this many times more: each takes the whole time-out and what the kernel does
/// to bring the disk to its senses.
const TIMEOUTS_MAX: u32 = 1;

/// What one command has been through.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RetryPolicy {
    attempts: u32,
    timeouts: u32,
    /// When it first had to wait, and the last pause.
    waiting: Option<(Instant, Duration)>,
}

impl RetryPolicy {
    /// How long to wait before the next attempt; `None`: it has been tried enough.
    pub(super) fn again(&mut self, why: RetryReason, wishes: &CommandOptions, now: Instant) -> Option<Duration> {
        match why {
            RetryReason::Attention | RetryReason::Aborted | RetryReason::Transport => {
                self.attempts += 1;
                (self.attempts <= wishes.retries).then_some(Duration::ZERO)
            }
            RetryReason::TimedOut => {
                self.timeouts += 1;
                (self.timeouts <= TIMEOUTS_MAX.min(wishes.retries)).then_some(Duration::ZERO)
            }
            // No failure of the command: it waits as long as it might have taken.
            RetryReason::Busy | RetryReason::MovedNothing | RetryReason::BecomingReady => {
                let (since, pause) =
                    self.waiting.map_or((now, PAUSE_MIN), |(since, pause)| (since, (pause * 2).min(PAUSE_MAX)));
                self.waiting = Some((since, pause));
                (now - since < wishes.timeout).then_some(pause)
            }
        }
    }
}

/// What happened on one side, for the report.
#[derive(Debug, Default)]
pub(super) struct Counts {
    again: [AtomicU64; 7],
    /// Errors that the disk recovered from by itself.
    pub(super) recovered: AtomicU64,
    /// Transfers that moved fewer bytes than they should.
    pub(super) short: AtomicU64,
    /// Transfers that were asked for without a copy in the driver, and how many of them had one.
    pub(super) direct_asked: AtomicU64,
    /// See `direct_asked`.
    pub(super) indirect: AtomicU64,
}

/// By the order of [`RetryReason`].
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
    /// Counts another attempt.
    pub(super) fn again(&self, why: RetryReason) {
        self.again[why as usize].fetch_add(1, Relaxed);
    }

    /// What of it the user should know. `name` is the side's: `dest /dev/sg0`.
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

    /// Direct transfers that were none. `name` is the side's.
    pub(super) fn fallback(&self, name: &str) -> Option<String> {
        let (asked, indirect) = (self.direct_asked.load(Relaxed), self.indirect.load(Relaxed));
        let count = if indirect == asked { "all".to_owned() } else { format!("{indirect} of {asked}") };
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
    fn what_may_pass_is_tried_as_often_as_wished_and_a_time_out_once() {
        let wishes = CommandOptions { retries: 3, ..CommandOptions::default() };
        let now = Instant::now();
        let mut patience = RetryPolicy::default();
        for _ in 0..3 {
            assert_eq!(patience.again(RetryReason::Aborted, &wishes, now), Some(Duration::ZERO));
        }
        assert_eq!(patience.again(RetryReason::Attention, &wishes, now), None, "all of these count together");
        let mut patience = RetryPolicy::default();
        assert!(patience.again(RetryReason::TimedOut, &wishes, now).is_some());
        assert_eq!(patience.again(RetryReason::TimedOut, &wishes, now), None);
    }

    #[test]
    fn a_busy_disk_is_waited_for_with_longer_and_longer_pauses_up_to_the_time_out() {
        let wishes = CommandOptions { retries: 0, timeout: Duration::from_secs(9), ..CommandOptions::default() };
        let begun = Instant::now();
        let mut patience = RetryPolicy::default();
        let pauses: Vec<_> = (0..12).filter_map(|_| patience.again(RetryReason::Busy, &wishes, begun)).collect();
        assert_eq!(pauses[..3], [2, 4, 8].map(Duration::from_millis));
        assert_eq!(pauses[11], PAUSE_MAX);
        assert!(patience.again(RetryReason::BecomingReady, &wishes, begun + Duration::from_secs(8)).is_some());
        assert_eq!(patience.again(RetryReason::Busy, &wishes, begun + Duration::from_secs(9)), None);
    }

    #[test]
    fn only_what_happened_is_noted() {
        let counts = Counts::default();
        assert!(counts.notes("dest x").is_empty());
        counts.again(RetryReason::TimedOut);
        counts.again(RetryReason::Attention);
        counts.again(RetryReason::Attention);
        let wanted = ["2 commands retried after a unit attention", "1 command retried after a timeout"];
        assert_eq!(counts.notes("dest x"), wanted.map(|note| format!("dest x: {note}")));
        counts.direct_asked.store(9, Relaxed);
        counts.indirect.store(4, Relaxed);
        assert!(counts.fallback("dest x").is_some_and(|note| note.contains("copied 4 of 9")));
        assert_eq!(counts.notes("dest x").len(), 2, "what costs time alone is no note");
    }
}
