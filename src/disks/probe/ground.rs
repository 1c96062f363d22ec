//! Where the bytes of an endpoint lie in the end: below partitions, loop devices, dm and md devices, file systems.
use super::snapshot::Snapshot;
use super::sysfs::Device;
use crate::core::{FileId, Ground};
use std::path::Path;

/// The levels of a block device: itself, then everything beneath.
pub(super) fn of_device(snapshot: &Snapshot, device: &Device) -> Vec<Ground> {
    let mut levels = Levels { snapshot, found: Vec::new() };
    levels.device(device, Some(0));
    levels.found
}

/// The levels of a regular file: itself, then the disks of its file system.
pub(super) fn of_file(snapshot: &Snapshot, dev: u64, ino: u64, path: &Path) -> Vec<Ground> {
    let mut levels = Levels { snapshot, found: Vec::new() };
    levels.file(FileId::File(dev, ino), path, Some(0));
    levels.found
}

/// The levels of a file that is to be made: the disks of the file system of its directory, whose `st_dev` is `dev`.
pub(super) fn of_new_file(snapshot: &Snapshot, dev: u64, directory: &Path) -> Vec<Ground> {
    let mut levels = Levels { snapshot, found: Vec::new() };
    levels.filesystem(dev, directory);
    levels.found
}

/// File systems that keep files in memory and nowhere else.
const IN_MEMORY: [&str; 4] = ["tmpfs", "ramfs", "hugetlbfs", "devtmpfs"];

/// What keeps one of these levels, or the file system with the number `st_dev`, in memory.
pub(super) fn memory(snapshot: &Snapshot, levels: &[Ground], st_dev: Option<u64>) -> Option<String> {
    let of_filesystem = |number: u64| {
        let mount = snapshot.mounts.iter().find(|mount| mount.number == number)?;
        IN_MEMORY.contains(&mount.filesystem.as_str()).then(|| mount.filesystem.clone())
    };
    let of_level = |level: &Ground| match level.id {
        FileId::File(number, _) => of_filesystem(number),
        // Those of brd and zram.
        FileId::Device(_) => {
            let name = level.name.strip_prefix("/dev/")?;
            let number = name.strip_prefix("zram").or_else(|| name.strip_prefix("ram"))?;
            number.bytes().all(|digit| digit.is_ascii_digit()).then(|| level.name.clone())
        }
        FileId::Node(_) => None,
    };
    st_dev.and_then(of_filesystem).or_else(|| levels.iter().find_map(of_level))
}

struct Levels<'a> {
    snapshot: &'a Snapshot,
    found: Vec<Ground>,
}

impl Levels<'_> {
    /// Whether this level is new: over two legs of a mirror one disk may be reached twice.
    fn is_new(&self, id: FileId) -> bool {
        !self.found.iter().any(|known| known.id == id)
    }

    fn device(&mut self, device: &Device, offset: Option<u64>) {
        let id = FileId::Device(device.number);
        if !self.is_new(id) {
            return;
        }
        self.found.push(Ground { id, name: device.node(), offset, rotational: device.rotational() });
        if let Some(disk) = device.disk() {
            self.device(&disk, offset.map(|offset| offset.saturating_add(device.start())));
        }
        for slave in device.slaves() {
            self.device(&slave, None);
        }
        if let Some(attached) = self.snapshot.loop_of(device.number) {
            let offset = offset.map(|offset| offset.saturating_add(attached.offset));
            match attached.backing {
                FileId::Device(number) => {
                    if let Some(lower) = self.snapshot.sysfs.device(number) {
                        self.device(&lower, offset);
                    }
                }
                file => self.file(file, Path::new(&attached.backing_name), offset),
            }
        }
    }

    fn file(&mut self, id: FileId, path: &Path, offset: Option<u64>) {
        if !self.is_new(id) {
            return;
        }
        self.found.push(Ground { id, name: path.display().to_string(), offset, rotational: None });
        if let FileId::File(dev, _) = id {
            self.filesystem(dev, path);
        }
    }

    /// Which blocks of the disk a file has is the file system's affair.
    fn filesystem(&mut self, dev: u64, path: &Path) {
        for device in self.snapshot.devices_of(dev, path) {
            self.device(&device, None);
        }
    }
}
