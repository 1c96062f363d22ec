//! Character devices: the few that haul supports, and messages about the others.
use super::passthrough;
use super::sysfs::{Sysfs, names_in, text};
use crate::core::{EndpointKind, Error, Kind, Result, Side};
use crate::sys;
use rustix::fs::{major, makedev, minor};
use std::fs;

/// /dev/ptmx creates a new terminal whenever it is opened, so it is not a terminal itself.
const PTMX: (u32, u32) = (5, 2);

/// The controlling terminal of the process: /dev/tty.
const TTY: (u32, u32) = (5, 0);

/// The system console: /dev/console.
const CONSOLE: (u32, u32) = (5, 1);

/// The active virtual terminal: /dev/tty0.
const TTY0: (u32, u32) = (4, 0);

/// The kind of endpoint of a character device.
pub(super) fn kind(address: &str, number: u64, side: Side, sysfs: &Sysfs) -> Result<EndpointKind> {
    match (major(number), minor(number)) {
        (1, 3) => Ok(EndpointKind::Null),
        (1, 5 | 7 | 8 | 9) => Ok(EndpointKind::Endless),
        _ if is_terminal(number, sysfs) => Ok(EndpointKind::Terminal),
        numbers => Err(no_use(address, numbers, side, sysfs)),
    }
}

/// Whether the character device with this number is a terminal.
pub(super) fn is_terminal(number: u64, sysfs: &Sysfs) -> bool {
    let numbers = (major(number), minor(number));
    let subsystem = fs::canonicalize(sysfs.path(&format!("dev/char/{}:{}/subsystem", numbers.0, numbers.1)));
    let messages = subsystem.is_ok_and(|dir| dir.file_name().is_some_and(|name| name == "tty"));
    // Pseudo-terminals are not in sysfs.
    numbers != PTMX && (messages || matches!(numbers.0, 4 | 5 | 136..=143))
}

/// The terminal that a node refers to: for /dev/tty the controlling terminal, for /dev/tty0 the active one, for
/// /dev/console the last of the active consoles. Returns other nodes, and nodes that refer to none, unchanged.
pub(super) fn terminal_behind(number: u64, sysfs: &Sysfs) -> u64 {
    match (major(number), minor(number)) {
        TTY => controlling_terminal().unwrap_or(number),
        TTY0 => last_active("tty0", sysfs).unwrap_or(number),
        CONSOLE => match last_active("console", sysfs) {
            Some(behind) if (major(behind), minor(behind)) == TTY0 => terminal_behind(behind, sysfs),
            behind => behind.unwrap_or(number),
        },
        _ => number,
    }
}

/// Device number of the controlling terminal; `None` if there is none.
fn controlling_terminal() -> Option<u64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The program name may contain anything and ends with the last parenthesis; the terminal is four fields after it.
    let field = stat.rsplit_once(')')?.1.split_whitespace().nth(4)?;
    let number = field.parse::<i64>().ok().filter(|&number| number != 0)? as u32;
    Some(makedev(number >> 8 & 0xfff, number & 0xff | number >> 12 & 0xfff00))
}

/// The last terminal in the attribute `active` of the device `name`.
fn last_active(name: &str, sysfs: &Sysfs) -> Option<u64> {
    let class = sysfs.path("class/tty");
    let active = text(&class.join(name), "active")?;
    let numbers = text(&class.join(active.split_whitespace().last()?), "dev")?;
    let (major, minor) = numbers.split_once(':')?;
    Some(makedev(major.parse().ok()?, minor.parse().ok()?))
}

fn no_use(address: &str, numbers: (u32, u32), side: Side, sysfs: &Sysfs) -> Error {
    let what = format!("{} {address} is a character device that holds no data", side.name());
    let advice = match block_device(numbers, sysfs) {
        Some(name) => format!("Name its block device: /dev/{name}."),
        None => "Name a block device; see 'haul list'.".to_owned(),
    };
    Error::new(Kind::Usage, what).on(side).advise(advice)
}

/// The block device of a passthrough node (sg, bsg, ng).
fn block_device(numbers: (u32, u32), sysfs: &Sysfs) -> Option<String> {
    let dir = sys::resolved(&sysfs.path(&format!("dev/char/{}:{}", numbers.0, numbers.1))).ok()?;
    if let Some(name) = names_in(&dir.join("device/block")).into_iter().next() {
        return Some(name);
    }
    let name = dir.file_name()?.to_string_lossy().into_owned();
    let by_name = format!("nvme{}", name.strip_prefix("ng")?);
    let beside = passthrough::of_same_namespace(&dir, "nvme");
    let namespace = beside.map_or(by_name, |dir| dir.file_name().unwrap_or_default().to_string_lossy().into_owned());
    sysfs.path(&format!("class/block/{namespace}")).exists().then_some(namespace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disks::probe::tree::Tree;

    #[test]
    fn a_terminal_is_recognized_under_all_its_names() {
        let tree = Tree::new();
        let sysfs = tree.snapshot("").sysfs;
        let behind = |numbers: (u32, u32)| {
            let number = terminal_behind(makedev(numbers.0, numbers.1), &sysfs);
            (major(number), minor(number))
        };
        assert_eq!([behind((4, 0)), behind((5, 1)), behind((136, 3))], [(4, 0), (5, 1), (136, 3)]);
        for (name, numbers) in [("tty0", "4:0"), ("tty2", "4:2"), ("ttyS0", "4:64")] {
            tree.write(&format!("class/tty/{name}/dev"), format!("{numbers}\n"));
        }
        tree.write("class/tty/tty0/active", "tty2\n");
        tree.write("class/tty/console/active", "ttyS0 tty0\n");
        assert_eq!(
            [behind((4, 0)), behind((5, 1)), behind((4, 2)), behind((4, 64))],
            [(4, 2), (4, 2), (4, 2), (4, 64)]
        );
        tree.write("class/tty/console/active", "tty0 ttyS0\n");
        assert_eq!(behind((5, 1)), (4, 64));
    }
}
