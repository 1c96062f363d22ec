//! Nodes for passthrough commands: finds the node of a block device and vice versa.
use super::snapshot::Snapshot;
use super::sysfs::{Device, Sysfs, names_in, text};
use crate::core::{CommandSet, Passthrough};
use crate::sys;
use rustix::fs::makedev;
use std::path::{Path, PathBuf};

/// The node of the disk that is or contains `device`; `None` if there is none, or its driver is not loaded.
pub(super) fn of_device(snapshot: &Snapshot, device: &Device) -> Option<Passthrough> {
    let disk = device.disk();
    let whole = disk.as_ref().unwrap_or(device);
    let (commands, dir) = directory(&snapshot.sysfs, whole)?;
    let name = dir.file_name()?.to_string_lossy().into_owned();
    Some(Passthrough {
        commands,
        node: Path::new("/dev").join(name),
        number: number(&dir)?,
        named: false,
        start: device.start(),
        block: Some(PathBuf::from(device.node())),
    })
}

/// The directory in sysfs of the node of a whole disk.
pub(super) fn directory(sysfs: &Sysfs, disk: &Device) -> Option<(CommandSet, PathBuf)> {
    let generic = disk.dir.join("device/scsi_generic");
    if let Some(name) = names_in(&generic).first() {
        return Some((CommandSet::Scsi, generic.join(name)));
    }
    let number = disk.name.strip_prefix("nvme")?;
    let namespace = || sysfs.path("class/nvme-generic").join(format!("ng{number}"));
    let namespace = of_same_namespace(&disk.dir, "ng").unwrap_or_else(namespace);
    namespace.exists().then_some((CommandSet::Nvme, namespace))
}

/// The device with this prefix beside that of an NVMe namespace: `ng3n2` beside `nvme0n2`. The first number is that of
/// the controller or that of the subsystem, which differ for a drive that came back while its old device was open.
pub(super) fn of_same_namespace(dir: &Path, prefix: &str) -> Option<PathBuf> {
    let namespace = |name: &str| name.rsplit_once('n').map(|(_, number)| number.to_owned());
    let own = namespace(dir.file_name()?.to_str()?)?;
    let parent = dir.parent()?;
    let is_it = |name: &String| {
        let numbers = name.strip_prefix(prefix).filter(|numbers| numbers.starts_with(|c: char| c.is_ascii_digit()));
        // `nvme0c1n1` is one path of several to the namespace.
        numbers.is_some_and(|numbers| !numbers.contains('c') && namespace(numbers).as_ref() == Some(&own))
    };
    names_in(parent).into_iter().find(is_it).map(|name| parent.join(name))
}

/// The node with this number, with the path `path`, and its block device; `None` for any other character device.
pub(super) fn of_node(sysfs: &Sysfs, path: &Path, node: (u32, u32)) -> Option<(Passthrough, Option<Device>)> {
    let dir = sys::resolved(&sysfs.path(&format!("dev/char/{}:{}", node.0, node.1))).ok()?;
    let subsystem = sys::resolved(&dir.join("subsystem")).ok()?;
    let (commands, device) = match subsystem.file_name()?.to_str()? {
        "scsi_generic" => {
            let block = dir.join("device/block");
            (CommandSet::Scsi, names_in(&block).first().and_then(|name| Device::at(&block.join(name))))
        }
        "nvme-generic" => {
            let name = dir.file_name()?.to_string_lossy().into_owned();
            let block = sysfs.path("class/block").join(format!("nvme{}", name.strip_prefix("ng")?));
            (CommandSet::Nvme, Device::at(&of_same_namespace(&dir, "nvme").unwrap_or(block)))
        }
        _ => return None,
    };
    let node = Passthrough {
        commands,
        node: path.to_owned(),
        number: makedev(node.0, node.1),
        named: true,
        start: 0,
        block: device.as_ref().map(|device| PathBuf::from(device.node())),
    };
    Some((node, device))
}

fn number(dir: &Path) -> Option<u64> {
    let text = text(dir, "dev")?;
    let (major, minor) = text.trim().split_once(':')?;
    Some(makedev(major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::super::tree::Tree;
    use super::*;

    #[test]
    fn a_partition_is_reached_by_the_node_of_its_disk_at_its_offset() {
        let tree = Tree::new();
        let disk = tree.disk("pci/host2/2:0:0:0/block/sdk", "8:160", 9000);
        let part = tree.partition(&disk, "sdk1", "8:161", 2048);
        tree.link(&format!("{disk}/device"), "devices/pci/host2/2:0:0:0");
        tree.write("devices/pci/host2/2:0:0:0/scsi_generic/sg3/dev", "21:3\n");
        let snapshot = tree.snapshot("");
        let of = |number| of_device(&snapshot, &snapshot.sysfs.device(number).unwrap()).unwrap();
        let node = of(makedev(8, 161));
        assert_eq!((node.commands, node.number, node.start), (CommandSet::Scsi, makedev(21, 3), 2048 * 512), "{part}");
        assert_eq!((node.node.to_str(), node.named), (Some("/dev/sg3"), false));
        assert_eq!(node.block.as_deref(), Some(Path::new("/dev/sdk1")));
        assert_eq!(of(makedev(8, 160)).start, 0);
    }

    #[test]
    fn the_block_device_behind_a_node_is_found() {
        let tree = Tree::new();
        let disk = tree.disk("pci/host2/2:0:0:0/block/sdk", "8:160", 9000);
        let generic = "devices/pci/host2/2:0:0:0/scsi_generic/sg3";
        tree.write(&format!("{generic}/dev"), "21:3\n");
        tree.link(&format!("{generic}/device"), "devices/pci/host2/2:0:0:0");
        tree.write("class/scsi_generic/nothing", "");
        tree.link(&format!("{generic}/subsystem"), "class/scsi_generic");
        tree.link("dev/char/21:3", generic);
        let found = of_node(&tree.snapshot("").sysfs, Path::new("/dev/by-name"), (21, 3)).unwrap();
        assert_eq!(found.1.unwrap().name, "sdk", "{disk}");
        assert!(found.0.named && found.0.node == Path::new("/dev/by-name"));
        assert_eq!(of_node(&tree.snapshot("").sysfs, Path::new("/dev/x"), (1, 3)), None);
    }

    #[test]
    fn a_namespace_has_the_generic_node_of_its_number_if_present() {
        let tree = Tree::new();
        tree.disk("pci/nvme/nvme1/nvme1n2", "259:9", 9000);
        let snapshot = tree.snapshot("");
        let device = snapshot.sysfs.device(makedev(259, 9)).unwrap();
        assert_eq!(of_device(&snapshot, &device), None);
        tree.write("class/nvme-generic/ng1n2/dev", "241:5\n");
        let node = of_device(&snapshot, &device).unwrap();
        assert_eq!((node.commands, node.number), (CommandSet::Nvme, makedev(241, 5)));
        assert_eq!(node.node, Path::new("/dev/ng1n2"));
    }

    #[test]
    fn a_drive_that_came_back_has_the_node_beside_it_under_any_number() {
        let tree = Tree::new();
        let disk = tree.disk("pci/nvme/nvme3/nvme0n2", "259:9", 9000);
        tree.write("class/nvme-generic/ng0n2/dev", "241:1\n");
        for (name, numbers) in [("ng3n1", "241:6"), ("ng3n2", "241:7"), ("nvme0c3n2", "259:8")] {
            tree.write(&format!("devices/pci/nvme/nvme3/{name}/dev"), format!("{numbers}\n"));
        }
        let snapshot = tree.snapshot("");
        let node = of_device(&snapshot, &snapshot.sysfs.device(makedev(259, 9)).unwrap()).unwrap();
        assert_eq!((node.number, node.node.as_path()), (makedev(241, 7), Path::new("/dev/ng3n2")), "{disk}");
        tree.link("devices/pci/nvme/nvme3/ng3n2/subsystem", "class/nvme-generic");
        tree.link("dev/char/241:7", "devices/pci/nvme/nvme3/ng3n2");
        let found = of_node(&snapshot.sysfs, Path::new("/dev/ng3n2"), (241, 7)).unwrap();
        assert_eq!(found.1.unwrap().name, "nvme0n2");
    }
}
