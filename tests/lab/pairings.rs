//! Copies between every kind of source and every kind of dest, in the lab: equal, and nothing else changed.
//!
//! The dest is read directly, past the page cache, and compared with what the source was made of. Two guests, one for
//! each engine, whose sides have unlike block sizes: disks of equal ones are copied in `scsi.rs` and `nvme.rs`.
use crate::support::{Drive, Findings, lab_is_there, without_io_uring, words_for};

/// What a side can be.
const KINDS: [&str; 9] = ["sg", "sd", "ng", "nvme", "file", "pipe", "null_blk", "dm over sd", "dm over nvme"];

/// Drives with 4096-byte blocks; the lab's own have 512.
const FOURS: [Drive; 2] = [("four0", "mdts=7", FOUR), ("four1", "mdts=7", FOUR)];
const FOUR: &str = "logical_block_size=4096,physical_block_size=4096";

/// All pairings in one guest, between disks of these block sizes in bytes.
#[track_caller]
fn all_are_right(engine: &str, source_block: &str, dest_block: &str) {
    if !lab_is_there(&["openssl", "dmsetup", "mkfs.ext4", "cmp", "blockdev"]) {
        return;
    }
    let dir = crate::support::Folder::below(std::env::temp_dir()).expect("there is a place for scratch");
    let drives = words_for(&FOURS, dir.path());
    let words = [("VMLAB_QEMU", drives.as_str()), ("VMLAB_DISK", "16M"), ("VMLAB_TIMEOUT", "900")];
    // Threads are what haul chooses by itself where io_uring is forbidden.
    let launcher = (engine == "threads").then(|| without_io_uring().to_string_lossy().into_owned());
    let arguments: Vec<&str> = [engine, source_block, dest_block].into_iter().chain(launcher.as_deref()).collect();
    let pairings = KINDS.iter().flat_map(|source| KINDS.iter().map(move |dest| format!("{source} to {dest}")));
    let pairings: Vec<String> = pairings.collect();
    let wanted: Vec<&str> = pairings.iter().map(String::as_str).collect();
    Findings::of("pairings.sh", &arguments, &words).expect(&wanted);
}

#[test]
fn every_pairing_is_right_with_the_ring_from_blocks_of_4096_to_those_of_512() {
    all_are_right("ring", "4096", "512");
}

#[test]
fn every_pairing_is_right_where_io_uring_is_forbidden_from_blocks_of_512_to_those_of_4096() {
    all_are_right("threads", "512", "4096");
}
