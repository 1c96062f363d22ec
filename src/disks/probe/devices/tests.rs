use super::*;
use crate::core::InUse;
use std::collections::HashSet;
use std::os::unix::fs::symlink;
use std::process::Command;

/// The output of a command; `None`, with a message, if it is not installed or fails.
fn run(tool: &str, arguments: &[&str]) -> Option<String> {
    match Command::new(tool).args(arguments).output() {
        Ok(output) if output.status.success() => Some(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        Ok(output) => {
            eprintln!("skipped: {tool}: {}", String::from_utf8_lossy(&output.stderr).trim());
            None
        }
        Err(error) => {
            eprintln!("skipped: {tool}: {error}");
            None
        }
    }
}

/// An attached loop device, detached on drop.
struct Attached(String);

impl Attached {
    fn over(path: &str) -> Option<Attached> {
        let node = run("/usr/sbin/losetup", &["-f", "--show", path])?;
        Some(Attached(node.strip_prefix("/dev/")?.to_owned()))
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        run("/usr/sbin/losetup", &["-d", &format!("/dev/{}", self.0)]);
    }
}

/// An image with two partitions, the second one with a file system; `None`, with a message, if tools are missing.
fn partitioned_image() -> Option<tempfile::NamedTempFile> {
    let image = tempfile::NamedTempFile::new().unwrap();
    image.as_file().set_len(32 << 20).unwrap();
    let script = r#"PATH=$PATH:/usr/sbin
        printf 'label: gpt\nsize=8M\nsize=16M\n' | sfdisk -q "$0" &&
        mkfs.ext4 -q -F -L data -E offset=$((9 << 20)) "$0" 16m"#;
    run("sh", &["-c", script, image.path().to_str()?])?;
    Some(image)
}

#[test]
fn a_partitioned_loop_device_is_listed_with_its_contents() {
    let Some(image) = partitioned_image() else { return };
    let Some(disk) = Attached::over(image.path().to_str().unwrap()) else { return };
    // Not every kernel reads partition tables of loop devices itself.
    let Some(_) = run("partx", &["-u", &format!("/dev/{}", disk.0)]) else { return };
    let second = format!("{}p2", disk.0);
    let Some(holder) = Attached::over(&format!("/dev/{second}")) else { return };
    let listed = devices().unwrap().0;
    let device = listed.iter().find(|device| device.name == disk.0).expect("an attached loop device");
    assert_eq!(device.path, Path::new("/dev").join(&disk.0));
    assert_eq!((device.size, device.logical_block_bytes), (32 << 20, 512));
    assert_eq!(device.content.as_deref(), Some("GPT"));
    assert_eq!(device.made_of, [image.path().to_str().unwrap()]);
    assert!(device.readable && !device.read_only, "{device:?}");
    let parts: Vec<(u64, u64, Option<&str>)> = device
        .partitions
        .iter()
        .map(|part| (part.partition.offset, part.partition.len, part.partition.content.as_deref()))
        .collect();
    assert_eq!(parts, [(1 << 20, 8 << 20, Some("empty")), (9 << 20, 16 << 20, Some("ext4 \"data\""))]);
    let held = InUse::Held { device: second, by: holder.0.clone() };
    assert!(device.partitions[0].uses.is_empty());
    assert_eq!((&device.uses, &device.partitions[1].uses), (&vec![held.clone()], &vec![held]));
}

#[test]
fn every_device_with_capacity_is_listed_once() {
    let listed = devices().unwrap().0;
    let names: HashSet<&str> = listed.iter().map(|device| device.name.as_str()).collect();
    assert_eq!(names.len(), listed.len());
    for device in &listed {
        let exists = Path::new("/sys/block").join(device.name.replace('/', "!")).exists();
        assert!(exists || device.name.starts_with("loop"), "{}", device.name);
        assert!(device.size > 0 || device.content.is_none());
    }
    // Other tests attach and detach loop devices concurrently.
    let in_sysfs = sysfs::names_in(Path::new("/sys/block")).into_iter().filter(|name| !name.starts_with("loop"));
    for name in in_sysfs {
        let bytes = fs::read_to_string(format!("/sys/block/{name}/size")).unwrap();
        assert!(bytes.trim() == "0" || names.contains(name.replace('!', "/").as_str()), "{name}");
    }
}

#[test]
fn devices_are_in_natural_order() {
    let mut names = ["nvme10n1", "sdaa", "sdb", "nvme2n1", "sda", "sda10", "sda9"];
    names.sort_by_key(|name| pieces(name));
    assert_eq!(names, ["sda", "sda9", "sda10", "sdb", "nvme2n1", "nvme10n1", "sdaa"]);
}

/// A simulated /sys with one disk `sda` of `size` sectors and additional files.
fn tree(disk: &str, files: &[(&str, &str)]) -> (tempfile::TempDir, Snapshot) {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("devices").join(disk);
    for (name, text) in files {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::create_dir_all(root.path().join("block")).unwrap();
    symlink(&dir, root.path().join("block").join(disk)).unwrap();
    let sysfs = sysfs::Sysfs::new(root.path());
    let udev = root.path().join("udev");
    let snapshot = Snapshot { sysfs, udev, mounts: Vec::new(), swaps: Vec::new(), loops: Vec::new() };
    (root, snapshot)
}

fn listed_in(disk: &str, files: &[(&str, &str)]) -> Vec<Device> {
    let (root, snapshot) = tree(disk, files);
    listed(&snapshot, &Aliases::gather(&root.path().join("dev")))
}

#[test]
fn a_card_reader_without_a_medium_is_listed_and_a_device_without_capacity_is_not() {
    let reader = [("dev", "8:160\n"), ("size", "0\n"), ("removable", "1\n"), ("device/model", "SD Reader\n")];
    let found = listed_in("sdk", &reader);
    assert_eq!((found[0].size, found[0].removable, &found[0].content), (0, true, &None));
    assert!(listed_in("ram0", &[("dev", "1:0\n"), ("size", "0\n")]).is_empty());
    assert!(listed_in("nbd0", &[("dev", "43:0\n"), ("size", "0\n")]).is_empty());
    assert_eq!(listed_in("zram0", &[("dev", "252:0\n"), ("size", "8\n")]).len(), 1);
    assert!(listed_in("loop7", &[("dev", "7:7\n"), ("size", "8\n")]).is_empty());
}

#[test]
fn removable_disks_are_recognized_by_bus_or_medium() {
    let listed = |name: &str, more: &[(&str, &str)]| {
        let files = [&[("dev", "8:160\n"), ("size", "8\n"), ("diskseq", "7\n")], more].concat();
        listed_in(name, &files).remove(0)
    };
    assert!(listed("sdk", &[("removable", "1\n")]).hotplug);
    assert!(!listed("sdk", &[("removable", "0\n")]).hotplug);
    assert!(listed("mmcblk7", &[("device/type", "SD\n")]).hotplug);
    assert!(!listed("mmcblk7", &[("device/type", "MMC\n")]).hotplug, "an eMMC is soldered");
    assert_eq!(listed("sdk", &[]).disk_sequence, Some(7));
    let disk = |transport: &str| is_hotplug(&sysfs_disk("sdk"), Some(transport));
    assert!(disk("usb") && !disk("sata") && !disk("nvme"));
}

fn sysfs_disk(name: &str) -> Block {
    Block { dir: PathBuf::new(), name: name.to_owned(), number: 0 }
}

#[test]
fn the_other_nodes_of_a_disk_are_among_its_names() {
    let disk = [
        ("dev", "8:160\n"),
        ("size", "8\n"),
        ("device/scsi_generic/sg3/dev", "21:3\n"),
        ("device/bsg/2:0:0:0/dev", "246:0\n"),
    ];
    let (root, snapshot) = tree("sdk", &disk);
    let found = listed(&snapshot, &Aliases::gather(Path::new("/dev/no such directory")));
    let names: Vec<&str> = found[0].aliases.iter().filter_map(|path| path.to_str()).collect();
    assert_eq!(names, ["/dev/no such directory/sg3", "/dev/no such directory/bsg/2:0:0:0"]);

    let (root_of_nvme, snapshot) = tree("nvme1n2", &[("dev", "259:900\n"), ("size", "8\n")]);
    fs::create_dir_all(root_of_nvme.path().join("class/nvme-generic/ng1n2")).unwrap();
    let found = listed(&snapshot, &Aliases::gather(Path::new("/dev/none")));
    assert_eq!(found[0].aliases, [Path::new("/dev/none/ng1n2")]);
    drop(root);
}

#[test]
fn links_that_lead_to_a_device_are_found() {
    let Some(disk) = Snapshot::take().sysfs.disks().into_iter().find(|disk| Path::new(&disk.node()).exists()) else {
        eprintln!("skipped: no block device has a node here");
        return;
    };
    let dev = tempfile::tempdir().unwrap();
    let by_id = dev.path().join("disk/by-id");
    fs::create_dir_all(&by_id).unwrap();
    symlink(disk.node(), by_id.join("ata-DISK_1")).unwrap();
    symlink("/dev/null", by_id.join("no-disk")).unwrap();
    symlink("nowhere", by_id.join("broken")).unwrap();
    assert_eq!(Aliases::gather(dev.path()).of(disk.number), [by_id.join("ata-DISK_1")]);
}
