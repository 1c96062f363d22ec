//! How long the kernel waits for a disk, and by which node its commands can be given limits of their own.
use super::passthrough;
use super::sysfs::{Device, Sysfs, text};
use crate::core::{CommandSet, Facts, FileId};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A disk, or the disk of a partition, as the kernel reaches it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskAccess {
    /// Its block device.
    pub block: PathBuf,
    /// How long the kernel waits for a request; `None` if unknown.
    pub timeout: Option<Duration>,
    /// The node for commands, if there is one.
    pub node: Option<(CommandSet, PathBuf)>,
}

/// How the kernel reaches the disk of this side; `None` if it is none, or one stacked on others.
pub fn disk_access(facts: &Facts) -> Option<DiskAccess> {
    of(&Sysfs::new("/sys"), facts)
}

fn of(sysfs: &Sysfs, facts: &Facts) -> Option<DiskAccess> {
    let block = facts.passthrough.as_ref().and_then(|through| through.block.as_deref());
    let device = match (block, facts.id) {
        (Some(block), _) => Device::at(&sysfs.path("class/block").join(block.file_name()?))?,
        (None, Some(FileId::Device(number))) => sysfs.device(number)?,
        (None, _) => return None,
    };
    let disk = device.disk().unwrap_or(device);
    let node = passthrough::directory(sysfs, &disk);
    let node = node.and_then(|(commands, dir)| Some((commands, Path::new("/dev").join(dir.file_name()?))));
    Some(DiskAccess { block: PathBuf::from(disk.node()), timeout: timeout(&disk), node })
}

fn timeout(disk: &Device) -> Option<Duration> {
    let number = |name: &str| text(&disk.dir, name)?.trim().parse::<u64>().ok();
    // Seconds, of SCSI disks; milliseconds, of all since 5.1.
    number("device/timeout").map(Duration::from_secs).or_else(|| number("queue/io_timeout").map(Duration::from_millis))
}

#[cfg(test)]
mod tests {
    use super::super::tree::Tree;
    use super::*;
    use crate::core::EndpointKind;
    use rustix::fs::makedev;

    #[test]
    fn the_disk_of_a_partition_has_a_timeout_and_a_node() {
        let tree = Tree::new();
        let disk = tree.disk("pci/host2/2:0:0:0/block/sdk", "8:160", 9000);
        tree.partition(&disk, "sdk1", "8:161", 2048);
        tree.link(&format!("{disk}/device"), "devices/pci/host2/2:0:0:0");
        tree.write("devices/pci/host2/2:0:0:0/timeout", "30\n");
        tree.write("devices/pci/host2/2:0:0:0/scsi_generic/sg3/dev", "21:3\n");
        let sysfs = tree.snapshot("").sysfs;
        let facts = Facts { id: Some(FileId::Device(makedev(8, 161))), ..Facts::new("x", EndpointKind::Block) };
        let expected = DiskAccess {
            block: "/dev/sdk".into(),
            timeout: Some(Duration::from_secs(30)),
            node: Some((CommandSet::Scsi, "/dev/sg3".into())),
        };
        assert_eq!(of(&sysfs, &facts), Some(expected));
    }

    #[test]
    fn a_disk_without_a_driver_for_commands_has_the_timeout_of_its_queue() {
        let tree = Tree::new();
        let disk = tree.disk("virtual/block/vda", "254:0", 9000);
        tree.write(&format!("{disk}/queue/io_timeout"), "60000\n");
        let facts = Facts { id: Some(FileId::Device(makedev(254, 0))), ..Facts::new("x", EndpointKind::Block) };
        let access = of(&tree.snapshot("").sysfs, &facts).unwrap();
        assert_eq!((access.timeout, access.node), (Some(Duration::from_secs(60)), None));
        let file = Facts { id: Some(FileId::File(1, 2)), ..Facts::new("x", EndpointKind::File) };
        assert_eq!(of(&tree.snapshot("").sysfs, &file), None);
    }
}
