//! The identity of a device: model, serial number, world wide name, and transport.
use super::snapshot::Snapshot;
use super::sysfs::{Device, text};
use crate::core::{Identity, Partition};
use rustix::fs::{major, minor};
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// The identity of a device; for a partition, that of its disk. Values missing in sysfs come from udev.
pub(super) fn identity(snapshot: &Snapshot, device: &Device) -> Identity {
    let disk = device.disk().unwrap_or_else(|| device.clone());
    let udev = udev_properties(&snapshot.udev, disk.number);
    let messages = |names: &[&str]| names.iter().find_map(|name| tidied(udev.get(*name)?));
    let transport = transport(&disk);
    Identity {
        model: model(&disk, transport.as_deref())
            .or_else(|| tidied(&unescaped(udev.get("ID_MODEL_ENC")?)))
            .or_else(|| messages(&["ID_MODEL"])),
        serial: serial(&disk).or_else(|| messages(&["ID_SCSI_SERIAL", "ID_SERIAL_SHORT"])),
        wwn: attribute(&disk.dir, &["device/wwid", "wwid", "eui", "nguid", "dm/uuid", "md/uuid"])
            .or_else(|| messages(&["ID_WWN_WITH_EXTENSION", "ID_WWN"])),
        transport,
        version: None,
    }
}

/// The partitions of a whole device, without their content.
pub(super) fn partitions(device: &Device) -> Vec<Partition> {
    let reported = |part: Device| Partition { offset: part.start(), len: part.len(), name: part.name, content: None };
    device.partitions().into_iter().map(reported).collect()
}

/// Vendor and model; for a dm device its name.
fn model(disk: &Device, transport: Option<&str>) -> Option<String> {
    // The vendor of a virtio device is a PCI ID.
    if transport == Some("virtio") {
        return None;
    }
    let model = attribute(&disk.dir, &["device/model", "device/name", "dm/name"])?;
    // The vendor ATA stands for all disks behind a SATA translation layer.
    match attribute(&disk.dir, &["device/vendor"]).filter(|vendor| vendor != "ATA" && !vendor.starts_with("0x")) {
        Some(vendor) if !model.starts_with(&vendor) => Some(format!("{vendor} {model}")),
        _ => Some(model),
    }
}

fn serial(disk: &Device) -> Option<String> {
    if let Some(serial) = attribute(&disk.dir, &["serial", "device/serial"]) {
        return Some(serial);
    }
    // The SCSI VPD page has a header of four bytes.
    let page = fs::read(disk.dir.join("device/vpd_pg80")).unwrap_or_default();
    if let Some(serial) = page.get(4..).and_then(|bytes| tidied(&String::from_utf8_lossy(bytes))) {
        return Some(serial);
    }
    // A disk behind a USB bridge often has no serial number in sysfs; the bridge has one.
    let bridge = disk.dir.ancestors().find(|dir| dir.join("idVendor").exists())?;
    attribute(bridge, &["serial"])
}

/// The transport, from the disk's directory and name.
fn transport(disk: &Device) -> Option<String> {
    let by_name = [
        ("loop", "loop"),
        ("dm-", "dm"),
        ("md", "md"),
        ("zram", "zram"),
        ("ram", "ram"),
        ("nbd", "nbd"),
        ("nvme", "nvme"),
        ("mmcblk", "mmc"),
    ];
    if let Some((_, name)) = by_name.iter().find(|(prefix, _)| disk.name.starts_with(prefix)) {
        return Some((*name).to_owned());
    }
    let has = |prefix: &str| {
        let numbered =
            |part: &str| part.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        disk.dir.components().any(|part| numbered(&part.as_os_str().to_string_lossy()))
    };
    // The most specific first: all of these except virtio disks are below a SCSI host too.
    let by_place = [
        ("usb", "usb"),
        ("ata", "sata"),
        ("session", "iscsi"),
        ("rport-", "fc"),
        ("end_device-", "sas"),
        ("host", "scsi"),
        ("virtio", "virtio"),
        ("vbd-", "xen"),
    ];
    by_place.iter().find(|(prefix, _)| has(prefix)).map(|(_, name)| (*name).to_owned())
}

/// The first non-empty attribute of `names`.
pub(super) fn attribute(dir: &Path, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| tidied(&text(dir, name)?))
}

/// Text without the padding of fixed-width fields; `None` if it is empty.
fn tidied(text: &str) -> Option<String> {
    let printable: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words: Vec<&str> = printable.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Properties in udev's record of a device: lines `E:NAME=value`.
fn udev_properties(udev: &Path, number: u64) -> HashMap<String, String> {
    let record = fs::read(udev.join(format!("b{}:{}", major(number), minor(number)))).unwrap_or_default();
    let record = String::from_utf8_lossy(&record);
    let properties = record.lines().filter_map(|line| line.strip_prefix("E:")?.split_once('='));
    properties.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Decodes a value in which udev encoded blanks as `\x20`.
fn unescaped(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut parts = value.split("\\x");
    bytes.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
    for part in parts {
        match part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                bytes.extend_from_slice(&part.as_bytes()[2..]);
            }
            None => bytes.extend_from_slice(part.as_bytes()),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
