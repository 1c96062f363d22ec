//! The time that a read of a failing source may take.
use std::time::Duration;

/// Limits of the time of one read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// While copying: what takes longer is read later.
    pub copying: Duration,
    /// In the phases after that.
    pub later: Duration,
}

impl Default for ReadLimits {
    /// 3 s, in which a good disk reads everything that is in flight, and 10 s.
    fn default() -> Self {
        ReadLimits { copying: Duration::from_secs(3), later: Duration::from_secs(10) }
    }
}

/// What limited the time of the reads of a rescue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeLimits {
    /// The limits of the commands; `None`: reads go through the block layer.
    pub reads: Option<ReadLimits>,
    /// How long the kernel waits for a read otherwise, if known.
    pub kernel: Option<Duration>,
    /// The limits of the disk's own error recovery before the rescue, of reads and of writes, each `None` if unlimited;
    /// `None`: it has no such limits.
    pub recovery_before: Option<[Option<Duration>; 2]>,
    /// What these limits were set to, in this order.
    pub recovery: Vec<[Option<Duration>; 2]>,
    /// Whether they were restored.
    pub is_restored: bool,
}
