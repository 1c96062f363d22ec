//! Finds a disk that has disappeared and come back, maybe under another name.
use super::identity::identity;
use super::snapshot::Snapshot;
use super::sysfs::{Device, Sysfs};
use crate::core::{EndpointKind, Facts, FileId, Identity};

/// What identifies a disk, or a partition of one, after it was removed.
#[derive(Clone, Debug)]
pub struct KnownDisk {
    identity: Identity,
    size: u64,
    logical_block_bytes: u32,
    /// Offset on its disk if it is a partition.
    start: Option<u64>,
}

impl KnownDisk {
    /// The disk of this side; `None` if nothing identifies it: it has neither a serial number nor a WWN.
    pub fn of(facts: &Facts) -> Option<Self> {
        KnownDisk::at(&Sysfs::new("/sys"), facts)
    }

    fn at(sysfs: &Sysfs, facts: &Facts) -> Option<Self> {
        let identity = facts.identity.clone();
        let is_known = facts.kind == EndpointKind::Block && (identity.serial.is_some() || identity.wwn.is_some());
        let part = match facts.id {
            Some(FileId::Device(number)) => sysfs.device(number).filter(|device| device.disk().is_some()),
            _ => None,
        };
        let start = part.map(|part| part.start());
        let (size, logical_block_bytes) = (facts.size?, facts.logical_block_bytes);
        is_known.then_some(KnownDisk { identity, size, logical_block_bytes, start })
    }

    /// What it is called by: its serial number, or its WWN.
    pub fn name(&self) -> String {
        let Identity { serial, wwn, .. } = &self.identity;
        match (serial, wwn) {
            (Some(serial), _) => format!("serial number {serial}"),
            (None, wwn) => format!("WWN {}", wwn.as_deref().unwrap_or_default()),
        }
    }

    /// Whether these facts are of the same disk, with the same size.
    pub fn is(&self, facts: &Facts) -> bool {
        self.has(&facts.identity)
            && facts.size == Some(self.size)
            && facts.logical_block_bytes == self.logical_block_bytes
    }

    /// Whether everything that identified it is the same.
    fn has(&self, identity: &Identity) -> bool {
        let same = |then: &Option<String>, now: &Option<String>| then.is_none() || then == now;
        let Identity { serial, wwn, model, .. } = &self.identity;
        same(serial, &identity.serial) && same(wwn, &identity.wwn) && same(model, &identity.model)
    }

    /// The nodes of block devices that identify themselves in this way now. No device is opened.
    pub fn nodes(&self) -> Vec<String> {
        self.nodes_in(&Snapshot::take())
    }

    fn nodes_in(&self, snapshot: &Snapshot) -> Vec<String> {
        let disks = snapshot.sysfs.disks().into_iter().filter(|disk| self.has(&identity(snapshot, disk)));
        let of_disk = |disk: Device| match self.start {
            None => Some(disk),
            Some(start) => disk.partitions().into_iter().find(|part| part.start() == start && part.len() == self.size),
        };
        disks.filter_map(of_disk).map(|device| device.node()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::Tree;
    use super::*;
    use rustix::fs::makedev;

    const SECTOR: u64 = 512;

    fn disk(tree: &Tree, name: &str, numbers: &str, serial: &str) -> String {
        let dir = tree.disk(&format!("pci/{name}/block/{name}"), numbers, 9000);
        tree.write(&format!("{dir}/device/serial"), serial);
        dir
    }

    fn facts(minor: u32, sectors: u64, serial: Option<&str>) -> Facts {
        let identity = Identity { serial: serial.map(str::to_owned), ..Identity::default() };
        let (id, size) = (Some(FileId::Device(makedev(8, minor))), Some(sectors * SECTOR));
        Facts { id, size, identity, logical_block_bytes: 512, ..Facts::new("/dev/sdb", EndpointKind::Block) }
    }

    #[test]
    fn a_disk_that_came_back_under_another_name_is_found_by_its_serial_number() {
        let tree = Tree::new();
        disk(&tree, "sdb", "8:16", "S1");
        let known = KnownDisk::at(&tree.snapshot("").sysfs, &facts(16, 9000, Some("S1"))).unwrap();
        // Another disk has its name now.
        let later = Tree::new();
        disk(&later, "sdb", "8:16", "S2");
        assert!(known.nodes_in(&later.snapshot("")).is_empty());
        disk(&later, "sdf", "8:80", "S1");
        assert_eq!(known.nodes_in(&later.snapshot("")), ["/dev/sdf"]);
        assert!(known.is(&facts(80, 9000, Some("S1"))));
        assert!(!known.is(&facts(16, 9000, Some("S2"))), "another disk");
        assert!(!known.is(&facts(80, 8000, Some("S1"))), "another size");
        assert!(!known.is(&facts(80, 9000, None)));
        // Bridges of one kind may all report the same serial number.
        let model = |facts: Facts, model: &str| Facts {
            identity: Identity { model: Some(model.to_owned()), ..facts.identity.clone() },
            ..facts
        };
        let known = KnownDisk::at(&tree.snapshot("").sysfs, &model(facts(16, 9000, Some("S1")), "one")).unwrap();
        assert!(known.is(&model(facts(16, 9000, Some("S1")), "one")));
        assert!(!known.is(&model(facts(16, 9000, Some("S1")), "other")));
    }

    #[test]
    fn a_partition_is_found_at_its_offset() {
        let tree = Tree::new();
        let dir = disk(&tree, "sdb", "8:16", "S1");
        tree.partition(&dir, "sdb1", "8:17", 2048);
        let known = KnownDisk::at(&tree.snapshot("").sysfs, &facts(17, 1000, Some("S1"))).unwrap();
        let later = Tree::new();
        let dir = disk(&later, "sdf", "8:80", "S1");
        assert!(known.nodes_in(&later.snapshot("")).is_empty());
        later.partition(&dir, "sdf1", "8:81", 4096);
        later.partition(&dir, "sdf2", "8:82", 2048);
        assert_eq!(known.nodes_in(&later.snapshot("")), ["/dev/sdf2"]);
    }

    #[test]
    fn a_disk_without_serial_number_and_wwn_cannot_be_recognized() {
        let tree = Tree::new();
        let sysfs = tree.snapshot("").sysfs;
        assert!(KnownDisk::at(&sysfs, &facts(16, 9000, None)).is_none());
        let file = Facts { kind: EndpointKind::File, ..facts(16, 9000, Some("S1")) };
        assert!(KnownDisk::at(&sysfs, &file).is_none());
    }
}
