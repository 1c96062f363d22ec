//! Block devices in sysfs: partitions and stacked devices.
use crate::disks::queue_limits;
use crate::sys;
use rustix::fs::{major, makedev, minor};
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Unit of sizes and offsets in sysfs, in bytes, regardless of the block size of the device.
const SECTOR_BYTES: u64 = 512;

/// Attributes under a root path, which is `/sys` except in tests.
#[derive(Clone, Debug)]
pub(super) struct Sysfs {
    root: PathBuf,
}

/// A block device: a disk, a partition, or a device stacked on others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Device {
    /// Its directory, with all links resolved.
    pub(super) dir: PathBuf,
    /// Kernel name, as in /dev.
    pub(super) name: String,
    /// `makedev(major, minor)`.
    pub(super) number: u64,
}

impl Sysfs {
    pub(super) fn new(root: impl Into<PathBuf>) -> Self {
        Sysfs { root: root.into() }
    }

    /// The block device with this number; `None` for numbers of btrfs, tmpfs or NFS.
    pub(super) fn device(&self, number: u64) -> Option<Device> {
        let dir = format!("dev/block/{}:{}", major(number), minor(number));
        Device::at(&self.root.join(dir))
    }

    /// A directory or link under the root.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// All disks and whole virtual devices, without partitions.
    pub(super) fn disks(&self) -> Vec<Device> {
        devices_in(&self.root.join("block"))
    }

    /// Disks and whole virtual devices whose names have this prefix.
    pub(super) fn disks_named(&self, prefix: &str) -> Vec<Device> {
        let dir = self.root.join("block");
        let names = names_in(&dir).into_iter().filter(|name| name.starts_with(prefix));
        names.filter_map(|name| Device::at(&dir.join(name))).collect()
    }

    /// All members of the btrfs file system of which `device` is a member; empty for other devices.
    pub(super) fn btrfs_members(&self, device: &Device) -> Vec<Device> {
        let systems = names_in(&self.root.join("fs/btrfs"));
        let members = systems.iter().map(|name| devices_in(&self.root.join("fs/btrfs").join(name).join("devices")));
        members.into_iter().find(|members| members.contains(device)).unwrap_or_default()
    }
}

impl Device {
    /// The device of a directory or link in sysfs.
    pub(super) fn at(path: &Path) -> Option<Device> {
        Device::in_dir(sys::resolved(path).ok()?)
    }

    /// The device of a directory without symbolic links.
    fn in_dir(dir: PathBuf) -> Option<Device> {
        let (major, minor) = text(&dir, "dev")?.split_once(':').map(|(a, b)| (a.parse(), b.parse()))?;
        // sysfs replaces slashes in names: `cciss!c0d0`.
        let name = dir.file_name()?.to_string_lossy().replace('!', "/");
        Some(Device { number: makedev(major.ok()?, minor.ok()?), name, dir })
    }

    /// Path of its node.
    pub(super) fn node(&self) -> String {
        format!("/dev/{}", self.name)
    }

    /// The disk that contains the partition.
    pub(super) fn disk(&self) -> Option<Device> {
        self.dir.join("partition").exists().then(|| Device::in_dir(self.dir.parent()?.to_owned())).flatten()
    }

    /// Its partitions, ascending by offset.
    pub(super) fn partitions(&self) -> Vec<Device> {
        // Partition names begin with the disk's name, so the other 30 or so entries need not be read.
        let disk = self.dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut found: Vec<Device> = names_in(&self.dir)
            .iter()
            .filter(|name| name.starts_with(&disk))
            .map(|name| self.dir.join(name))
            .filter(|dir| dir.join("partition").is_file())
            .filter_map(Device::in_dir)
            .collect();
        found.sort_by_key(|part| (part.start(), part.number));
        found
    }

    /// Devices stacked on it: dm and md devices, bcache.
    pub(super) fn holders(&self) -> Vec<Device> {
        devices_in(&self.dir.join("holders"))
    }

    /// Lower devices.
    pub(super) fn slaves(&self) -> Vec<Device> {
        devices_in(&self.dir.join("slaves"))
    }

    /// Offset on its disk in bytes; 0 for a disk.
    pub(super) fn start(&self) -> u64 {
        number::<u64>(&self.dir, "start").unwrap_or(0).saturating_mul(SECTOR_BYTES)
    }

    /// Its size in bytes.
    pub(super) fn len(&self) -> u64 {
        number::<u64>(&self.dir, "size").unwrap_or(0).saturating_mul(SECTOR_BYTES)
    }

    /// The sequence number of the disk; `None` before Linux 5.15.
    pub(super) fn sequence(&self) -> Option<u64> {
        let dir = self.disk().map_or_else(|| self.dir.clone(), |disk| disk.dir);
        number(&dir, "diskseq")
    }

    /// Whether it or its disk is read-only.
    pub(super) fn read_only(&self) -> bool {
        let flag = |dir: &Path| number::<u32>(dir, "ro").is_some_and(|flag| flag != 0);
        flag(&self.dir) || self.disk().is_some_and(|disk| flag(&disk.dir))
    }

    /// Whether it or its disk is rotational; `None` if unknown.
    pub(super) fn rotational(&self) -> Option<bool> {
        let dir = self.disk().map_or_else(|| self.dir.clone(), |disk| disk.dir);
        queue_limits::rotational(&dir.join("queue"))
    }

    /// Whether it has a volatile write cache that the kernel does not flush: `queue/write_cache` was set to `write
    /// through`, which does not change the disk. The driver's attribute shows what the disk reported.
    pub(super) fn has_unflushed_cache(&self) -> bool {
        let scsi = self.dir.join("device/scsi_disk");
        let drivers = names_in(&scsi).into_iter().map(|name| scsi.join(name)).chain([self.dir.clone()]);
        let is_volatile = |dir: PathBuf| text(&dir, "cache_type").is_some_and(|kind| kind.starts_with("write back"));
        text(&self.dir, "queue/write_cache").is_some_and(|kind| kind == "write through")
            && drivers.into_iter().any(is_volatile)
    }
}

/// The text of an attribute without the trailing newline; `None` if it does not exist or is empty.
pub(super) fn text(dir: &Path, name: &str) -> Option<String> {
    let bytes = sys::attribute(&dir.join(name)).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.strip_suffix('\n').unwrap_or(&text);
    (!text.is_empty()).then(|| text.to_owned())
}

fn number<T: FromStr>(dir: &Path, name: &str) -> Option<T> {
    text(dir, name)?.trim().parse().ok()
}

/// Sorted names in a directory; empty if it does not exist.
pub(super) fn names_in(dir: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn devices_in(dir: &Path) -> Vec<Device> {
    names_in(dir).iter().filter_map(|name| Device::at(&dir.join(name))).collect()
}
