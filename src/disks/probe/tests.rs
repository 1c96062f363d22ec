//! Tests on simulated machines, and on names that need no permissions.
use super::mounts;
use super::sysfs::Sysfs;
use super::tree::{SERVER_MOUNTS, Tree, device, server};
use super::{ground, identity, in_use};
use crate::core::{FileId, Identity, InUse};
use rustix::fs::makedev;
use std::path::{Path, PathBuf};

fn mounted(device: &str, at: &str) -> InUse {
    InUse::Mounted { device: device.to_owned(), at: at.into() }
}

fn held(device: &str, by: &str) -> InUse {
    InUse::Held { device: device.to_owned(), by: by.to_owned() }
}

fn system(at: &str) -> InUse {
    InUse::System { at: at.into() }
}

#[test]
fn a_logical_volume_lies_on_the_raid_its_partitions_and_their_disks() {
    let tree = server();
    let snapshot = tree.snapshot(SERVER_MOUNTS);
    let levels = ground::of_device(&snapshot, &device(&snapshot, 253, 1));
    let reported: Vec<_> = levels.iter().map(|level| (level.name.as_str(), level.offset, level.rotational)).collect();
    let expected = [
        ("/dev/dm-1", Some(0), None),
        ("/dev/md0", None, None),
        ("/dev/sda2", None, Some(true)),
        ("/dev/sda", None, Some(true)),
        ("/dev/sdb2", None, Some(true)),
        ("/dev/sdb", None, Some(true)),
    ];
    assert_eq!(reported, expected);
}

#[test]
fn a_partition_lies_on_its_disk_at_its_start_in_bytes() {
    let tree = server();
    let snapshot = tree.snapshot("");
    let levels = ground::of_device(&snapshot, &device(&snapshot, 8, 18));
    assert_eq!((levels[1].name.as_str(), levels[1].offset), ("/dev/sdb", Some(4096 * 512)));
}

#[test]
fn a_volatile_cache_that_the_kernel_does_not_flush_is_memory() {
    let memory = |kernel: &str, driver: &str, attribute: &str| {
        let tree = server();
        let disk = "devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sdb";
        tree.write(&format!("{disk}/queue/write_cache"), kernel);
        tree.write(&format!("{disk}/{attribute}"), driver);
        let snapshot = tree.snapshot("");
        // The partition, and the volume above it.
        let of = |number: (u32, u32)| {
            let levels = ground::of_device(&snapshot, &device(&snapshot, number.0, number.1));
            ground::memory(&snapshot, &levels, None)
        };
        let [part, volume] = [of((8, 18)), of((253, 1))];
        assert_eq!(part, volume);
        part
    };
    let [scsi, virtio] = ["device/scsi_disk/0:0:0:0/cache_type", "cache_type"];
    for attribute in [scsi, virtio] {
        let what = memory("write through\n", "write back\n", attribute).unwrap();
        assert!(what.starts_with("/dev/sdb, whose volatile write cache"), "{what}");
    }
    for (kernel, driver) in
        [("write back\n", "write back\n"), ("write through\n", "write through\n"), ("write through\n", "none\n")]
    {
        assert_eq!(memory(kernel, driver, scsi), None, "{kernel}{driver}");
    }
}

#[test]
fn uses_of_a_system_disk_are_sorted_by_severity_and_from_top_to_bottom() {
    let tree = server();
    let snapshot = tree.snapshot(SERVER_MOUNTS);
    let expected = [
        system("/"),
        mounted("dm-0", "/"),
        mounted("dm-1", "/srv/two words"),
        held("md0", "dm-1"),
        held("md0", "dm-0"),
        held("sdb2", "md0"),
    ];
    assert_eq!(in_use::of_device(&snapshot, &device(&snapshot, 8, 16)), expected);
    let first = in_use::of_device(&snapshot, &device(&snapshot, 8, 0));
    assert_eq!(first[..2], [system("/"), system("/boot/efi")]);
    assert!(first.contains(&mounted("sda1", "/boot/efi")));
}

#[test]
fn a_neighbour_on_the_same_disk_or_volume_group_is_not_a_use() {
    let tree = server();
    let snapshot = tree.snapshot(SERVER_MOUNTS);
    assert_eq!(in_use::of_device(&snapshot, &device(&snapshot, 8, 17)), []);
    let without = tree.snapshot("21 1 253:0 / / rw - ext4 /dev/mapper/vg-root rw\n");
    assert_eq!(in_use::of_device(&without, &device(&without, 253, 1)), []);
}

#[test]
fn a_disk_mounted_as_a_whole_blocks_its_partitions() {
    let tree = server();
    let snapshot = tree.snapshot("5 1 8:16 / / rw - ext4 /dev/sdb rw\n");
    let users = in_use::of_device(&snapshot, &device(&snapshot, 8, 17));
    assert_eq!(users, [system("/"), mounted("sdb", "/")]);
}

#[test]
fn a_disk_held_as_a_whole_blocks_its_partitions() {
    let tree = server();
    let md = tree.disk("virtual/block/md1", "9:1", 1000);
    tree.stack(&md, "devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sdb");
    let snapshot = tree.snapshot("");
    assert_eq!(in_use::of_device(&snapshot, &device(&snapshot, 8, 17)), [held("sdb", "md1")]);
}

#[test]
fn swap_space_blocks_its_device_the_disk_and_a_loop_device_over_its_file() {
    let tree = server();
    let file = tempfile::NamedTempFile::new().unwrap();
    let dir = tree.disk("virtual/block/loop9999", "7:9999", 100);
    tree.write(&format!("{dir}/loop/backing_file"), format!("{}\n", file.path().display()));
    let mut snapshot = tree.snapshot("");
    let ids = [FileId::Device(makedev(8, 17)), super::loops::id_of(file.path()).unwrap()];
    snapshot.swaps.extend(ids.map(|id| mounts::Swap { path: "/x".into(), id }));
    let swap = |device: &str| InUse::Swap { device: device.to_owned() };
    assert_eq!(in_use::of_device(&snapshot, &device(&snapshot, 8, 17)), [swap("sdb1")]);
    assert!(in_use::of_device(&snapshot, &device(&snapshot, 8, 16)).contains(&swap("sdb1")));
    let users = in_use::of_device(&snapshot, &device(&snapshot, 7, 9999));
    assert_eq!(users, [swap(file.path().to_str().unwrap())]);
}

#[test]
fn a_hidden_mount_is_not_used_for_a_path() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap();
    let mut snapshot = super::Snapshot::take();
    let known = snapshot.mount_of(&path).cloned().unwrap();
    snapshot.mounts.push(mounts::Mount { id: u64::MAX, at: path.clone(), ..known.clone() });
    assert_eq!(snapshot.mount_of(&path), Some(&known));
}

#[test]
fn every_member_of_a_mounted_btrfs_is_in_use_though_mountinfo_names_one() {
    let tree = server();
    // The source of the mount must exist outside the tree, because a member is found by its device node.
    let Ok(stat) = rustix::fs::stat("/dev/loop0") else { return eprintln!("SKIPPED: no /dev/loop0") };
    let numbers = (rustix::fs::major(stat.st_rdev), rustix::fs::minor(stat.st_rdev));
    let member = tree.device("virtual/block/loop0", &format!("{}:{}", numbers.0, numbers.1), 100);
    tree.btrfs("a-uuid", &member);
    tree.btrfs("a-uuid", "devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sdb/sdb1");
    let snapshot = tree.snapshot("5 1 0:40 /sub /data rw - btrfs /dev/loop0 rw\n");
    assert_eq!(in_use::of_device(&snapshot, &device(&snapshot, 8, 17)), [mounted("sdb1", "/data")]);
}

#[test]
fn a_loop_device_found_by_path_counts_as_holder() {
    let tree = server();
    let file = tempfile::NamedTempFile::new().unwrap();
    let dir = tree.disk("virtual/block/loop9999", "7:9999", 100);
    tree.write(&format!("{dir}/loop/backing_file"), format!("{}\n", file.path().display()));
    tree.write(&format!("{dir}/loop/offset"), "512\n");
    let snapshot = tree.snapshot("");
    let id = super::loops::id_of(file.path()).unwrap();
    let name = file.path().to_str().unwrap();
    assert_eq!(in_use::of_file(&snapshot, id, file.path()), [held(name, "loop9999")]);
    let levels = ground::of_device(&snapshot, &device(&snapshot, 7, 9999));
    assert_eq!((levels[1].id, levels[1].offset), (id, Some(512)));
}

fn reported(tree: &Tree, major: u32, minor: u32) -> Identity {
    let snapshot = tree.snapshot("");
    identity::identity(&snapshot, &device(&snapshot, major, minor))
}

fn who(model: &str, serial: &str, wwn: &str, transport: &str) -> Identity {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Identity { model: some(model), serial: some(serial), wwn: some(wwn), transport: some(transport), version: None }
}

#[test]
fn a_sata_disk_and_its_partitions_have_the_serial_of_its_vpd_page() {
    let tree = server();
    let at = "devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda/device";
    tree.write(&format!("{at}/vendor"), "ATA     \n");
    tree.write(&format!("{at}/model"), "Samsung SSD 860 \n");
    tree.write(&format!("{at}/wwid"), "naa.5002538e40000000\n");
    tree.write(&format!("{at}/vpd_pg80"), b"\0\x80\0\x14      S3Z9NB0K123\0\0");
    let expected = who("Samsung SSD 860", "S3Z9NB0K123", "naa.5002538e40000000", "sata");
    assert_eq!(reported(&tree, 8, 0), expected);
    assert_eq!(reported(&tree, 8, 1), expected);
}

#[test]
fn a_stick_is_identified_by_usb_serial_number_and_vendor() {
    let tree = Tree::new();
    let usb = "pci0000:00/usb2/2-1";
    tree.write(&format!("devices/{usb}/idVendor"), "0781\n");
    tree.write(&format!("devices/{usb}/serial"), "4C530001\n");
    let disk = tree.disk(&format!("{usb}/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sdc"), "8:32", 100);
    tree.write(&format!("{disk}/device/vendor"), "SanDisk \n");
    tree.write(&format!("{disk}/device/model"), "Ultra           \n");
    assert_eq!(reported(&tree, 8, 32), who("SanDisk Ultra", "4C530001", "", "usb"));
}

#[test]
fn identities_of_nvme_virtio_and_dm_devices_are_found() {
    let tree = Tree::new();
    let nvme = tree.disk("pci0000:00/nvme/nvme0/nvme0n1", "259:0", 100);
    tree.write(&format!("{nvme}/device/model"), "KXG60ZNV   \n");
    tree.write(&format!("{nvme}/device/serial"), "  60SA10X\n");
    tree.write(&format!("{nvme}/wwid"), "eui.8ce38e05\n");
    let virtio = tree.disk("pci0000:00/virtio1/block/vda", "254:0", 100);
    tree.write(&format!("{virtio}/serial"), "disk-1\n");
    tree.write(&format!("{virtio}/device/vendor"), "0x1af4\n");
    let dm = tree.disk("virtual/block/dm-0", "253:0", 100);
    tree.write(&format!("{dm}/dm/name"), "vg-root\n");
    tree.write(&format!("{dm}/dm/uuid"), "LVM-abc\n");
    assert_eq!(reported(&tree, 259, 0), who("KXG60ZNV", "60SA10X", "eui.8ce38e05", "nvme"));
    assert_eq!(reported(&tree, 254, 0), who("", "disk-1", "", "virtio"));
    assert_eq!(reported(&tree, 253, 0), who("vg-root", "", "LVM-abc", "dm"));
}

#[test]
fn udev_supplies_what_sysfs_lacks() {
    let tree = server();
    tree.write("udev/b8:0", "S:disk/by-id/x\nE:ID_MODEL_ENC=A\\x20B_C\\x20\\x20\nE:ID_SERIAL_SHORT=77\nE:ID_WWN=0x5\n");
    assert_eq!(reported(&tree, 8, 0), who("A B_C", "77", "0x5", "sata"));
}

#[test]
fn partitions_of_a_read_only_disk_are_read_only_with_sizes_in_bytes() {
    let tree = server();
    tree.write("devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sdb/ro", "1\n");
    let snapshot = tree.snapshot("");
    assert!(device(&snapshot, 8, 17).read_only() && !device(&snapshot, 8, 1).read_only());
    let parts = identity::partitions(&device(&snapshot, 8, 16));
    let parts: Vec<_> = parts.iter().map(|part| (part.name.as_str(), part.offset, part.len)).collect();
    assert_eq!(parts, [("sdb1", 2048 * 512, 512_000), ("sdb2", 4096 * 512, 512_000)]);
}

#[test]
fn mountinfo_has_escapes_and_any_number_of_fields_before_the_dash() {
    let text = b"36 35 98:7 /r /a\\040b\\134c\\x rw,noatime master:1 shared:2 unbindable - fuse.ssh-fs me@host:/ rw\n\
                 37 1 0:3 / /n rw - nfs4 host:/x rw\nnonsense\n\n38 1 0:x / / rw - ext4 a b\n";
    let mounts = mounts::mounts(text, &Sysfs::new("/nowhere"));
    assert_eq!(mounts.len(), 2, "{mounts:?}");
    assert_eq!((mounts[0].id, mounts[0].number), (36, makedev(98, 7)));
    assert_eq!((mounts[0].at.as_path(), mounts[0].filesystem.as_str()), (Path::new("/a b\\c\\x"), "fuse.ssh-fs"));
    assert_eq!((mounts[1].source.as_path(), mounts[1].devices.len()), (Path::new("host:/x"), 0));
}

#[test]
fn swap_files_with_blanks_are_found_and_deleted_ones_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a swap");
    std::fs::write(&path, b"x").unwrap();
    let escaped = path.to_str().unwrap().replace(' ', "\\040");
    let text = format!("Filename\tType\tSize\n{escaped}   file\t1\t0\t-2\n/nowhere\\040(deleted) file 1\n");
    let swaps = mounts::swaps(text.as_bytes());
    let expected: (PathBuf, FileId) = (path.clone(), super::loops::id_of(&path).unwrap());
    assert_eq!(swaps.into_iter().map(|swap| (swap.path, swap.id)).collect::<Vec<_>>(), [expected]);
}
