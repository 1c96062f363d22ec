//! The kernel's queue settings for a disk: scheduler and read-ahead, and better ones.
use crate::core::{Facts, QueuePolicy, SchedulerAdvice};
use crate::report::columns::whole;
use crate::report::printable::printable;
use crate::report::units;

/// Scheduler and read-ahead; `None` where the kernel reports neither.
pub(crate) fn policy(policy: &QueuePolicy) -> Option<String> {
    let scheduler = policy.scheduler.iter().map(|name| whole(&format!("scheduler {}", printable(name))));
    let read_ahead = policy.read_ahead_bytes.iter().map(|&bytes| match bytes {
        0 => whole("no read-ahead"),
        _ => whole(&format!("read-ahead {}", units::block(bytes))),
    });
    let words: Vec<String> = scheduler.chain(read_ahead).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// The same for a side, with advice. Passthrough commands bypass the kernel's queue.
pub(crate) fn of_side(facts: &Facts) -> Option<String> {
    if facts.passthrough.as_ref().is_some_and(|node| node.named) {
        return None;
    }
    let text = policy(&facts.queue_policy)?;
    let advice = facts.queue_policy.advice(facts.queue.rotational);
    Some(match advice {
        Some(advice) => format!("{text}; {}", advised(advice, &facts.queue_policy.disk)),
        None => text,
    })
}

fn advised(advice: SchedulerAdvice, disk: &str) -> String {
    let command = format!("echo {} >/sys/block/{}/queue/scheduler", advice.scheduler(), printable(disk));
    let why = match advice {
        SchedulerAdvice::SortRotational => "the kernel does not sort requests for this rotational disk",
        SchedulerAdvice::NoTimeSlicesOnSsd => "fair queueing between processes costs IOPS on an SSD",
    };
    format!("{why}; to change it: '{}'", whole(&command))
}

/// Advice if buffered reads have reached less than [`AHEAD_SHARE`] of the rate of direct reads, and read-ahead
/// is small.
pub(crate) fn read_ahead_advice(facts: &Facts, buffered_per_s: f64, direct_per_s: f64) -> Option<String> {
    let policy = &facts.queue_policy;
    let little = policy.read_ahead_bytes.filter(|&bytes| bytes < AHEAD_BYTES)?;
    if buffered_per_s >= direct_per_s * AHEAD_SHARE || policy.disk.is_empty() {
        return None;
    }
    let percent = buffered_per_s / direct_per_s * 100.0;
    let disk = printable(&policy.disk);
    let command = format!("blockdev --setra {} /dev/{disk}", AHEAD_BYTES / SECTOR_BYTES);
    Some(format!(
        "buffered reads reach {percent:.0} % of the direct rate with a read-ahead of {}; '{}' may help other programs",
        whole(&units::block(little)),
        whole(&command)
    ))
}

/// Share of the rate of direct reads below which buffered reads are slow.
const AHEAD_SHARE: f64 = 0.85;
/// A read-ahead that keeps a fast disk busy.
const AHEAD_BYTES: u64 = 4 << 20;
/// The unit of `blockdev --setra`.
const SECTOR_BYTES: u64 = 512;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::EndpointKind;
    use crate::report::columns::untied;

    fn disk(scheduler: &str, rotational: bool) -> Facts {
        let mut facts = Facts::new("/dev/sda", EndpointKind::Block);
        facts.queue.rotational = Some(rotational);
        facts.queue_policy = QueuePolicy {
            disk: "sda".to_owned(),
            scheduler: Some(scheduler.to_owned()),
            schedulers: ["none", "mq-deadline", "bfq"].map(str::to_owned).into(),
            read_ahead_bytes: Some(128 << 10),
            of_drive: true,
        };
        facts
    }

    fn reported(facts: &Facts) -> String {
        untied(&of_side(facts).unwrap())
    }

    #[test]
    fn scheduler_and_read_ahead_are_reported_with_advice_for_a_better_one() {
        assert_eq!(reported(&disk("mq-deadline", true)), "scheduler mq-deadline, read-ahead 128 KiB");
        let text = reported(&disk("none", true));
        assert!(text.ends_with("to change it: 'echo mq-deadline >/sys/block/sda/queue/scheduler'"), "{text}");
        let text = reported(&disk("bfq", false));
        assert!(text.ends_with("to change it: 'echo none >/sys/block/sda/queue/scheduler'"), "{text}");
        assert_eq!(of_side(&Facts::new("-", EndpointKind::Pipe)), None);
    }

    #[test]
    fn more_read_ahead_is_advised_only_if_buffered_reads_were_slower_with_little_of_it() {
        let facts = disk("none", false);
        let text = untied(&read_ahead_advice(&facts, 5e8, 1e9).unwrap());
        assert!(text.contains("reach 50 %") && text.contains("'blockdev --setra 8192 /dev/sda'"), "{text}");
        assert_eq!(read_ahead_advice(&facts, 9.5e8, 1e9), None);
        let mut plenty = facts.clone();
        plenty.queue_policy.read_ahead_bytes = Some(4 << 20);
        assert_eq!(read_ahead_advice(&plenty, 5e8, 1e9), None);
    }
}
