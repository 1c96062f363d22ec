//! A deadline that someone moves as long as a run may continue.
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// A deadline that is moved as long as a run may continue: one that was suspended beyond it stops by itself.
pub struct Fence {
    clock: Box<dyn Fn() -> Duration + Send + Sync>,
    until_ns: AtomicU64,
    why: Mutex<Option<String>>,
}

impl Fence {
    /// A fence whose deadline is `until` by `clock`.
    pub fn new(clock: impl Fn() -> Duration + Send + Sync + 'static, until: Duration) -> Fence {
        let fence = Fence { clock: Box::new(clock), until_ns: AtomicU64::new(0), why: Mutex::default() };
        fence.extend(until);
        fence
    }

    /// The time now.
    pub fn now(&self) -> Duration {
        (self.clock)()
    }

    /// Moves the deadline. A fence that is over stays so.
    pub fn extend(&self, until: Duration) {
        if self.until_ns.load(Relaxed) == 0 || !self.is_over() {
            self.until_ns.fetch_max(u64::try_from(until.as_nanos()).unwrap_or(u64::MAX).max(1), Relaxed);
        }
    }

    /// Ends the run now: why, a clause. The first reason is kept.
    pub fn end(&self, why: &str) {
        super::locked(&self.why).get_or_insert_with(|| why.to_owned());
        // 0 would be a fence without a deadline yet.
        self.until_ns.store(1, Relaxed);
    }

    /// Whether the run has to end.
    pub fn is_over(&self) -> bool {
        (self.clock)().as_nanos() >= u128::from(self.until_ns.load(Relaxed))
    }

    /// Why the run has to end: a clause.
    pub fn why(&self) -> String {
        let why = super::locked(&self.why).clone();
        why.unwrap_or_else(|| "it was suspended, or could not record that it is alive".to_owned())
    }
}

impl fmt::Debug for Fence {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Fence").field("until_ns", &self.until_ns).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_fence_that_is_over_cannot_be_extended() {
        let now = Arc::new(AtomicU64::new(10));
        let clock = now.clone();
        let fence = Fence::new(move || Duration::from_secs(clock.load(Relaxed)), Duration::from_secs(20));
        assert!(!fence.is_over());
        now.store(19, Relaxed);
        fence.extend(Duration::from_secs(30));
        now.store(29, Relaxed);
        assert!(!fence.is_over());
        now.store(30, Relaxed);
        fence.extend(Duration::from_secs(60));
        assert!(fence.is_over() && fence.why().contains("suspended"));
        let fence = Fence::new(|| Duration::from_secs(5), Duration::from_secs(20));
        fence.end("first");
        fence.end("second");
        fence.extend(Duration::from_secs(90));
        assert!(fence.is_over() && fence.why() == "first");
    }
}
