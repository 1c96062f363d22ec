//! Devices for tests: the disk of a running system, a mapping on it, a card reader without a card, a loop device.
use crate::core::{Device, DevicePartition, Identity, InUse, Partition};
use std::path::PathBuf;

const MIB: u64 = 1 << 20;

fn part(name: &str, offset: u64, len: u64, content: &str, uses: Vec<InUse>) -> DevicePartition {
    let content = Some(content.to_owned());
    DevicePartition {
        partition: Partition { name: name.to_owned(), offset, len, content },
        path: PathBuf::from(format!("/dev/{name}")),
        aliases: Vec::new(),
        uses,
        undo: None,
        pending: None,
    }
}

fn mounted(device: &str, at: &str) -> InUse {
    InUse::Mounted { device: device.to_owned(), at: PathBuf::from(at) }
}

fn device(name: &str, size: u64) -> Device {
    Device {
        name: name.to_owned(),
        path: PathBuf::from(format!("/dev/{name}")),
        size,
        rotational: Some(false),
        logical_block_bytes: 512,
        physical_block_bytes: 512,
        readable: true,
        ..Device::default()
    }
}

fn identity(model: &str, serial: Option<&str>, transport: &str) -> Identity {
    let transport = Some(transport.to_owned());
    Identity { model: Some(model.to_owned()), serial: serial.map(str::to_owned), wwn: None, transport, version: None }
}

/// One device of each kind.
pub(crate) fn devices() -> Vec<Device> {
    let system = InUse::System { at: PathBuf::from("/") };
    let on_root = vec![
        system.clone(),
        mounted("dm-0", "/"),
        InUse::Held { device: "nvme0n1p2".to_owned(), by: "dm-0".to_owned() },
    ];
    let swap = InUse::Swap { device: "nvme0n1p3".to_owned() };
    let mut disk = device("nvme0n1", 1_000_204_886_016);
    disk.physical_block_bytes = 4096;
    disk.identity = identity("Samsung SSD 980 PRO 1TB", Some("S5GXNX0T123456"), "nvme");
    disk.identity.wwn = Some("eui.0025385b11b2c3d4".to_owned());
    disk.aliases =
        ["/dev/disk/by-id/nvme-Samsung_SSD_980_PRO_1TB_S5GXNX0T123456", "/dev/ng0n1"].map(PathBuf::from).into();
    disk.content = Some("GPT".to_owned());
    disk.uses = [on_root.clone(), vec![mounted("nvme0n1p1", "/boot/efi"), swap.clone()]].concat();
    disk.partitions = vec![
        part("nvme0n1p1", MIB, 512 * MIB, "vfat \"EFI\"", vec![mounted("nvme0n1p1", "/boot/efi")]),
        part("nvme0n1p2", 513 * MIB, 945_000 * MIB, "LUKS2", on_root),
        part("nvme0n1p3", 945_513 * MIB, 8192 * MIB, "swap", vec![swap]),
    ];
    let mut reader = device("sdb", 0);
    reader.identity = identity("Generic SD/MMC", None, "usb");
    reader.removable = true;
    reader.aliases = vec![PathBuf::from("/dev/sg1")];
    let mut mapping = device("dm-0", 945_000 * MIB - 16 * MIB);
    mapping.identity = identity("root_crypt", None, "dm");
    mapping.made_of = vec!["nvme0n1p2".to_owned()];
    mapping.content = Some("ext4 \"root\"".to_owned());
    mapping.uses = vec![mounted("dm-0", "/")];
    mapping.uses.insert(0, system);
    let mut image = device("loop0", 64 * MIB);
    image.made_of = vec!["/srv/images/card of the camera.img".to_owned()];
    image.identity.transport = Some("loop".to_owned());
    image.read_only = true;
    image.content = Some("MBR".to_owned());
    image.partitions = vec![part("loop0p1", 4 * MIB, 60 * MIB, "vfat \"CAMERA\"", Vec::new())];
    vec![disk, reader, mapping, image]
}
