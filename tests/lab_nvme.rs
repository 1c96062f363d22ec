//! NVMe namespaces by their own commands, on the kernel's driver and qemu's drives in the lab.
mod support;

use std::fs::File;
use support::{Findings, haul_path, lab_is_there};

/// What every engine must get right.
const COPIES: [&str; 19] = [
    "ng to ng",
    "sd to nvme by --passthrough",
    "file to ng",
    "ng to file",
    "pipe to ng",
    "ng to pipe",
    "ng to the block layer",
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
];

/// Runs a script with this engine, beside a drive `four` of 4096-byte blocks.
fn findings(script: &str, engine: &str) -> Option<Findings> {
    if !lab_is_there(&["openssl", "sfdisk", "blkdiscard", "mkfs.ext4", "cmp"]) {
        return None;
    }
    let dir = tempfile::tempdir().expect("there is a place for scratch");
    let image = dir.path().join("four");
    File::create(&image).and_then(|file| file.set_len(16 << 20)).expect("there is room for a sparse file");
    let drive = format!(
        "-blockdev node-name=four,driver=file,filename={},discard=unmap -device nvme,id=four,serial=four,mdts=2 \
         -device nvme-ns,bus=four,drive=four,logical_block_size=4096,physical_block_size=4096",
        image.display()
    );
    let words =
        [("VMLAB_QEMU", drive.as_str()), ("VMLAB_DISK", "16M"), ("HAUL_ENGINE", engine), ("VMLAB_TIMEOUT", "300")];
    Some(Findings::of(script, &haul_path(), &words))
}

#[test]
fn on_a_ring_copies_by_nvme_commands_are_right() {
    if let Some(findings) = findings("proofs/nvme-copies.sh", "ring") {
        findings.expect(&COPIES);
    }
}

#[test]
fn by_calls_copies_by_nvme_commands_are_right() {
    if let Some(findings) = findings("proofs/nvme-copies.sh", "threads") {
        findings.expect(&COPIES);
    }
}
