use super::pending::pending;
use super::{SCHEMA, object};
use crate::core::{Device, DevicePartition, InUse, SavedPace, SchedulerAdvice, ScsiDevice, WaitingUndo};
use serde::Serialize;
use std::borrow::Cow;
use std::path::PathBuf;

/// The unit of partition tables, regardless of the block size of the device.
const SECTOR_BYTES: u64 = 512;

/// The devices as JSON; `others` are SCSI devices that are not block devices.
pub fn devices(devices: &[Device], others: &[ScsiDevice]) -> impl Serialize {
    object! {
        schema: SCHEMA,
        report: "devices",
        devices: devices.iter().map(device).collect::<Vec<_>>(),
        scsi_devices: others.iter().map(scsi).collect::<Vec<_>>(),
    }
}

fn scsi(device: &ScsiDevice) -> impl Serialize {
    object! {
        name: &device.name,
        path: device.path.to_string_lossy(),
        other_nodes: texts(&device.others),
        kind: device.kind(),
        peripheral_type: device.peripheral_type,
        address: &device.address,
        model: &device.model,
        revision: &device.revision,
    }
}

fn device(device: &Device) -> impl Serialize {
    let identity = &device.identity;
    object! {
        name: &device.name,
        path: device.path.to_string_lossy(),
        aliases: texts(&device.aliases),
        size_bytes: device.size,
        model: &identity.model,
        serial: &identity.serial,
        wwn: &identity.wwn,
        transport: &identity.transport,
        rotational: device.rotational,
        scheduler: &device.queue_policy.scheduler,
        scheduler_advised: device.queue_policy.advice(device.rotational).map(SchedulerAdvice::scheduler),
        read_ahead_bytes: device.queue_policy.read_ahead_bytes,
        removable: device.removable,
        hotplug: device.hotplug,
        read_only: device.read_only,
        logical_block_bytes: Some(device.logical_block_bytes).filter(|&bytes| bytes > 0),
        physical_block_bytes: Some(device.physical_block_bytes).filter(|&bytes| bytes > 0),
        readable: device.readable,
        content: &device.content,
        made_of: &device.made_of,
        system: device.uses.iter().any(|used| matches!(used, InUse::System { .. })),
        uses: device.uses.iter().map(of_use).collect::<Vec<_>>(),
        tuned: device.saved.as_ref().map(tuned),
        tuned_write: device.saved_write.as_ref().map(tuned),
        undo: device.undo.as_ref().map(undo),
        pending_copy: device.pending.as_ref().map(pending),
        partitions: device.partitions.iter().map(partition).collect::<Vec<_>>(),
    }
}

fn tuned(saved: &SavedPace) -> impl Serialize {
    let SavedPace { block_bytes, depth, bytes_per_s, date } = saved;
    object! { block_bytes, depth, bytes_per_s, date }
}

fn partition(part: &DevicePartition) -> impl Serialize {
    let partition = &part.partition;
    object! {
        name: &partition.name,
        path: part.path.to_string_lossy(),
        aliases: texts(&part.aliases),
        offset_bytes: partition.offset,
        len_bytes: partition.len,
        offset_sectors: partition.offset / SECTOR_BYTES,
        len_sectors: partition.len / SECTOR_BYTES,
        content: &partition.content,
        uses: part.uses.iter().map(of_use).collect::<Vec<_>>(),
        undo: part.undo.as_ref().map(undo),
        pending_copy: part.pending.as_ref().map(pending),
    }
}

fn undo(waiting: &WaitingUndo) -> impl Serialize {
    let WaitingUndo { path, kept_bytes } = waiting;
    object! { path: path.to_string_lossy(), kept_bytes, being_measured: kept_bytes.is_none() }
}

fn of_use(used: &InUse) -> impl Serialize {
    let (kind, device, at, by) = match used {
        InUse::Mounted { device, at } => ("mounted", Some(device), Some(at), None),
        InUse::Swap { device } => ("swap", Some(device), None, None),
        InUse::Held { device, by } => ("held", Some(device), None, Some(by)),
        InUse::System { at } => ("system", None, Some(at), None),
        InUse::Exclusive => ("exclusive", None, None, None),
    };
    object! { kind, device, at: at.map(|path| path.to_string_lossy()), by }
}

fn texts(paths: &[PathBuf]) -> Vec<Cow<'_, str>> {
    paths.iter().map(|path| path.to_string_lossy()).collect()
}
