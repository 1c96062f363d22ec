//! Attached loop devices, and what each lies on.
use super::sysfs::{self, Device, Sysfs};
use crate::core::FileId;
use crate::sys::loop_device;
use rustix::fs::{FileType, Mode, OFlags};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// An attached loop device.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    /// Itself.
    pub(super) device: Device,
    /// The file or block device beneath.
    pub(super) backing: FileId,
    /// Its name for messages.
    pub(super) backing_name: String,
    /// Where the loop device's byte 0 is on it.
    pub(super) offset: u64,
}

/// Every attached loop device of which it can be found out what it lies on.
pub(super) fn attached(sysfs: &Sysfs) -> Vec<Loop> {
    sysfs.disks_named("loop").into_iter().filter_map(look).collect()
}

fn look(device: Device) -> Option<Loop> {
    let backing_name = sysfs::text(&device.dir, "loop/backing_file")?;
    let stated = || sysfs::text(&device.dir, "loop/offset")?.trim().parse().ok();
    // The device itself knows more than the path, which may be deleted, replaced, or mean something else here; but
    // asking it takes a right that not everybody has.
    let (backing, offset) = match ask(&device) {
        Some(known) => known,
        None => (id_of(Path::new(&backing_name))?, stated().unwrap_or(0)),
    };
    Some(Loop { device, backing, backing_name, offset })
}

fn ask(device: &Device) -> Option<(FileId, u64)> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fd = rustix::fs::open(PathBuf::from(device.node()), flags, Mode::empty()).ok()?;
    // In a made-up tree, or a container with nodes of its own, the name may be another device's.
    if rustix::fs::fstat(&fd).ok()?.st_rdev != device.number {
        return None;
    }
    let status = loop_device::status(fd.as_fd()).ok()?;
    let backing = match status.rdevice {
        0 => FileId::File(status.device, status.inode),
        number => FileId::Device(number),
    };
    Some((backing, status.offset))
}

/// What a path leads to.
pub(super) fn id_of(path: &Path) -> Option<FileId> {
    let stat = rustix::fs::stat(path).ok()?;
    Some(match FileType::from_raw_mode(stat.st_mode) {
        FileType::BlockDevice => FileId::Device(stat.st_rdev),
        _ => FileId::File(stat.st_dev, stat.st_ino),
    })
}
