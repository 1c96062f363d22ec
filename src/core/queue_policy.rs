//! How the administrator has configured the requests to a disk: scheduler and read-ahead.

/// How the kernel treats requests to a disk before its driver gets them, from `/sys/block/*/queue`. All unknown for
/// what has no such directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueuePolicy {
    /// Kernel name of the disk whose queue it is: `sda`.
    pub disk: String,
    /// The scheduler in use: `none`, `mq-deadline`, `bfq`, `kyber`; `None` where the kernel says nothing.
    pub scheduler: Option<String>,
    /// Those that could be.
    pub schedulers: Vec<String>,
    /// Bytes that are read ahead of a process that reads through the page cache; `None` where the kernel says nothing.
    pub read_ahead_bytes: Option<u64>,
    /// A drive stands behind it, and not a mapping of others, whose requests are sorted further below.
    pub of_drive: bool,
}

/// A scheduler that suits the disk better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedulerAdvice {
    /// A disk with a head, whose requests the kernel does not sort.
    SortForHead,
    /// A disk without a head, whose requests are shared out by turns of processes.
    NoTurnsWithoutHead,
}

impl SchedulerAdvice {
    /// The scheduler to be set.
    pub fn scheduler(self) -> &'static str {
        match self {
            SchedulerAdvice::SortForHead => "mq-deadline",
            SchedulerAdvice::NoTurnsWithoutHead => "none",
        }
    }
}

impl QueuePolicy {
    /// A scheduler that is there and suits a disk better that is `rotational`, where that is known.
    pub fn advice(&self, rotational: Option<bool>) -> Option<SchedulerAdvice> {
        let advice = match (self.scheduler.as_deref()?, rotational?) {
            ("none", true) => SchedulerAdvice::SortForHead,
            ("bfq", false) => SchedulerAdvice::NoTurnsWithoutHead,
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
    fn a_scheduler_is_advised_where_it_is_there_and_suits_the_drive_better() {
        let of = |scheduler: &str, others: &[&str], of_drive| QueuePolicy {
            scheduler: Some(scheduler.to_owned()),
            schedulers: others.iter().map(|&name| name.to_owned()).collect(),
            of_drive,
            ..QueuePolicy::default()
        };
        let all = ["none", "mq-deadline", "bfq"];
        assert_eq!(of("none", &all, true).advice(Some(true)), Some(SchedulerAdvice::SortForHead));
        assert_eq!(of("bfq", &all, true).advice(Some(false)), Some(SchedulerAdvice::NoTurnsWithoutHead));
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
