//! A simulated machine for tests: a sysfs tree, mountinfo and swaps.
use super::mounts;
use super::snapshot::Snapshot;
use super::sysfs::{Device, Sysfs};
use rustix::fs::makedev;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use tempfile::TempDir;

/// A simulated machine.
pub(super) struct Tree {
    root: TempDir,
}

impl Tree {
    pub(super) fn new() -> Tree {
        Tree { root: tempfile::tempdir().unwrap() }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    /// Creates an attribute in any directory.
    pub(super) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Creates a symbolic link to a path of the tree.
    pub(super) fn link(&self, from: &str, to: &str) {
        let from = self.path(from);
        fs::create_dir_all(from.parent().unwrap()).unwrap();
        symlink(self.path(to), from).unwrap();
    }

    /// Creates a device in the directory `dir`, whose last component is its name. Returns the directory.
    pub(super) fn device(&self, dir: &str, numbers: &str, sectors: u64) -> String {
        let dir = format!("devices/{dir}");
        let name = dir.rsplit('/').next().unwrap();
        self.write(&format!("{dir}/dev"), format!("{numbers}\n"));
        self.write(&format!("{dir}/size"), format!("{sectors}\n"));
        self.link(&format!("dev/block/{numbers}"), &dir);
        self.link(&format!("class/block/{name}"), &dir);
        dir
    }

    /// Creates a whole device that is listed in /sys/block.
    pub(super) fn disk(&self, dir: &str, numbers: &str, sectors: u64) -> String {
        let dir = self.device(dir, numbers, sectors);
        self.link(&format!("block/{}", dir.rsplit('/').next().unwrap()), &dir);
        dir
    }

    /// Creates a partition of 1000 sectors of the disk in `disk`.
    pub(super) fn partition(&self, disk: &str, name: &str, numbers: &str, start: u64) -> String {
        let dir = self.device(&format!("{}/{name}", disk.strip_prefix("devices/").unwrap()), numbers, 1000);
        self.write(&format!("{dir}/partition"), "1\n");
        self.write(&format!("{dir}/start"), format!("{start}\n"));
        dir
    }

    /// Stacks `upper` on `lower`.
    pub(super) fn stack(&self, upper: &str, lower: &str) {
        let name = |dir: &str| dir.rsplit('/').next().unwrap().to_owned();
        self.link(&format!("{upper}/slaves/{}", name(lower)), lower);
        self.link(&format!("{lower}/holders/{}", name(upper)), upper);
    }

    /// Adds a member to the btrfs `label`.
    pub(super) fn btrfs(&self, label: &str, member: &str) {
        self.link(&format!("fs/btrfs/{label}/devices/{}", member.rsplit('/').next().unwrap()), member);
    }

    /// The snapshot of this machine, with lines of mountinfo.
    pub(super) fn snapshot(&self, mountinfo: &str) -> Snapshot {
        let sysfs = Sysfs::new(self.root.path());
        Snapshot {
            udev: self.path("udev"),
            mounts: mounts::mounts(mountinfo.as_bytes(), &sysfs),
            swaps: Vec::new(),
            loops: super::loops::attached(&sysfs),
            sysfs,
        }
    }
}

/// The device with this number.
pub(super) fn device(snapshot: &Snapshot, major: u32, minor: u32) -> Device {
    snapshot.sysfs.device(makedev(major, minor)).unwrap()
}

/// A server: an EFI partition, and / on LVM on a RAID 1 of the second partitions of two disks.
pub(super) fn server() -> Tree {
    let tree = Tree::new();
    let md = tree.disk("virtual/block/md0", "9:0", 1000);
    for (name, minor) in [("sda", 0), ("sdb", 16)] {
        let dir = format!("pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/{name}");
        let disk = tree.disk(&dir, &format!("8:{minor}"), 1 << 20);
        tree.write(&format!("{disk}/queue/rotational"), "1\n");
        tree.partition(&disk, &format!("{name}1"), &format!("8:{}", minor + 1), 2048);
        let second = tree.partition(&disk, &format!("{name}2"), &format!("8:{}", minor + 2), 4096);
        tree.stack(&md, &second);
    }
    for (name, minor) in [("dm-0", 0), ("dm-1", 1)] {
        let dm = tree.disk(&format!("virtual/block/{name}"), &format!("253:{minor}"), 400);
        tree.stack(&dm, &md);
    }
    tree
}

/// The mounts of the server.
pub(super) const SERVER_MOUNTS: &str = "\
21 1 253:0 / / rw,relatime shared:1 - ext4 /dev/mapper/vg-root rw
22 21 8:1 / /boot/efi rw - vfat /dev/sda1 rw
23 21 253:1 / /srv/two\\040words rw - xfs /dev/mapper/vg-srv rw
";
