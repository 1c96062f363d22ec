//! NVMe namespaces by their own commands, on the kernel's driver and qemu's drives in the lab.
use crate::guests::findings;
use crate::support::lab_is_there;

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

/// Asks for what a script found.
#[track_caller]
fn found(proof: &'static str, wanted: &[&str]) {
    if lab_is_there(&["openssl", "sfdisk", "blkdiscard", "mkfs.ext4", "cmp", "setpriv"]) {
        findings(proof).expect(wanted);
    }
}

#[test]
fn on_a_ring_copies_by_nvme_commands_are_right() {
    found("nvme-copies.sh ring", &COPIES);
}

#[test]
fn by_calls_copies_by_nvme_commands_are_right() {
    found("nvme-copies.sh threads", &COPIES);
}

#[test]
fn on_a_ring_what_nvme_drives_do_wrong_is_told_exactly() {
    found("nvme-faults.sh ring", &FAULTS);
}

#[test]
fn by_calls_what_nvme_drives_do_wrong_is_told_exactly() {
    found("nvme-faults.sh threads", &FAULTS);
}
