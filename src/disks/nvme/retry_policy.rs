//! Retries of failed commands.
use super::status::{Status, StatusClass};
use std::thread;
use std::time::Duration;

/// Interval between retries while a drive is not ready.
const READY_STEP: Duration = Duration::from_millis(250);
/// Maximum number of such retries: five seconds, longer than a drive needs after a reset. Other causes last hours.
const READY_STEPS: u32 = 20;

/// The remaining retries of one command.
#[derive(Debug)]
pub(super) struct RetryPolicy {
    retries: u32,
    ready: u32,
    step: Duration,
}

impl RetryPolicy {
    pub(super) fn new(retries: u32) -> Self {
        RetryPolicy { retries, ready: READY_STEPS, step: READY_STEP }
    }

    /// The same without waiting, for tests.
    #[cfg(test)]
    pub(super) fn without_waits(retries: u32) -> Self {
        RetryPolicy { step: Duration::ZERO, ..RetryPolicy::new(retries) }
    }

    /// Whether to retry the command; if the drive is not ready, waits first. Errors with the DNR bit are never retried.
    pub(super) fn once_more(&mut self, status: Status) -> bool {
        if status.is_final() {
            return false;
        }
        let (left, wait) = match status.meaning() {
            StatusClass::NotReady => (&mut self.ready, self.step),
            StatusClass::Medium => {
                // The drive has already retried for long internally.
                self.retries = self.retries.min(1);
                (&mut self.retries, Duration::ZERO)
            }
            StatusClass::Other => (&mut self.retries, Duration::ZERO),
            StatusClass::Disconnected | StatusClass::Full | StatusClass::Protected => return false,
        };
        let Some(rest) = left.checked_sub(1) else { return false };
        *left = rest;
        thread::sleep(wait);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_retries_depends_on_the_status() {
        let table = [
            // With the DNR bit.
            (0x4281, 0),
            (0x4006, 0),
            // A bad block: once; an internal error: as often as requested; not ready: for some time.
            (0x0281, 1),
            (0x0006, 5),
            (0x0082, READY_STEPS),
            // Permanent errors.
            (0x000b, 0),
            (0x0081, 0),
            (0x0020, 0),
        ];
        for (raw, times) in table {
            let mut retry_policy = RetryPolicy::without_waits(5);
            let executed = (0..100).take_while(|_| retry_policy.once_more(Status(raw))).count();
            assert_eq!(executed, times as usize, "{raw:#x}");
        }
        assert!(!RetryPolicy::without_waits(0).once_more(Status(0x0281)), "no retries were requested");
    }
}
