//! Refuses nodes that accept only commands if they are named as a source or destination file.
use super::passthrough;
use super::sysfs::{Sysfs, names_in, text};
use crate::core::{CommandSet, Error, Kind, Side};
use rustix::fs::{major, minor};
use std::path::Path;

/// Major number of SCSI generic nodes, from the kernel's `devices.txt`.
const SCSI_GENERIC_MAJOR: u32 = 21;

/// Why `name`, the character device with this number, cannot be read or written as a file: reading a SCSI generic node
/// waits for the result of a command, and data written to it is interpreted as a command.
pub(super) fn refusal(name: &str, number: u64, side: Side, sysfs: &Sysfs) -> Option<Error> {
    let numbers = (major(number), minor(number));
    let found = passthrough::of_node(sysfs, Path::new(name), numbers);
    let commands = match &found {
        Some((node, _)) => node.commands,
        None if numbers.0 == SCSI_GENERIC_MAJOR => CommandSet::Scsi,
        None => return None,
    };
    let block = found.and_then(|(_, block)| block).map(|block| block.node());
    let (what, advice) = match commands {
        CommandSet::Scsi => {
            let dir = sysfs.path(&format!("dev/char/{}:{}/device", numbers.0, numbers.1));
            ("a SCSI generic node, which accepts only SCSI commands", scsi_advice(&dir, block))
        }
        CommandSet::Nvme => {
            let advice = block.map_or_else(|| "See 'haul list'.".to_owned(), |node| format!("Name {node}."));
            ("an NVMe generic node, which accepts only NVMe commands", advice)
        }
    };
    let verb = if side == Side::Source { "read source" } else { "write to destination" };
    Some(Error::new(Kind::Refused, format!("cannot {verb} {name}: it is {what}")).on(side).advise(advice))
}

/// How to access the data of the device in `dir`.
fn scsi_advice(dir: &Path, block: Option<String>) -> String {
    let sg_dd = "Use 'haul sg_dd' instead of 'haul dd' to copy with SCSI commands";
    if let Some(node) = block {
        return format!("{sg_dd}, or name {node}.");
    }
    let tapes = names_in(&dir.join("scsi_tape"));
    // Of the nodes of a tape drive, the non-rewinding one in the default mode.
    if let Some(tape) = tapes.iter().filter(|name| name.starts_with("nst")).min_by_key(|name| name.len()) {
        return format!("It is a tape drive: name /dev/{tape}.");
    }
    match text(dir, "type").map(|kind| kind.trim().to_owned()).as_deref() {
        // Disks, write-once and optical memory, CD drives, simplified and zoned disks.
        None | Some("0" | "4" | "5" | "7" | "14" | "20") => format!("{sg_dd}."),
        Some(_) => "It is not a disk, so haul cannot copy from or to it: see 'haul list'.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::Tree;
    use super::*;
    use rustix::fs::makedev;

    /// The messages for sg3, with these files in the directory of its device.
    fn messages(files: &[(&str, &str)], block: bool) -> String {
        let tree = Tree::new();
        let device = "devices/pci/host2/2:0:0:0";
        if block {
            tree.disk("pci/host2/2:0:0:0/block/sdk", "8:160", 9000);
        }
        let generic = format!("{device}/scsi_generic/sg3");
        tree.write(&format!("{generic}/dev"), "21:3\n");
        files.iter().for_each(|(name, text)| tree.write(&format!("{device}/{name}"), text));
        tree.link(&format!("{generic}/device"), device);
        tree.write("class/scsi_generic/nothing", "");
        tree.link(&format!("{generic}/subsystem"), "class/scsi_generic");
        tree.link("dev/char/21:3", &generic);
        let error = refusal("/dev/sg3", makedev(21, 3), Side::Dest, &tree.snapshot("").sysfs).expect("it is one");
        assert_eq!(error.kind, Kind::Refused);
        assert!(
            error.to_string().contains("cannot write to destination /dev/sg3: it is a SCSI generic node"),
            "{error}"
        );
        error.advice
    }

    #[test]
    fn the_advice_depends_on_the_device_behind_the_node() {
        assert_eq!(
            messages(&[], true),
            "Use 'haul sg_dd' instead of 'haul dd' to copy with SCSI commands, or name /dev/sdk."
        );
        assert!(
            messages(&[("type", "0\n")], false).ends_with("to copy with SCSI commands."),
            "a disk without a block device"
        );
        let tape =
            [("type", "1\n"), ("scsi_tape/st0/dev", ""), ("scsi_tape/nst0a/dev", ""), ("scsi_tape/nst0/dev", "")];
        assert_eq!(messages(&tape, false), "It is a tape drive: name /dev/nst0.");
        for kind in ["3", "6", "8", "13"] {
            assert!(messages(&[("type", kind)], false).contains("not a disk"), "{kind}");
        }
    }

    #[test]
    fn a_node_missing_in_sysfs_is_recognized_by_its_number() {
        let tree = Tree::new();
        let sysfs = tree.snapshot("").sysfs;
        let of = |number| refusal("x", number, Side::Source, &sysfs);
        assert!(of(makedev(21, 200)).is_some_and(|error| error.advice.contains("haul sg_dd")));
        for number in [makedev(1, 3), makedev(9, 0), makedev(86, 0), makedev(5, 0)] {
            assert!(of(number).is_none());
        }
    }
}
