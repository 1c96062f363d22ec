//! The scheduler and read-ahead configured for a disk.

/// Configuration of a disk's request queue, from `/sys/block/*/queue`. All fields are unknown for anything without such
/// a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueuePolicy {
    /// Kernel name of the disk: `sda`.
    pub disk: String,
    /// The active scheduler: `none`, `mq-deadline`, `bfq`, `kyber`; `None` if the kernel reports none.
    pub scheduler: Option<String>,
    /// The available schedulers.
    pub schedulers: Vec<String>,
    /// Read-ahead of buffered reads in bytes; `None` if the kernel reports none.
    pub read_ahead_bytes: Option<u64>,
    /// Whether this is the queue of a drive. The requests of a mapping are sorted in a lower layer.
    pub of_drive: bool,
}

/// Advice to change the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedulerAdvice {
    /// A rotational disk whose requests are not sorted by the kernel.
    SortRotational,
    /// An SSD whose scheduler assigns time slices to processes.
    NoTimeSlicesOnSsd,
}

impl SchedulerAdvice {
    /// The recommended scheduler.
    pub fn scheduler(self) -> &'static str {
        match self {
            SchedulerAdvice::SortRotational => "mq-deadline",
            SchedulerAdvice::NoTimeSlicesOnSsd => "none",
        }
    }
}

impl QueuePolicy {
    /// Advice to use another available scheduler, given whether the disk is `rotational`.
    pub fn advice(&self, rotational: Option<bool>) -> Option<SchedulerAdvice> {
        let advice = match (self.scheduler.as_deref()?, rotational?) {
            ("none", true) => SchedulerAdvice::SortRotational,
            ("bfq", false) => SchedulerAdvice::NoTimeSlicesOnSsd,
            _ => return None,
        };
        let is_there = self.schedulers.iter().any(|name| name == advice.scheduler());
        Some(advice).filter(|_| is_there && self.of_drive)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheduler_is_advised_if_it_is_available_and_suits_the_drive_better() {
        let of = |scheduler: &str, others: &[&str], of_drive| QueuePolicy {
            scheduler: Some(scheduler.to_owned()),
            schedulers: others.iter().map(|&name| name.to_owned()).collect(),
            of_drive,
            ..QueuePolicy::default()
        };
        let all = ["none", "mq-deadline", "bfq"];
        assert_eq!(of("none", &all, true).advice(Some(true)), Some(SchedulerAdvice::SortRotational));
        assert_eq!(of("bfq", &all, true).advice(Some(false)), Some(SchedulerAdvice::NoTimeSlicesOnSsd));
        for (policy, rotational) in [
            (of("none", &all, true), Some(false)),
            (of("none", &all, true), None),
            (of("none", &["none"], true), Some(true)),
            (of("none", &all, false), Some(true)),
            (of("mq-deadline", &all, true), Some(true)),
            (of("bfq", &all, true), Some(true)),
            (QueuePolicy::default(), Some(true)),
        ] {
            assert_eq!(policy.advice(rotational), None, "{policy:?} {rotational:?}");
        }
    }
}
