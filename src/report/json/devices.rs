use super::SCHEMA;
use crate::core::{Device, DevicePartition, InUse, SavedPace, WaitingUndo};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The unit of partition tables, whatever the device's own blocks are.
const SECTOR_BYTES: u64 = 512;

/// Every block device, for `haul list --json`.
#[derive(Clone, Debug, Serialize)]
pub struct DevicesReport {
    /// Version of this schema.
    pub schema: u32,
    /// `devices`.
    pub report: &'static str,
    /// Disks first, then what is made of others, loop devices last.
    pub devices: Vec<DeviceReport>,
}

/// A whole block device.
#[derive(Clone, Debug, Serialize)]
pub struct DeviceReport {
    /// Kernel name.
    pub name: String,
    /// Its node.
    pub path: String,
    /// Other paths that lead to it.
    pub aliases: Vec<String>,
    /// Bytes; 0 without a medium.
    pub size_bytes: u64,
    /// Vendor and model.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// World wide name.
    pub wwn: Option<String>,
    /// How it is connected.
    pub transport: Option<String>,
    /// It moves a head.
    pub rotational: Option<bool>,
    /// Its medium can be taken out.
    pub removable: bool,
    /// It cannot be written to now.
    pub read_only: bool,
    /// Smallest addressable unit.
    pub logical_block_bytes: Option<u32>,
    /// Natural write unit.
    pub physical_block_bytes: Option<u32>,
    /// This process may read it.
    pub readable: bool,
    /// What is on it.
    pub content: Option<String>,
    /// What it was made of.
    pub made_of: Vec<String>,
    /// A part of the running system is on it.
    pub system: bool,
    /// Uses of it, of its partitions, and of what is on top of them.
    pub uses: Vec<UseReport>,
    /// What `haul tune --save` found for reading it.
    pub tuned: Option<TunedReport>,
    /// The same for writing it.
    pub tuned_write: Option<TunedReport>,
    /// What measuring it by writing has left.
    pub undo: Option<UndoReport>,
    /// Its partitions in the order of their places.
    pub partitions: Vec<DevicePartitionReport>,
}

/// Block size and depth that were found for reading a device, or for writing it.
#[derive(Clone, Debug, Serialize)]
pub struct TunedReport {
    /// Bytes per request.
    pub block_bytes: u32,
    /// Requests in flight.
    pub depth: u32,
    /// What it gave.
    pub bytes_per_s: u64,
    /// The day, in UTC.
    pub date: String,
}

/// An undo journal: some places of the device do not have what stood there.
#[derive(Clone, Debug, Serialize)]
pub struct UndoReport {
    /// Where it is.
    pub path: String,
    /// Bytes in it; nobody can tell while somebody measures.
    pub kept_bytes: Option<u64>,
    /// Somebody measures the device by writing just now; if not, that was cut off.
    pub being_measured: bool,
}

/// A partition of a device.
#[derive(Clone, Debug, Serialize)]
pub struct DevicePartitionReport {
    /// Kernel name.
    pub name: String,
    /// Its node.
    pub path: String,
    /// Other paths that lead to it.
    pub aliases: Vec<String>,
    /// First byte on the whole device.
    pub offset_bytes: u64,
    /// Bytes.
    pub len_bytes: u64,
    /// First sector of 512 bytes.
    pub offset_sectors: u64,
    /// Sectors of 512 bytes.
    pub len_sectors: u64,
    /// What is on it.
    pub content: Option<String>,
    /// Uses of it and of what is on top of it.
    pub uses: Vec<UseReport>,
    /// What measuring it by writing has left.
    pub undo: Option<UndoReport>,
}

/// Why a device must not be overwritten now.
#[derive(Clone, Debug, Serialize)]
pub struct UseReport {
    /// `mounted`, `swap`, `held`, `system` or `exclusive`.
    pub kind: &'static str,
    /// Kernel name of what is used, where that is one device.
    pub device: Option<String>,
    /// Where it is mounted.
    pub at: Option<String>,
    /// Kernel name of what holds it.
    pub by: Option<String>,
}

/// The devices for programs.
pub fn devices(devices: &[Device]) -> DevicesReport {
    DevicesReport { schema: SCHEMA, report: "devices", devices: devices.iter().map(device).collect() }
}

fn device(device: &Device) -> DeviceReport {
    let identity = device.identity.clone();
    DeviceReport {
        name: device.name.clone(),
        path: text(&device.path),
        aliases: texts(&device.aliases),
        size_bytes: device.size,
        model: identity.model,
        serial: identity.serial,
        wwn: identity.wwn,
        transport: identity.transport,
        rotational: device.rotational,
        removable: device.removable,
        read_only: device.read_only,
        logical_block_bytes: Some(device.logical_block_bytes).filter(|&bytes| bytes > 0),
        physical_block_bytes: Some(device.physical_block_bytes).filter(|&bytes| bytes > 0),
        readable: device.readable,
        content: device.content.clone(),
        made_of: device.made_of.clone(),
        system: device.uses.iter().any(|used| matches!(used, InUse::System { .. })),
        uses: device.uses.iter().map(use_report).collect(),
        tuned: device.saved.as_ref().map(tuned),
        tuned_write: device.saved_write.as_ref().map(tuned),
        undo: device.undo.as_ref().map(undo),
        partitions: device.partitions.iter().map(partition).collect(),
    }
}

fn tuned(saved: &SavedPace) -> TunedReport {
    let SavedPace { block_bytes, depth, bytes_per_s, date } = saved.clone();
    TunedReport { block_bytes, depth, bytes_per_s, date }
}

fn partition(part: &DevicePartition) -> DevicePartitionReport {
    let partition = &part.partition;
    DevicePartitionReport {
        name: partition.name.clone(),
        path: text(&part.path),
        aliases: texts(&part.aliases),
        offset_bytes: partition.offset,
        len_bytes: partition.len,
        offset_sectors: partition.offset / SECTOR_BYTES,
        len_sectors: partition.len / SECTOR_BYTES,
        content: partition.content.clone(),
        uses: part.uses.iter().map(use_report).collect(),
        undo: part.undo.as_ref().map(undo),
    }
}

fn undo(waiting: &WaitingUndo) -> UndoReport {
    let WaitingUndo { path, kept_bytes } = waiting;
    UndoReport { path: text(path), kept_bytes: *kept_bytes, being_measured: kept_bytes.is_none() }
}

fn use_report(used: &InUse) -> UseReport {
    let none = UseReport { kind: "exclusive", device: None, at: None, by: None };
    match used {
        InUse::Mounted { device, at } => {
            UseReport { kind: "mounted", device: Some(device.clone()), at: Some(text(at)), ..none }
        }
        InUse::Swap { device } => UseReport { kind: "swap", device: Some(device.clone()), ..none },
        InUse::Held { device, by } => {
            UseReport { kind: "held", device: Some(device.clone()), by: Some(by.clone()), ..none }
        }
        InUse::System { at } => UseReport { kind: "system", at: Some(text(at)), ..none },
        InUse::Exclusive => none,
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn texts(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| text(path)).collect()
}
