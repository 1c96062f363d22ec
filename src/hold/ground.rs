//! What lies beneath a block device: the disk of a partition, the file or device that a loop device is attached to.
use crate::core::Extent;
use crate::sys;
use crate::sys::loop_device;
use rustix::fs::{FileType, Mode, OFlags, major, makedev, minor};
use std::fs;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Bytes in the unit in which sysfs counts sizes and starts, whatever the device's own blocks are.
const SECTOR_BYTES: u64 = 512;

/// More levels than are used in practice: what goes deeper is not examined.
const LEVELS_MAX: usize = 16;

/// Bytes of a device or file beneath, which is open for reading.
#[derive(Debug)]
pub(super) struct Ground {
    pub(super) fd: OwnedFd,
    pub(super) extent: Extent,
}

/// Where the bytes `extent` of `fd` lie: the node of the same device below /dev where `fd` is another one, its disk,
/// the file that a loop device is attached to, and so on downwards. Nothing for what is no block device, nor where a
/// level cannot be found or opened for reading: a file that was deleted, or lies in another mount namespace. What
/// device mapper and md make of their devices is not looked through.
pub(super) fn beneath(fd: BorrowedFd<'_>, extent: Extent) -> Vec<Ground> {
    let mut found: Vec<Ground> = Vec::new();
    let mut extent = extent;
    while found.len() < LEVELS_MAX {
        let above = found.last().map_or(fd, |ground| ground.fd.as_fd());
        let Some((fd, lower)) = own_node(above, extent).or_else(|| step_down(above, extent)) else { break };
        found.push(Ground { fd, extent: lower });
        extent = lower;
    }
    found
}

/// The node below /dev of a device that was opened by another one. Locks are on nodes, and what lies above looks for
/// this one.
fn own_node(fd: BorrowedFd<'_>, extent: Extent) -> Option<(OwnedFd, Extent)> {
    let device = Device::of(block_number(fd)?)?;
    let node = device.open()?;
    let id = |fd: BorrowedFd<'_>| rustix::fs::fstat(fd).ok().map(|stat| (stat.st_dev, stat.st_ino));
    (id(fd) != id(node.as_fd())).then_some((node, extent))
}

/// The next level, and where `extent` lies on it.
fn step_down(fd: BorrowedFd<'_>, extent: Extent) -> Option<(OwnedFd, Extent)> {
    let device = Device::of(block_number(fd)?)?;
    let within = extent.intersection(&Extent::new(0, device.attribute("size")?.checked_mul(SECTOR_BYTES)?))?;
    let (lower, offset) = match device.disk() {
        Some(disk) => (disk.open()?, device.attribute("start")?.checked_mul(SECTOR_BYTES)?),
        None => backing(fd, &device)?,
    };
    let offset = within.offset.checked_add(offset)?;
    offset.checked_add(within.len)?;
    Some((lower, Extent::new(offset, within.len)))
}

/// What a loop device is attached to, and where its byte 0 is on that.
fn backing(fd: BorrowedFd<'_>, device: &Device) -> Option<(OwnedFd, u64)> {
    let path = fs::read(device.dir.join("loop/backing_file")).ok()?;
    let path: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(path.strip_suffix(b"\n").unwrap_or(&path));
    let status = loop_device::status(fd).ok()?;
    // The path may lead to something else by now, or from here.
    let backing = open_what(Path::new(path), |stat| match status.rdevice {
        0 => (stat.st_dev, stat.st_ino) == (status.device, status.inode),
        number => is_device(stat, number),
    })?;
    Some((backing, status.offset))
}

/// A block device as sysfs shows it.
struct Device {
    /// Its directory, every link resolved.
    dir: PathBuf,
    number: u64,
}

impl Device {
    fn of(number: u64) -> Option<Device> {
        let dir = sys::resolved(Path::new(&format!("/sys/dev/block/{}:{}", major(number), minor(number)))).ok()?;
        Some(Device { dir, number })
    }

    /// The disk that it is a partition of.
    fn disk(&self) -> Option<Device> {
        if !self.dir.join("partition").exists() {
            return None;
        }
        let dir = self.dir.parent()?.to_owned();
        let number = fs::read_to_string(dir.join("dev")).ok()?;
        let (major, minor) = number.trim().split_once(':')?;
        Some(Device { dir, number: makedev(major.parse().ok()?, minor.parse().ok()?) })
    }

    fn attribute(&self, name: &str) -> Option<u64> {
        fs::read_to_string(self.dir.join(name)).ok()?.trim().parse().ok()
    }

    /// Its node below /dev, which is the same for every user.
    fn open(&self) -> Option<OwnedFd> {
        // sysfs cannot have a slash in a name and writes `cciss!c0d0`.
        let name = self.dir.file_name()?.to_str()?.replace('!', "/");
        open_what(&Path::new("/dev").join(name), |stat| is_device(stat, self.number))
    }
}

/// The number of an open block device.
fn block_number(fd: BorrowedFd<'_>) -> Option<u64> {
    let stat = rustix::fs::fstat(fd).ok()?;
    (FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice).then_some(stat.st_rdev)
}

fn is_device(stat: &rustix::fs::Stat, number: u64) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice && stat.st_rdev == number
}

/// Opens for reading what `path` leads to, where that is the right thing. Never for writing: when a disk that was open
/// for writing is closed, udev has its partitions read again, and their nodes disappear for a moment.
fn open_what(path: &Path, is_right: impl Fn(&rustix::fs::Stat) -> bool) -> Option<OwnedFd> {
    // Opening something else could do something to it, so it is examined first.
    let found = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    if !is_right(&rustix::fs::fstat(&found).ok()?) {
        return None;
    }
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    rustix::fs::open(format!("/proc/self/fd/{}", found.as_raw_fd()), flags, Mode::empty()).ok()
}
