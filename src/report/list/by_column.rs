//! The devices of the machine as a table: a line for each, with the requested columns.
use super::uses;
use crate::core::{Device, QueuePolicy, SavedPace};
use crate::report::pending;
use crate::report::printable::printable;
use crate::report::table::{Align, Heading, Table};
use crate::report::units;
use std::fmt;
use std::path::PathBuf;

/// A column of `haul list`.
pub struct Column {
    /// Its name as an option (case is ignored) and as a heading.
    pub name: &'static str,
    align: Align,
    cell: fn(&Device) -> String,
}

/// The default columns.
pub const USUAL: &str = "NAME,SIZE,MODEL,SERIAL,CONTENT,USE";

/// Every column, in the order of the help (`list-columns.txt`). Those of lsblk have the same names.
pub static COLUMNS: &[Column] = &[
    column("NAME", Align::Whole, |device| device.name.clone()),
    column("PATH", Align::Whole, |device| device.path.to_string_lossy().into_owned()),
    column("SIZE", Align::Right, size),
    column("BYTES", Align::Right, |device| device.size.to_string()),
    column("MODEL", Align::Text, |device| given(&device.identity.model)),
    column("SERIAL", Align::Text, |device| given(&device.identity.serial)),
    column("WWN", Align::Whole, |device| given(&device.identity.wwn)),
    column("TRAN", Align::Whole, |device| given(&device.identity.transport)),
    column("ROTA", Align::Right, |device| device.rotational.map_or_else(String::new, flag)),
    column("RM", Align::Right, |device| flag(device.removable)),
    column("HOTPLUG", Align::Right, |device| flag(device.hotplug)),
    column("RO", Align::Right, |device| flag(device.read_only)),
    column("LOG-SEC", Align::Right, |device| known(device.logical_block_bytes)),
    column("PHY-SEC", Align::Right, |device| known(device.physical_block_bytes)),
    column("SCHED", Align::Whole, |device| scheduler(&device.queue_policy)),
    column("CONTENT", Align::Text, contents),
    column("PARTS", Align::Right, |device| device.partitions.len().to_string()),
    column("USE", Align::Text, in_use),
    column("MADE-OF", Align::Text, |device| device.made_of.join(", ")),
    column("TUNED", Align::Whole, tuned),
    column("ALIASES", Align::Whole, |device| paths(&device.aliases)),
];

const fn column(name: &'static str, align: Align, cell: fn(&Device) -> String) -> Column {
    Column { name, align, cell }
}

impl fmt::Debug for Column {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name)
    }
}

impl Column {
    /// The column of this name; case is ignored.
    pub fn named(name: &str) -> Option<&'static Column> {
        COLUMNS.iter().find(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// The default columns.
    pub fn usual() -> Vec<&'static Column> {
        USUAL.split(',').filter_map(Column::named).collect()
    }
}

/// A line for each device with these columns, truncated to `width` if given.
pub fn table(devices: &[Device], columns: &[&'static Column], width: Option<usize>) -> String {
    let heading = |column: &&'static Column| Heading { name: column.name, align: column.align };
    let mut table = Table::new(columns.iter().map(heading).collect());
    for device in devices {
        table.row(columns.iter().map(|column| printable(&(column.cell)(device))).collect());
    }
    table.lines(width)
}

fn given(text: &Option<String>) -> String {
    text.clone().unwrap_or_default()
}

fn flag(yes: bool) -> String {
    u8::from(yes).to_string()
}

fn known(bytes: u32) -> String {
    if bytes == 0 { String::new() } else { bytes.to_string() }
}

fn size(device: &Device) -> String {
    if device.size == 0 { "no medium".to_owned() } else { units::size(device.size) }
}

fn scheduler(policy: &QueuePolicy) -> String {
    policy.scheduler.clone().unwrap_or_default()
}

/// The contents of the disk and of each of its partitions.
pub(crate) fn contents(device: &Device) -> String {
    if device.size == 0 {
        return String::new();
    }
    if !device.readable {
        return "not readable".to_owned();
    }
    let parts: Vec<Option<&String>> = device.partitions.iter().map(|part| part.partition.content.as_ref()).collect();
    let listed = match parts.iter().any(Option::is_some) {
        true => parts.iter().map(|content| content.map_or("unknown", String::as_str)).collect::<Vec<_>>().join(", "),
        false => units::count(parts.len() as u64, "partition", "partitions"),
    };
    match (&device.content, parts.is_empty()) {
        (None, true) => "unknown".to_owned(),
        (Some(whole), true) => whole.clone(),
        (None, false) => listed,
        (Some(whole), false) => format!("{whole}: {listed}"),
    }
}

/// Uses to know before the disk is written: the most important first, because the end may be truncated.
fn in_use(device: &Device) -> String {
    let mut words = Vec::new();
    let parts = || device.partitions.iter();
    if device.undo.is_some() || parts().any(|part| part.undo.is_some()) {
        words.push("DATA MODIFIED: see haul list --all".to_owned());
    }
    let copies = device.pending.iter().chain(parts().filter_map(|part| part.pending.as_ref()));
    words.extend(copies.map(pending::in_short));
    words.extend(uses::in_short(device));
    words.join("; ")
}

fn tuned(device: &Device) -> String {
    let pace = |saved: &SavedPace| format!("{} × {}", units::block(saved.block_bytes.into()), saved.depth);
    device.saved.as_ref().map(pace).unwrap_or_default()
}

fn paths(paths: &[PathBuf]) -> String {
    let words: Vec<_> = paths.iter().map(|path| path.to_string_lossy()).collect();
    words.join(" ")
}
