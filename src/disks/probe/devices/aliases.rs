use crate::disks::probe::passthrough;
use crate::disks::probe::snapshot::Snapshot;
use crate::disks::probe::sysfs::{Device as Block, names_in};
use rustix::fs::FileType;
use std::path::{Path, PathBuf};

/// Directories under /dev with other names of disks and partitions, in order of preference.
const DIRECTORIES: [&str; 5] = ["disk/by-id", "disk/by-path", "disk/by-partuuid", "mapper", "md"];

/// Other names of block devices, read once.
pub(super) struct Aliases {
    dev: PathBuf,
    /// Device number, and a path to the device.
    names: Vec<(u64, PathBuf)>,
}

impl Aliases {
    /// Reads the names under `dev`, which is /dev except in tests.
    pub(super) fn gather(dev: &Path) -> Self {
        let directories = DIRECTORIES.iter().map(|directory| dev.join(directory));
        let paths = directories.flat_map(|dir| names_in(&dir).into_iter().map(move |name| dir.join(name)));
        let names = paths.filter_map(|path| Some((number(&path)?, path))).collect();
        Aliases { dev: dev.to_owned(), names }
    }

    /// The node with this name.
    pub(super) fn node(&self, name: &str) -> PathBuf {
        self.dev.join(name)
    }

    /// Symbolic links and nodes of the device with this number.
    pub(super) fn of(&self, number: u64) -> Vec<PathBuf> {
        self.names.iter().filter(|(of, _)| *of == number).map(|(_, path)| path.clone()).collect()
    }

    /// Character devices for the disk's commands: `/dev/sg0`, `/dev/bsg/0:0:0:0`, `/dev/ng0n1`.
    pub(super) fn passthrough(&self, snapshot: &Snapshot, disk: &Block) -> Vec<PathBuf> {
        let node = passthrough::directory(&snapshot.sysfs, disk);
        let node = node.and_then(|(_, dir)| Some(self.dev.join(dir.file_name()?)));
        let bsg = names_in(&disk.dir.join("device/bsg"));
        node.into_iter().chain(bsg.iter().map(|name| self.dev.join("bsg").join(name))).collect()
    }
}

fn number(path: &Path) -> Option<u64> {
    let stat = rustix::fs::stat(path).ok()?;
    (FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice).then_some(stat.st_rdev)
}
