//! How often a command that failed is given again.
use super::status::{Status, StatusClass};
use std::thread;
use std::time::Duration;

/// A drive that is not ready is asked again after this time, …
const READY_STEP: Duration = Duration::from_millis(250);
/// … and so often: five seconds, longer than a drive takes to come back from a reset. What lasts longer lasts hours.
const READY_STEPS: u32 = 20;

/// How often one command that failed is given again.
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

    /// The same without a wait, for tests.
    #[cfg(test)]
    pub(super) fn hasty(retries: u32) -> Self {
        RetryPolicy { step: Duration::ZERO, ..RetryPolicy::new(retries) }
    }

    /// Whether to give it once more; for a drive that is not ready, waits before. What the drive calls final is.
    pub(super) fn once_more(&mut self, status: Status) -> bool {
        if status.is_final() {
            return false;
        }
        let (left, wait) = match status.meaning() {
            StatusClass::NotReady => (&mut self.ready, self.step),
            StatusClass::Medium => {
                // The drive has tried for long by itself.
                self.retries = self.retries.min(1);
                (&mut self.retries, Duration::ZERO)
            }
            StatusClass::Other => (&mut self.retries, Duration::ZERO),
            StatusClass::Gone | StatusClass::Full | StatusClass::Protected => return false,
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
    fn how_often_depends_on_what_the_drive_says() {
        let table = [
            // Final by its own word.
            (0x4281, 0),
            (0x4006, 0),
            // A bad block, once; an internal error, as often as was wished; not ready, for a while.
            (0x0281, 1),
            (0x0006, 5),
            (0x0082, READY_STEPS),
            // Nothing that passes.
            (0x000b, 0),
            (0x0081, 0),
            (0x0020, 0),
        ];
        for (raw, times) in table {
            let mut patience = RetryPolicy::hasty(5);
            let given = (0..100).take_while(|_| patience.once_more(Status(raw))).count();
            assert_eq!(given, times as usize, "{raw:#x}");
        }
        assert!(!RetryPolicy::hasty(0).once_more(Status(0x0281)), "no retries were wished");
    }
}
