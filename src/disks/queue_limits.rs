//! Limits of the request queue of a block device, from sysfs.
use crate::core::{PAGE_BYTES, QueueLimits, QueuePolicy};
use crate::sys;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The limits of the block device `major:minor`; for a partition, those of its disk. All are unknown if the number does
/// not belong to a block device, as for btrfs or tmpfs.
pub(super) fn of_device(major: u32, minor: u32) -> QueueLimits {
    directory(major, minor).map(|queue| read(&queue)).unwrap_or_default()
}

/// The queue configuration of the block device `major:minor`; for a partition, that of its disk.
pub(super) fn policy_of_device(major: u32, minor: u32) -> QueuePolicy {
    directory(major, minor).map(|queue| policy(&queue)).unwrap_or_default()
}

/// The queue configuration from a disk's directory `queue`.
pub(super) fn policy(queue: &Path) -> QueuePolicy {
    // If there are several, the active one is in brackets: `none [mq-deadline] bfq`.
    let text = sys::attribute(&queue.join("scheduler")).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let named = |word: &str| word.trim_matches(['[', ']']).to_owned();
    let in_use = text.split_whitespace().find(|word| word.starts_with('[')).or(text.split_whitespace().next());
    let disk = queue.parent().unwrap_or(queue);
    QueuePolicy {
        disk: disk.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        scheduler: in_use.map(named),
        schedulers: text.split_whitespace().map(named).collect(),
        read_ahead_bytes: number::<u64>(queue, "read_ahead_kb").map(|kib| kib.saturating_mul(1024)),
        of_drive: disk.join("device").exists(),
    }
}

/// Memory alignment that the queue requires, in bytes (`dma_alignment`, in sysfs since 6.0).
pub(super) fn memory_align_bytes(major: u32, minor: u32) -> Option<u32> {
    let mask: u32 = number(&directory(major, minor)?, "dma_alignment")?;
    mask.checked_add(1).filter(|bytes| bytes.is_power_of_two())
}

/// Logical and physical block size, in bytes.
pub(super) fn block_bytes(major: u32, minor: u32) -> Option<(u32, u32)> {
    let queue = directory(major, minor)?;
    Some((number(&queue, "logical_block_size")?, number(&queue, "physical_block_size")?))
}

/// Offset of a block device on its disk, in bytes; 0 for a disk.
pub(super) fn start_bytes(device: u64) -> u64 {
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    // In units of 512 bytes, regardless of the block size of the device.
    number::<u64>(Path::new(&format!("/sys/dev/block/{major}:{minor}")), "start").unwrap_or(0).saturating_mul(512)
}

/// Maximum length in bytes of a command that the driver accepts for a block device: what it transfers at once from
/// non-contiguous pages.
pub(super) fn command_bytes_max(device: u64) -> Option<u64> {
    let queue = directory(rustix::fs::major(device), rustix::fs::minor(device))?;
    let transfer_kib: u64 = number(&queue, "max_hw_sectors_kb")?;
    let segments: u64 = number(&queue, "max_segments")?;
    Some((transfer_kib * 1024).min(segments * PAGE_BYTES as u64))
}

/// The directory `/sys/…/queue` of the disk.
fn directory(major: u32, minor: u32) -> Option<PathBuf> {
    let device = sys::resolved(Path::new(&format!("/sys/dev/block/{major}:{minor}"))).ok()?;
    let disk = if device.join("partition").exists() { device.parent()? } else { &device };
    Some(disk.join("queue")).filter(|queue| queue.is_dir())
}

/// Whether a disk is rotational, from its directory `queue`; `None` if unknown. Virtual disks report that they are
/// rotational unless configured otherwise, regardless of the real disk, so only a negative value is used.
pub(super) fn rotational(queue: &Path) -> Option<bool> {
    let says_so = number::<u32>(queue, "rotational")? != 0;
    let name = queue.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let is_virtual = ["vd", "xvd"].iter().any(|prefix| name.starts_with(prefix));
    (!says_so || !is_virtual).then_some(says_so)
}

fn read(queue: &Path) -> QueueLimits {
    let max_request_kib: u32 = number(queue, "max_sectors_kb").unwrap_or(0);
    QueueLimits {
        optimal_io_bytes: number(queue, "optimal_io_size").unwrap_or(0),
        max_request_bytes: max_request_kib.saturating_mul(1024),
        requests_max: number(queue, "nr_requests").unwrap_or(0),
        rotational: rotational(queue),
        write_zeroes_max_bytes: number(queue, "write_zeroes_max_bytes").unwrap_or(0),
        // No kernel reports this for block devices yet.
        copy_max_bytes: 0,
        copy_unit_bytes: 0,
    }
}

fn number<T: FromStr>(queue: &Path, name: &str) -> Option<T> {
    str::from_utf8(&sys::attribute(&queue.join(name)).ok()?).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_virtual_disk_is_trusted_only_if_it_reports_non_rotational() {
        let dir = tempfile::tempdir().unwrap();
        let says = |name: &str, flag: &str| {
            let queue = dir.path().join(name).join("queue");
            fs::create_dir_all(&queue).unwrap();
            fs::write(queue.join("rotational"), flag).unwrap();
            rotational(&queue)
        };
        assert_eq!([says("vda", "1\n"), says("vdb", "0\n"), says("xvda", "1\n")], [None, Some(false), None]);
        assert_eq!(
            [says("sda", "1\n"), says("sdb", "0\n"), says("loop0", "1\n")],
            [Some(true), Some(false), Some(true)]
        );
        assert_eq!(rotational(dir.path()), None);
    }

    #[test]
    fn limits_are_in_bytes_and_missing_ones_are_unknown() {
        let queue = tempfile::tempdir().unwrap();
        fs::write(queue.path().join("max_sectors_kb"), "1280\n").unwrap();
        fs::write(queue.path().join("rotational"), "1\n").unwrap();
        fs::write(queue.path().join("nr_requests"), "256\n").unwrap();
        let limits = read(queue.path());
        let expected = QueueLimits {
            max_request_bytes: 1280 << 10,
            rotational: Some(true),
            requests_max: 256,
            ..QueueLimits::default()
        };
        assert_eq!(limits, expected);
    }

    #[test]
    fn scheduler_and_read_ahead_are_read_and_missing_ones_are_unknown() {
        let sys = tempfile::tempdir().unwrap();
        let queue = sys.path().join("sda/queue");
        fs::create_dir_all(&queue).unwrap();
        let unknown = QueuePolicy { disk: "sda".to_owned(), ..QueuePolicy::default() };
        assert_eq!(policy(&queue), unknown);
        fs::write(queue.join("scheduler"), "none [mq-deadline] bfq\n").unwrap();
        fs::write(queue.join("read_ahead_kb"), "128\n").unwrap();
        fs::create_dir(sys.path().join("sda/device")).unwrap();
        let expected = QueuePolicy {
            scheduler: Some("mq-deadline".to_owned()),
            schedulers: ["none", "mq-deadline", "bfq"].map(str::to_owned).into(),
            read_ahead_bytes: Some(128 << 10),
            of_drive: true,
            ..unknown
        };
        assert_eq!(policy(&queue), expected);
        // A mapping has only one scheduler, without brackets.
        fs::write(queue.join("scheduler"), "none\n").unwrap();
        assert_eq!(policy(&queue).scheduler.as_deref(), Some("none"));
        assert_eq!(policy_of_device(0, 9999), QueuePolicy::default());
    }

    #[test]
    fn a_number_without_block_device_has_no_limits() {
        assert_eq!(of_device(0, 9999), QueueLimits::default());
        assert_eq!(memory_align_bytes(0, 9999), None);
    }
}
