//! The disks and files that store the bytes of an endpoint: below partitions, loop devices, dm and md devices, file
//! systems.
use super::snapshot::Snapshot;
use super::sysfs::Device;
use crate::core::{FileId, Ground};
use std::path::Path;

/// The levels of a block device: the device itself, then everything below it.
pub(super) fn of_device(snapshot: &Snapshot, device: &Device) -> Vec<Ground> {
    let mut levels = Levels { snapshot, found: Vec::new() };
    levels.device(device, Some(0));
    levels.found
}

/// The levels of a regular file: the file itself, then the disks of its file system.
pub(super) fn of_file(snapshot: &Snapshot, dev: u64, ino: u64, path: &Path) -> Vec<Ground> {
    let mut levels = Levels { snapshot, found: Vec::new() };
    levels.file(FileId::File(dev, ino), path, Some(0));
    levels.found
}

/// The levels of a file to be created: the disks of the file system of its directory, whose `st_dev` is `dev`.
pub(super) fn of_new_file(snapshot: &Snapshot, dev: u64, directory: &Path) -> Vec<Ground> {
    let mut levels = Levels { snapshot, found: Vec::new() };
    levels.filesystem(dev, directory);
    levels.found
}

/// File systems that store files in memory only.
const IN_MEMORY: [&str; 4] = ["tmpfs", "ramfs", "hugetlbfs", "devtmpfs"];

/// The volatile storage that one of these levels, or the file system with the number `st_dev`, is on.
pub(super) fn memory(snapshot: &Snapshot, levels: &[Ground], st_dev: Option<u64>) -> Option<String> {
    let of_filesystem = |number: u64| {
        let mount = snapshot.mounts.iter().find(|mount| mount.number == number)?;
        IN_MEMORY.contains(&mount.filesystem.as_str()).then(|| mount.filesystem.clone())
    };
    let of_level = |level: &Ground| match level.id {
        FileId::File(number, _) => of_filesystem(number),
        FileId::Device(_) if is_ram_disk(&level.name) => Some(level.name.clone()),
        FileId::Device(number) => {
            let device = snapshot.sysfs.device(number).filter(Device::has_unflushed_cache)?;
            let why = "whose volatile write cache the kernel does not flush (it is set to write through)";
            Some(format!("{}, {why}", device.node()))
        }
        FileId::Node(_) | FileId::Export(_) => None,
    };
    st_dev.and_then(of_filesystem).or_else(|| levels.iter().find_map(of_level))
}

/// Whether it is a brd or zram device.
fn is_ram_disk(node: &str) -> bool {
    let name = node.strip_prefix("/dev/").unwrap_or(node);
    let number = name.strip_prefix("zram").or_else(|| name.strip_prefix("ram"));
    number.is_some_and(|number| number.bytes().all(|digit| digit.is_ascii_digit()))
}

struct Levels<'a> {
    snapshot: &'a Snapshot,
    found: Vec<Ground>,
}

impl Levels<'_> {
    /// Whether this level is new: both legs of a mirror may be on the same disk.
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

    /// The offsets of a file's blocks on the disk are unknown.
    fn filesystem(&mut self, dev: u64, path: &Path) {
        for device in self.snapshot.devices_of(dev, path) {
            self.device(&device, None);
        }
    }
}
