//! All block devices of the machine, for lists, with the same facts as for endpoints. Changes nothing. This room must
//! not know how a list is displayed.
mod aliases;
mod scsi;

use super::identity::{identity, partitions};
use super::snapshot::Snapshot;
use super::sysfs::{self, Device as Block};
use super::{in_use, signature};
use crate::core::{Device, DevicePartition, Error, Kind, Partition, Result, ScsiDevice};
use crate::disks::queue_limits;
use aliases::Aliases;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::fs;
use std::path::{Path, PathBuf};

/// All block devices: disks first, then devices stacked on others, loop devices last; and the SCSI devices without a
/// block device. Omits loop devices that are not attached and other devices without capacity, except for drives without
/// a medium.
///
/// # Errors
/// Open if `/sys/block` cannot be read.
pub fn devices() -> Result<(Vec<Device>, Vec<ScsiDevice>)> {
    fs::read_dir("/sys/block").map_err(|cause| {
        let advice = "Mount sysfs at /sys: the kernel lists devices there.";
        Error::new(Kind::Open, "cannot list the devices in /sys/block").because(cause).advise(advice)
    })?;
    let (snapshot, aliases) = (Snapshot::take(), Aliases::gather(Path::new("/dev")));
    Ok((listed(&snapshot, &aliases), scsi::devices(&snapshot, &aliases)))
}

fn listed(snapshot: &Snapshot, aliases: &Aliases) -> Vec<Device> {
    let mut disks: Vec<Block> = snapshot.sysfs.disks().into_iter().filter(|disk| shown(snapshot, disk)).collect();
    disks.sort_by(|one, other| (rank(one), pieces(&one.name)).cmp(&(rank(other), pieces(&other.name))));
    disks.iter().map(|disk| describe_disk(snapshot, aliases, disk)).collect()
}

fn shown(snapshot: &Snapshot, disk: &Block) -> bool {
    if is_loop(disk) {
        // It is attached even if its backing file cannot be determined.
        return snapshot.loop_of(disk.number).is_some() || disk.dir.join("loop").exists();
    }
    disk.len() > 0 || has_hardware(disk)
}

fn describe_disk(snapshot: &Snapshot, aliases: &Aliases, disk: &Block) -> Device {
    let path = PathBuf::from(disk.node());
    let block_bytes = |name| sysfs::text(&disk.dir, name).and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut other_names = aliases.of(disk.number);
    other_names.extend(aliases.passthrough(snapshot, disk));
    let (content, identity) = (may_be_read(disk).then(|| signature::look(&path)).flatten(), identity(snapshot, disk));
    let removable = sysfs::text(&disk.dir, "removable").as_deref() == Some("1");
    Device {
        name: disk.name.clone(),
        aliases: other_names,
        size: disk.len(),
        // After reading the content, because the kernel may only then notice another medium.
        disk_sequence: disk.sequence(),
        hotplug: removable || is_hotplug(disk, identity.transport.as_deref()),
        identity,
        made_of: made_of(snapshot, disk),
        rotational: disk.rotational(),
        removable,
        read_only: disk.read_only(),
        logical_block_bytes: block_bytes("queue/logical_block_size"),
        physical_block_bytes: block_bytes("queue/physical_block_size"),
        queue_policy: queue_limits::policy(&disk.dir.join("queue")),
        readable: may_be_opened(&path),
        content,
        uses: in_use::of_device(snapshot, disk),
        saved: None,
        saved_write: None,
        undo: None,
        pending: None,
        partitions: parts(snapshot, aliases, disk),
        path,
    }
}

fn parts(snapshot: &Snapshot, aliases: &Aliases, disk: &Block) -> Vec<DevicePartition> {
    let blocks = disk.partitions();
    let reported = |mut partition: Partition| {
        let block = blocks.iter().find(|block| block.name == partition.name)?;
        let path = PathBuf::from(block.node());
        partition.content = may_be_read(disk).then(|| signature::look(&path)).flatten();
        let (aliases, uses) = (aliases.of(block.number), in_use::of_device(snapshot, block));
        Some(DevicePartition { partition, path, aliases, uses, undo: None, pending: None })
    };
    partitions(disk).into_iter().filter_map(reported).collect()
}

fn made_of(snapshot: &Snapshot, disk: &Block) -> Vec<String> {
    if is_loop(disk) {
        let known = snapshot.loop_of(disk.number).map(|attached| attached.backing_name.clone());
        return known.into_iter().collect();
    }
    disk.slaves().into_iter().map(|slave| slave.name).collect()
}

/// Whether reading returns soon: reading a suspended dm device blocks forever, and an empty floppy drive takes long.
fn may_be_read(disk: &Block) -> bool {
    let suspended = sysfs::text(&disk.dir, "dm/suspended").as_deref() == Some("1");
    let floppy = disk.name.strip_prefix("fd").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    !suspended && !floppy && disk.len() > 0
}

/// Whether this process may open the node for reading. Determined by opening it, because a container may forbid what
/// the mode permits.
fn may_be_opened(path: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    !matches!(rustix::fs::open(path, flags, Mode::empty()), Err(Errno::ACCESS | Errno::PERM | Errno::NOENT))
}

/// Whether it is a hardware device: a disk, a drive, a card reader.
fn has_hardware(disk: &Block) -> bool {
    disk.dir.join("device").exists()
}

/// Whether it is on a hot-plug bus. An eMMC has the same transport as SD cards but is soldered.
fn is_hotplug(disk: &Block, transport: Option<&str>) -> bool {
    match transport {
        Some("usb") => true,
        Some("mmc") => sysfs::text(&disk.dir, "device/type").as_deref() == Some("SD"),
        _ => false,
    }
}

fn is_loop(disk: &Block) -> bool {
    disk.name.starts_with("loop")
}

fn rank(disk: &Block) -> u8 {
    match (has_hardware(disk), is_loop(disk)) {
        (true, _) => 0,
        (false, false) => 1,
        (false, true) => 2,
    }
}

/// Splits a name into runs of digits and other characters for natural sorting: sda, sdb, sdaa; nvme0n1, nvme2n1,
/// nvme10n1.
fn pieces(name: &str) -> Vec<(bool, usize, &str)> {
    let mut pieces = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.bytes().next() {
        let digits = first.is_ascii_digit();
        let end = rest.bytes().position(|byte| byte.is_ascii_digit() != digits).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        let piece = if digits { piece.trim_start_matches('0') } else { piece };
        pieces.push((digits, piece.len(), piece));
        rest = after;
    }
    pieces
}

#[cfg(test)]
mod tests;
