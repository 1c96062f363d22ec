//! NVMe namespaces by passthrough commands, on the kernel's driver and qemu's drives in the lab.
use crate::guests::findings;
use crate::support::lab_is_available;

/// Findings about copies, with every engine.
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
    "and the last block is copied",
    "a range that overlaps is moved right",
    "and back, by the block layer and by commands",
    "a node is known to be its block device",
    "a drive copies by itself",
    "and what it copied is right",
    "offload between two drives is refused with the reason",
];

/// Findings about failing drives, with either engine.
const FAULTS: [&str; 27] = [
    "a block that cannot be read is named",
    "and the command for the rest is printed",
    "and the bytes before it are copied",
    "behind it the copy goes on",
    "and is right",
    "it is named with any block size",
    "a block that cannot be written is named",
    "and the bytes before that are copied",
    "by the block layer, too, a block that cannot be read is named",
    "and the bytes before it are copied by the block layer",
    "by the block layer, too, a block that cannot be written is named",
    "metadata that would be lost is refused",
    "a zoned namespace is refused",
    "a controller is no disk",
    "a missing permission for commands is reported",
    "a rescue of a warm drive pauses, nvme-bad",
    "and goes on below the limit, nvme-bad",
    "a rescue of a warm drive pauses, nvme-bad-ng",
    "and goes on below the limit, nvme-bad-ng",
    "a drive that comes back is known by its serial number, nvme0",
    "and all of it is rescued, nvme0",
    "a drive that comes back is known by its serial number, nvme0-ng",
    "and all of it is rescued, nvme0-ng",
    "a source that is pulled out is reported",
    "and the command for the rest from there is printed",
    "a dest that is pulled out is reported",
    "nothing is left of those copies",
];

/// Checks the findings of a script.
#[track_caller]
fn found(proof: &'static str, wanted: &[&str]) {
    if lab_is_available(&["openssl", "sfdisk", "blkdiscard", "mkfs.ext4", "cmp", "setpriv"]) {
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
fn on_a_ring_faults_of_nvme_drives_are_reported_exactly() {
    found("nvme-faults.sh ring", &FAULTS);
}

#[test]
fn by_calls_faults_of_nvme_drives_are_reported_exactly() {
    found("nvme-faults.sh threads", &FAULTS);
}
