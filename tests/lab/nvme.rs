//! NVMe namespaces by their own commands, on the kernel's driver and qemu's drives in the lab.
use crate::support::{Drive, Findings, lab_is_there, words_for};

/// What every engine must get right.
const COPIES: [&str; 27] = [
    "ng to ng",
    "sd to nvme by --passthrough",
    "file to ng",
    "ng to file",
    "pipe to ng",
    "ng to pipe",
    "ng to the block layer",
    "ng to ng, read back",
    "ng to ng, only what differs",
    "512-byte blocks to 4096-byte blocks",
    "blocks longer than the drive's commands",
    "an odd length changes nothing behind it",
    "an odd length is read exactly",
    "holes are zeroed by the drive",
    "a partition is written in its place",
    "the page cache is dropped after commands wrote",
    "and nothing else of the disk is changed",
    "what the page cache holds is written back before",
    "a mounted partition protects the whole node",
    "a whole namespace, to its last block",
    "and the last block has arrived",
    "a range that overlaps is moved right",
    "and back, by the block layer and by commands",
    "a node is known to be its block device",
    "a drive copies by itself",
    "and what it copied is right",
    "what two drives cannot is said",
];

/// What is said of drives that fail, with either engine.
const FAULTS: [&str; 19] = [
    "a block that cannot be read is named",
    "and the way on is told",
    "and what lies before it has arrived",
    "behind it the copy goes on",
    "and is right",
    "it is named whatever the blocks",
    "a block that cannot be written is named",
    "and what lies before that has arrived",
    "by the block layer, too, a block that cannot be read is named",
    "and what lies before it has arrived by the block layer",
    "by the block layer, too, a block that cannot be written is named",
    "metadata that would be lost is refused",
    "a zoned namespace is refused",
    "a controller is no disk",
    "who may not give commands is told so",
    "a source that is pulled out is gone",
    "and the way on from there is told",
    "a dest that is pulled out is gone",
    "nothing is left of those copies",
];

/// 4096-byte blocks, 16 KiB a command.
const FOUR: Drive = ("four", "mdts=2", "logical_block_size=4096,physical_block_size=4096");
const METADATA: Drive = ("metadata", "mdts=7", "ms=8");
const ZONED: Drive = ("zoned", "mdts=7", "zoned=on,zoned.zone_size=1M");

/// Runs a script with this engine, beside these drives.
fn findings(script: &str, engine: &str, drives: &[Drive]) -> Option<Findings> {
    if !lab_is_there(&["openssl", "sfdisk", "blkdiscard", "mkfs.ext4", "cmp", "setpriv"]) {
        return None;
    }
    let dir = crate::support::Folder::below(std::env::temp_dir()).expect("there is a place for scratch");
    let more = words_for(drives, dir.path());
    let words = [("VMLAB_QEMU", more.as_str()), ("VMLAB_DISK", "16M"), ("VMLAB_TIMEOUT", "300")];
    Some(Findings::of(script, &[engine], &words))
}

#[test]
fn on_a_ring_copies_by_nvme_commands_are_right() {
    if let Some(findings) = findings("nvme-copies.sh", "ring", &[FOUR]) {
        findings.expect(&COPIES);
    }
}

#[test]
fn by_calls_copies_by_nvme_commands_are_right() {
    if let Some(findings) = findings("nvme-copies.sh", "threads", &[FOUR]) {
        findings.expect(&COPIES);
    }
}

#[test]
fn on_a_ring_what_nvme_drives_do_wrong_is_told_exactly() {
    if let Some(findings) = findings("nvme-faults.sh", "ring", &[METADATA, ZONED]) {
        findings.expect(&FAULTS);
    }
}

#[test]
fn by_calls_what_nvme_drives_do_wrong_is_told_exactly() {
    if let Some(findings) = findings("nvme-faults.sh", "threads", &[METADATA, ZONED]) {
        findings.expect(&FAULTS);
    }
}
