//! Every block device of the machine, for lists: the same facts as of one endpoint, by the same functions. Changes
//! nothing, and must not know how a list looks.
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

/// Every block device: disks first, then what is made of others, loop devices last. Left out are loop devices without
/// a file beneath them, and others without capacity, but drives that merely have no medium in them. Beside them the
/// SCSI devices that are no block devices.
///
/// # Errors
/// Open where there is no `/sys/block` to be read.
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
        // One whose file cannot be found out about is attached anyway.
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
        // After its content was read: that may be when the kernel notices another medium.
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
    let told = |mut partition: Partition| {
        let block = blocks.iter().find(|block| block.name == partition.name)?;
        let path = PathBuf::from(block.node());
        partition.content = may_be_read(disk).then(|| signature::look(&path)).flatten();
        let (aliases, uses) = (aliases.of(block.number), in_use::of_device(snapshot, block));
        Some(DevicePartition { partition, path, aliases, uses, undo: None, pending: None })
    };
    partitions(disk).into_iter().filter_map(told).collect()
}

fn made_of(snapshot: &Snapshot, disk: &Block) -> Vec<String> {
    if is_loop(disk) {
        let known = snapshot.loop_of(disk.number).map(|attached| attached.backing_name.clone());
        return known.into_iter().collect();
    }
    disk.slaves().into_iter().map(|slave| slave.name).collect()
}

/// Reading waits for ever on a suspended dm device, and long on a floppy drive, which cannot tell whether it is empty.
fn may_be_read(disk: &Block) -> bool {
    let suspended = sysfs::text(&disk.dir, "dm/suspended").as_deref() == Some("1");
    let floppy = disk.name.strip_prefix("fd").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    !suspended && !floppy && disk.len() > 0
}

/// Whether this process may open the node for reading. Asked by opening: a container may forbid what the mode allows.
fn may_be_opened(path: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    !matches!(rustix::fs::open(path, flags, Mode::empty()), Err(Errno::ACCESS | Errno::PERM | Errno::NOENT))
}

/// It has a device: a disk, a drive, a card reader.
fn has_hardware(disk: &Block) -> bool {
    disk.dir.join("device").exists()
}

/// On a bus that disks are plugged into and pulled out of. An eMMC is soldered, and has the transport of SD cards.
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

/// A name to sort by, with sda, sdb, sdaa and nvme0n1, nvme2n1, nvme10n1 in this order: runs of digits and of anything
/// else, the shorter first.
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
