//! How the kernel treats requests to a disk: scheduler and read-ahead, and which of them would suit it better.
use crate::core::{Facts, QueuePolicy, SchedulerAdvice};
use crate::report::columns::whole;
use crate::report::printable::printable;
use crate::report::units;

/// Scheduler and read-ahead; `None` where the kernel says neither.
pub(crate) fn policy(policy: &QueuePolicy) -> Option<String> {
    let scheduler = policy.scheduler.iter().map(|name| whole(&format!("scheduler {}", printable(name))));
    let read_ahead = policy.read_ahead_bytes.iter().map(|&bytes| match bytes {
        0 => whole("no read-ahead"),
        _ => whole(&format!("read-ahead {}", units::block(bytes))),
    });
    let words: Vec<String> = scheduler.chain(read_ahead).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// The same of a side, with advice. Commands of its own go past the kernel's queue.
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
        SchedulerAdvice::SortForHead => "the kernel does not sort requests for this rotational disk",
        SchedulerAdvice::NoTurnsWithoutHead => "fair queueing between processes costs IOPS on an SSD",
    };
    format!("{why}; to change it: '{}'", whole(&command))
}

/// Advice where reading through the page cache has reached less than [`AHEAD_SHARE`] of reading past it, and little is
/// read ahead.
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

/// Below this share of reading past the page cache, reading through it is slow.
const AHEAD_SHARE: f64 = 0.85;
/// As much as keeps a fast disk busy.
const AHEAD_BYTES: u64 = 4 << 20;
/// The unit of blockdev.
const SECTOR_BYTES: u64 = 512;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::EndpointKind;

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

    fn told(facts: &Facts) -> String {
        of_side(facts).unwrap().replace('\u{fdd0}', " ")
    }

    #[test]
    fn scheduler_and_read_ahead_are_told_with_advice_where_another_suits_the_disk() {
        assert_eq!(told(&disk("mq-deadline", true)), "scheduler mq-deadline, read-ahead 128 KiB");
        let text = told(&disk("none", true));
        assert!(text.ends_with("to change it: 'echo mq-deadline >/sys/block/sda/queue/scheduler'"), "{text}");
        let text = told(&disk("bfq", false));
        assert!(text.ends_with("to change it: 'echo none >/sys/block/sda/queue/scheduler'"), "{text}");
        assert_eq!(of_side(&Facts::new("-", EndpointKind::Pipe)), None);
    }

    #[test]
    fn more_read_ahead_is_advised_only_where_the_page_cache_was_slower_and_little_is_read_ahead() {
        let facts = disk("none", false);
        let text = read_ahead_advice(&facts, 5e8, 1e9).unwrap().replace('\u{fdd0}', " ");
        assert!(text.contains("reach 50 %") && text.contains("'blockdev --setra 8192 /dev/sda'"), "{text}");
        assert_eq!(read_ahead_advice(&facts, 9.5e8, 1e9), None);
        let mut plenty = facts.clone();
        plenty.queue_policy.read_ahead_bytes = Some(4 << 20);
        assert_eq!(read_ahead_advice(&plenty, 5e8, 1e9), None);
    }
}
