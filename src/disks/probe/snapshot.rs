//! A snapshot of the kernel's information about devices, mounts and swap space, shared by both sides.
use super::loops::{self, Loop};
use super::mounts::{self, Mount, Swap};
use super::sysfs::{Device, Sysfs};
use rustix::fs::{AtFlags, CWD, StatxFlags};
use std::fs;
use std::path::{Path, PathBuf};

/// A snapshot of the kernel's information about devices, mounts and swap space.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    pub(super) sysfs: Sysfs,
    /// Directory of udev's database.
    pub(super) udev: PathBuf,
    pub(super) mounts: Vec<Mount>,
    pub(super) swaps: Vec<Swap>,
    pub(super) loops: Vec<Loop>,
}

impl Snapshot {
    /// Reads the information. What cannot be read is treated as empty: without /proc or /sys less is known, and the
    /// exclusive open still protects devices in use.
    pub(super) fn take() -> Self {
        let sysfs = Sysfs::new("/sys");
        let text = |path: &str| fs::read(path).unwrap_or_default();
        Snapshot {
            udev: PathBuf::from("/run/udev/data"),
            mounts: mounts::mounts(&text("/proc/self/mountinfo"), &sysfs),
            swaps: mounts::swaps(&text("/proc/swaps")),
            loops: loops::attached(&sysfs),
            sysfs,
        }
    }

    /// The mount that contains the existing `path`, with all links resolved.
    pub(super) fn mount_of(&self, path: &Path) -> Option<&Mount> {
        // The kernel reports the mount ID since 5.8. Two mounts may have the same path, and a file two paths.
        let stat = rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok();
        let id = stat.filter(|stat| stat.stx_mask & StatxFlags::MNT_ID.bits() != 0).map(|stat| stat.stx_mnt_id);
        let known = self.mounts.iter().find(|mount| Some(mount.id) == id);
        known.or_else(|| self.mount_above(path))
    }

    /// The mount with the longest mount point above `path`; the last one if there are several.
    fn mount_above(&self, path: &Path) -> Option<&Mount> {
        let above = self.mounts.iter().filter(|mount| path.starts_with(&mount.at));
        above.max_by_key(|mount| mount.at.components().count())
    }

    /// The block devices of a file system, by its mount or its `st_dev`.
    pub(super) fn devices_of(&self, st_dev: u64, path: &Path) -> Vec<Device> {
        if let Some(device) = self.sysfs.device(st_dev) {
            return vec![device];
        }
        // mountinfo does not contain the numbers of btrfs subvolumes, so the path is tried first.
        let by_number = || self.mounts.iter().find(|mount| mount.number == st_dev);
        let mount = self.mount_of(path).filter(|_| path.exists()).or_else(by_number);
        let numbers = mount.map(|mount| mount.devices.as_slice()).unwrap_or_default();
        numbers.iter().filter_map(|&number| self.sysfs.device(number)).collect()
    }

    /// The attached loop device with this number.
    pub(super) fn loop_of(&self, number: u64) -> Option<&Loop> {
        self.loops.iter().find(|one| one.device.number == number)
    }
}
