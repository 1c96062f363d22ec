//! Attached loop devices and their backing files.
use super::sysfs::{self, Device, Sysfs};
use crate::core::FileId;
use crate::sys::loop_device;
use rustix::fs::{FileType, Mode, OFlags};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// An attached loop device.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    /// The loop device.
    pub(super) device: Device,
    /// The backing file or block device.
    pub(super) backing: FileId,
    /// Path of the backing file, for messages.
    pub(super) backing_name: String,
    /// Offset of the loop device in the backing file.
    pub(super) offset: u64,
}

/// All attached loop devices whose backing file can be determined.
pub(super) fn attached(sysfs: &Sysfs) -> Vec<Loop> {
    sysfs.disks_named("loop").into_iter().filter_map(look).collect()
}

fn look(device: Device) -> Option<Loop> {
    let backing_name = sysfs::text(&device.dir, "loop/backing_file")?;
    let stated = || sysfs::text(&device.dir, "loop/offset")?.trim().parse().ok();
    // The ioctl is more reliable than the path, which may be deleted, replaced, or in another namespace, but it needs
    // read permission for the device.
    let (backing, offset) = match query(&device) {
        Some(known) => known,
        None => (id_of(Path::new(&backing_name))?, stated().unwrap_or(0)),
    };
    Some(Loop { device, backing, backing_name, offset })
}

fn query(device: &Device) -> Option<(FileId, u64)> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fd = rustix::fs::open(PathBuf::from(device.node()), flags, Mode::empty()).ok()?;
    // In a simulated tree, or a container with its own nodes, the path may lead to another device.
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

/// Identity of the file that a path leads to.
pub(super) fn id_of(path: &Path) -> Option<FileId> {
    let stat = rustix::fs::stat(path).ok()?;
    Some(match FileType::from_raw_mode(stat.st_mode) {
        FileType::BlockDevice => FileId::Device(stat.st_rdev),
        _ => FileId::File(stat.st_dev, stat.st_ino),
    })
}
