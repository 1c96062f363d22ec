use crate::core::{Device, DevicePartition, InUse};
use crate::report::columns::{untied, whole};
use crate::report::printable::printable;
use std::path::Path;

/// If a device has more mount points than these, they are counted instead of listed: containers have dozens.
const MOUNTS_SHOWN: usize = 4;

/// Uses of a partition, and of devices stacked on it.
pub(super) fn of_partition(part: &DevicePartition) -> Vec<String> {
    describe_uses(&part.partition.name, part.uses.iter())
}

/// Uses of a whole device, without those of its partitions.
pub(super) fn of_disk(device: &Device) -> Vec<String> {
    let by_partition = |used: &InUse| device.partitions.iter().any(|part| part.uses.contains(used));
    describe_uses(&device.name, device.uses.iter().filter(|used| !by_partition(used)))
}

/// Uses of a device and of all its partitions, abbreviated.
pub(super) fn in_short(device: &Device) -> Vec<String> {
    let mut words = Vec::new();
    let mut mounts: Vec<&Path> = Vec::new();
    let mut say = |clause: String| {
        if !words.contains(&clause) {
            words.push(clause);
        }
    };
    for used in &device.uses {
        match used {
            InUse::System { .. } => say("system disk".to_owned()),
            InUse::Mounted { at, .. } if !mounts.contains(&at.as_path()) => mounts.push(at),
            InUse::Mounted { .. } => {}
            InUse::Swap { .. } => say("swap".to_owned()),
            InUse::Held { by, .. } => say(format!("held by {by}")),
            InUse::Exclusive => say("in use by another program".to_owned()),
        }
    }
    if !mounts.is_empty() {
        let place = usize::from(words.first().is_some_and(|first| first == "system disk"));
        words.insert(place, format!("mounted at {}", untied(&list(&mounts))));
    }
    words
}

fn describe_uses<'a>(name: &str, uses: impl Iterator<Item = &'a InUse>) -> Vec<String> {
    let mut words = Vec::new();
    let mut mounts: Vec<(&str, Vec<&Path>)> = Vec::new();
    for used in uses {
        match used {
            InUse::Mounted { device, at } => match mounts.iter_mut().find(|(mounted, _)| mounted == device) {
                Some((_, places)) => places.push(at),
                None => mounts.push((device, vec![at])),
            },
            InUse::Swap { device } => words.push(format!("{}in use as swap", subject(name, device))),
            InUse::Held { device, by } => words.push(format!("{}held by {}", subject(name, device), printable(by))),
            InUse::Exclusive => words.push("in use by another program".to_owned()),
            // The mark of the disk shows it.
            InUse::System { .. } => {}
        }
    }
    let mounted = mounts.iter().map(|(device, places)| format!("{}mounted at {}", subject(name, device), list(places)));
    mounted.chain(words.iter().map(|words| whole(words))).collect()
}

/// Names the device that is used, if it is not the one that the line describes.
fn subject(name: &str, device: &str) -> String {
    if name == device { String::new() } else { format!("{} ", printable(device)) }
}

fn list(places: &[&Path]) -> String {
    let shown = &places[..places.len().min(MOUNTS_SHOWN)];
    let mut words: Vec<String> = shown.iter().map(|at| whole(&printable(&at.to_string_lossy()))).collect();
    let rest = places.len() - shown.len();
    let more = if rest > 0 { whole(&format!(" and {rest} more")) } else { String::new() };
    if let Some(last) = words.last_mut() {
        *last += &more;
    }
    words.join(", ")
}
