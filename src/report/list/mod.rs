//! The devices of the machine as text: a paragraph for each, followed by its partitions as a tree.
mod by_column;
mod uses;

use super::columns::{columns, pad, whole, wrap};
use super::pending;
use super::printable::printable;
use super::style::{CARE, DANGER, STRONG, paint};
use super::text::queue;
use super::units;
use crate::core::{Device, DevicePartition, InUse, PendingCopy, SavedPace, ScsiDevice, WaitingUndo};
pub(crate) use by_column::contents;
pub use by_column::{COLUMNS, Column, table};
use std::path::Path;
use uses::{of_disk, of_partition};

/// Minimum width for readable text, in columns; on narrower terminals lines are too long instead.
const WIDTH_MIN: usize = 60;
/// The unit of partition tables and of `--skip 2048s`, regardless of the block size of the device.
const SECTOR_BYTES: u64 = 512;
/// Columns of a size: `1023.9 GiB`.
const SIZE_COLUMNS: usize = 10;
/// Columns before the other names of a device.
const ALIAS_INDENT: usize = 4;

/// Every device and partition: name, size, identity, contents and users, in lines of at most `width` columns.
/// Words longer than a line, such as long paths, are not broken. `others` are SCSI devices that are not block
/// devices.
pub fn human(devices: &[Device], others: &[ScsiDevice], width: usize) -> String {
    let layout = Layout::of(devices, width.max(WIDTH_MIN));
    let others = scsi(others, layout.width);
    if devices.is_empty() {
        return "no block devices found\n".to_owned() + &others;
    }
    let mut paragraphs: Vec<String> = devices.iter().map(|device| layout.device(device)).collect();
    paragraphs.extend(Some(others).filter(|text| !text.is_empty()));
    let places = devices.iter().any(|device| !device.partitions.is_empty()).then_some(PLACES);
    let unreadable = devices.iter().any(|device| !device.readable).then_some(UNREADABLE);
    let notes = places.into_iter().chain(unreadable).map(|note| wrap("", "", note, layout.width));
    let notes = notes.collect::<String>();
    let space = if notes.is_empty() { "" } else { "\n" };
    paragraphs.join("\n") + space + &notes
}

const PLACES: &str = "Partitions: first sector + number of sectors, of 512 bytes each.";
const UNREADABLE: &str = "Not readable: this user or container has no permission to open the device; its content is \
    unknown.";

/// Widths that all paragraphs share, so that columns are aligned.
struct Layout {
    width: usize,
    names: usize,
    places: usize,
}

impl Layout {
    fn of(devices: &[Device], width: usize) -> Self {
        let parts = || devices.iter().flat_map(|device| &device.partitions);
        let disks = devices.iter().map(|device| columns(&printable(&device.name)));
        let names = disks.chain(parts().map(|part| columns(&printable(&part.partition.name)) + 2)).max().unwrap_or(0);
        let places = parts().map(|part| columns(&place(part))).max().unwrap_or(0);
        Layout { width, names, places }
    }

    fn device(&self, device: &Device) -> String {
        let size = if device.size == 0 { "no medium".to_owned() } else { units::size(device.size) };
        let start = self.start(&paint(STRONG, &printable(&device.name)), &size);
        let stem = if device.partitions.is_empty() { " " } else { "│" };
        let undone = not_back(device.undo.as_ref(), &device.path);
        let queue = queue::policy(&device.queue_policy).unwrap_or_default();
        let copied = unfinished(device.pending.as_ref());
        let paragraphs = [who(device), queue, state(device), undone, copied, made_of(device), tuned(device)];
        let mut lines = self.beside(&start, &paragraphs, stem);
        // Names by id are long, and useless when they are broken: they get the full width.
        let aliases = aliases(device);
        if !aliases.is_empty() {
            let indent = pad(stem, ALIAS_INDENT);
            lines += &wrap(&indent, &indent, &aliases, self.width);
        }
        let last = device.partitions.len().saturating_sub(1);
        for (index, part) in device.partitions.iter().enumerate() {
            lines += &self.partition(device, part, index == last);
        }
        lines
    }

    fn partition(&self, device: &Device, part: &DevicePartition, last: bool) -> String {
        let (branch, stem) = if last { ("└ ", " ") } else { ("├ ", "│") };
        let name = format!("{branch}{}", printable(&part.partition.name));
        let start = self.start(&name, &units::size(part.partition.len));
        let start = format!("{start}  {}", pad(&place(part), self.places));
        let content = content(part.partition.content.as_deref(), device.readable);
        let words: Vec<String> = [content].into_iter().chain(of_partition(part)).collect();
        let undone = not_back(part.undo.as_ref(), &part.path);
        self.beside(&start, &[words.join(", "), undone, unfinished(part.pending.as_ref())], stem)
    }

    fn start(&self, name: &str, size: &str) -> String {
        format!("{}  {size:>SIZE_COLUMNS$}", pad(name, self.names))
    }

    /// The paragraphs wrapped after `start`, with `stem` before each further line; empty ones are omitted.
    fn beside(&self, start: &str, paragraphs: &[String], stem: &str) -> String {
        let filled: Vec<&str> = paragraphs.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
        wrap(&format!("{start}  "), &pad(stem, columns(start) + 2), &filled.join("\n"), self.width)
    }
}

/// Offset and length of a partition, in sectors.
fn place(part: &DevicePartition) -> String {
    let sectors = |bytes: u64| bytes / SECTOR_BYTES;
    format!("{} + {}", sectors(part.partition.offset), sectors(part.partition.len))
}

/// Model, serial number, capacity in the units of its label, and other properties that distinguish devices.
fn who(device: &Device) -> String {
    let identity = &device.identity;
    let mut words: Vec<String> = identity.model.iter().map(|model| printable(model)).collect();
    words.extend(identity.serial.iter().map(|serial| whole(&format!("serial {}", printable(serial)))));
    words.extend(wwn(device));
    words.extend(identity.transport.iter().map(|transport| printable(transport)));
    words.extend(device.rotational.map(|yes| whole(if yes { "rotational" } else { "SSD" })));
    words.extend(device.removable.then(|| "removable".to_owned()));
    if device.size > 0 {
        words.push(whole(&units::size_in_other_units(device.size)));
    }
    words.extend(blocks(device));
    words.join(", ")
}

/// The WWN from the manufacturer. Omitted are names of mappings, which are internal to the programs that manage
/// them, and the long ones that the kernel composes from model and serial number of an NVMe drive.
fn wwn(device: &Device) -> Option<String> {
    let mapping = matches!(device.identity.transport.as_deref(), Some("dm" | "md" | "loop" | "zram" | "ram"));
    let wwn = device.identity.wwn.as_ref().filter(|wwn| !mapping && !wwn.starts_with("nvme."))?;
    Some(whole(&format!("wwn {}", printable(wwn))))
}

/// Block sizes, as far as they are known.
fn blocks(device: &Device) -> Option<String> {
    let text = match (device.logical_block_bytes, device.physical_block_bytes) {
        (0, _) => return None,
        (logical, physical) if physical <= logical => format!("{logical}-byte blocks"),
        (logical, physical) => format!("{logical}/{physical}-byte blocks"),
    };
    Some(whole(&text))
}

/// Whether it contains the running system, its contents, and its users, unless that is listed with a partition.
fn state(device: &Device) -> String {
    let system = device.uses.iter().any(|used| matches!(used, InUse::System { .. }));
    let mut words: Vec<String> = system.then(|| whole(&paint(DANGER, "SYSTEM DISK"))).into_iter().collect();
    words.extend(device.read_only.then(|| "read-only".to_owned()));
    if device.size > 0 {
        words.push(content(device.content.as_deref(), device.readable));
    }
    words.extend(of_disk(device));
    words.join(", ")
}

fn content(known: Option<&str>, readable: bool) -> String {
    whole(&match known {
        Some(content) => printable(content),
        None if readable => "unknown content".to_owned(),
        None => "not readable".to_owned(),
    })
}

fn made_of(device: &Device) -> String {
    if device.made_of.is_empty() {
        return String::new();
    }
    let below: Vec<String> = device.made_of.iter().map(|name| whole(&printable(name))).collect();
    // A loop device is only a view of a file or device.
    let verb = if device.identity.transport.as_deref() == Some("loop") { "on" } else { "consists of" };
    format!("{verb} {}", below.join(", "))
}

/// Data that a write measurement has not restored, and what to do.
fn not_back(undo: Option<&WaitingUndo>, device: &Path) -> String {
    let Some(WaitingUndo { path, kept_bytes }) = undo else { return String::new() };
    let Some(kept_bytes) = kept_bytes else { return paint(CARE, "write measurement in progress") };
    let (size, file) = (units::size(*kept_bytes), whole(&printable(&path.to_string_lossy())));
    let command = whole(&format!("haul tune --restore {}", printable(&device.to_string_lossy())));
    let state = paint(DANGER, "DATA MODIFIED");
    format!("{}: a write measurement was interrupted; {command} restores {} from {file}", whole(&state), whole(&size))
}

fn unfinished(copy: Option<&PendingCopy>) -> String {
    copy.map(pending::at_disk).unwrap_or_default()
}

/// The result of `haul tune --save`.
fn tuned(device: &Device) -> String {
    let one = |(saved, doing): (&Option<SavedPace>, &str)| {
        let saved = saved.as_ref()?;
        let pace = format!("{} × {}", units::block(saved.block_bytes.into()), saved.depth);
        let rate = units::rate_at_a_glance(saved.bytes_per_s);
        let day = whole(&format!("on {}", printable(&saved.date)));
        Some(format!("{} for {doing}, {}, {day}", whole(&pace), whole(&rate)))
    };
    let paces = [(&device.saved, "reading"), (&device.saved_write, "writing")];
    let reported: Vec<String> = paces.into_iter().filter_map(one).collect();
    if reported.is_empty() { String::new() } else { format!("tuned: {}", reported.join("; ")) }
}

/// A line for each SCSI device that is not a block device.
fn scsi(devices: &[ScsiDevice], width: usize) -> String {
    let names = devices.iter().map(|device| columns(&printable(&device.name))).max().unwrap_or(0);
    let line = |device: &ScsiDevice| {
        let start = format!("{}  ", pad(&printable(&device.name), names));
        let mut words = vec![whole(device.kind())];
        words.extend(device.model.iter().map(|model| printable(model)));
        words.extend(device.revision.iter().map(|revision| whole(&format!("revision {}", printable(revision)))));
        words.push(whole(&format!("at {}", printable(&device.address))));
        let mut text = words.join(", ");
        device.others.iter().for_each(|path| text += &format!(" {}", whole(&printable(&path.to_string_lossy()))));
        wrap(&start, &" ".repeat(names + 2), &text, width)
    };
    devices.iter().map(line).collect()
}

fn aliases(device: &Device) -> String {
    let paths = device.aliases.iter().map(|path| whole(&printable(&path.to_string_lossy())));
    paths.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
