//! Character devices: the few that bytes can be copied from or to, and names for the rest.
use super::sysfs::{Sysfs, names_in};
use crate::core::{EndpointKind, Error, Kind, Result, Side};
use rustix::fs::{major, minor};
use std::fs;

/// /dev/ptmx makes a new terminal whenever it is opened, so that it is none itself.
const PTMX: (u32, u32) = (5, 2);

/// What a character device is to a copy.
pub(super) fn kind(address: &str, number: u64, side: Side, sysfs: &Sysfs) -> Result<EndpointKind> {
    match (major(number), minor(number)) {
        (1, 3) => Ok(EndpointKind::Null),
        (1, 5 | 7 | 8 | 9) => Ok(EndpointKind::Endless),
        _ if is_terminal(number, sysfs) => Ok(EndpointKind::Terminal),
        numbers => Err(no_use(address, numbers, side, sysfs)),
    }
}

/// Whether the character device of that number is a terminal.
pub(super) fn is_terminal(number: u64, sysfs: &Sysfs) -> bool {
    let numbers = (major(number), minor(number));
    let subsystem = fs::canonicalize(sysfs.path(&format!("dev/char/{}:{}/subsystem", numbers.0, numbers.1)));
    let said = subsystem.is_ok_and(|dir| dir.file_name().is_some_and(|name| name == "tty"));
    // Terminals of a terminal emulator are not in sysfs.
    numbers != PTMX && (said || matches!(numbers.0, 4 | 5 | 136..=143))
}

fn no_use(address: &str, numbers: (u32, u32), side: Side, sysfs: &Sysfs) -> Error {
    let what = format!("{} {address} is a character device without bytes to copy", side.name());
    let advice = match block_device(numbers, sysfs) {
        Some(name) => format!("Name the block device that belongs to it: /dev/{name}."),
        None => "Name a block device; see 'haul list'.".to_owned(),
    };
    Error::new(Kind::Usage, what).on(side).advise(advice)
}

/// The block device that a pass-through node (sg, bsg, ng) belongs to.
fn block_device(numbers: (u32, u32), sysfs: &Sysfs) -> Option<String> {
    let dir = fs::canonicalize(sysfs.path(&format!("dev/char/{}:{}", numbers.0, numbers.1))).ok()?;
    if let Some(name) = names_in(&dir.join("device/block")).into_iter().next() {
        return Some(name);
    }
    let name = dir.file_name()?.to_string_lossy().into_owned();
    let namespace = format!("nvme{}", name.strip_prefix("ng")?);
    sysfs.path(&format!("class/block/{namespace}")).exists().then_some(namespace)
}
