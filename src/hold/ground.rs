//! The storage below a block device: the disk of a partition, the backing file or device of a loop device.
use crate::core::Extent;
use crate::sys;
use crate::sys::loop_device;
use rustix::fs::{FileType, Mode, OFlags, major, makedev, minor};
use std::fs;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Unit of sizes and offsets in sysfs, in bytes, regardless of the block size of the device.
const SECTOR_BYTES: u64 = 512;

/// Maximum number of levels to examine, more than are used in practice.
const LEVELS_MAX: usize = 16;

/// An extent of a lower device or file, which is open for reading.
#[derive(Debug)]
pub(super) struct Ground {
    pub(super) fd: OwnedFd,
    pub(super) extent: Extent,
}

/// The lower levels of the bytes `extent` of `fd`: the node under /dev if `fd` is another node of the same device, its
/// disk, the backing file of a loop device, and so on. Empty if it is not a block device. Ends at a level that cannot
/// be found or opened for reading, such as a file that was deleted or is in another mount namespace. Device mapper and
/// md mappings are not resolved.
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

/// The node under /dev of a device that was opened by another node. Locks are taken on the nodes under /dev, where
/// other processes look for them.
fn own_node(fd: BorrowedFd<'_>, extent: Extent) -> Option<(OwnedFd, Extent)> {
    let device = Device::of(block_number(fd)?)?;
    let node = device.open()?;
    let id = |fd: BorrowedFd<'_>| rustix::fs::fstat(fd).ok().map(|stat| (stat.st_dev, stat.st_ino));
    (id(fd) != id(node.as_fd())).then_some((node, extent))
}

/// The next lower level, and `extent` on it.
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

/// The backing file of a loop device, and the offset of the loop device in it.
fn backing(fd: BorrowedFd<'_>, device: &Device) -> Option<(OwnedFd, u64)> {
    let path = fs::read(device.dir.join("loop/backing_file")).ok()?;
    let path: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(path.strip_suffix(b"\n").unwrap_or(&path));
    let status = loop_device::status(fd).ok()?;
    // The path may lead to another file now, or in this namespace.
    let backing = open_what(Path::new(path), |stat| match status.rdevice {
        0 => (stat.st_dev, stat.st_ino) == (status.device, status.inode),
        number => is_device(stat, number),
    })?;
    Some((backing, status.offset))
}

/// A block device in sysfs.
struct Device {
    /// Its directory, with all links resolved.
    dir: PathBuf,
    number: u64,
}

impl Device {
    fn of(number: u64) -> Option<Device> {
        let dir = sys::resolved(Path::new(&format!("/sys/dev/block/{}:{}", major(number), minor(number)))).ok()?;
        Some(Device { dir, number })
    }

    /// The disk that contains the partition.
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

    /// Opens its node under /dev, which is the same for every user.
    fn open(&self) -> Option<OwnedFd> {
        // sysfs replaces slashes in names: `cciss!c0d0`.
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

/// Opens `path` for reading if `is_right` accepts it. Never for writing: when a disk that was open for writing is
/// closed, udev rereads its partition table, and the nodes of partitions disappear for a moment.
fn open_what(path: &Path, is_right: impl Fn(&rustix::fs::Stat) -> bool) -> Option<OwnedFd> {
    // Opening another file may have side effects, so it is checked first.
    let found = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    if !is_right(&rustix::fs::fstat(&found).ok()?) {
        return None;
    }
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    rustix::fs::open(format!("/proc/self/fd/{}", found.as_raw_fd()), flags, Mode::empty()).ok()
}
