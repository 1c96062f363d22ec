//! Copies between every kind of source and every kind of dest, in the lab: equal, and nothing else changed.
//!
//! The dest is read directly, past the page cache, and compared with what the source was made of. Once with
//! each engine, between sides of unlike block sizes: disks of equal ones are copied in `scsi.rs` and `nvme.rs`.
use crate::guests::findings;
use crate::support::lab_is_there;

/// What a side can be.
const KINDS: [&str; 9] = ["sg", "sd", "ng", "nvme", "file", "pipe", "null_blk", "dm over sd", "dm over nvme"];

/// All pairings.
#[track_caller]
fn all_are_right(proof: &'static str) {
    if !lab_is_there(&["openssl", "dmsetup", "mkfs.ext4", "cmp", "blockdev"]) {
        return;
    }
    let pairings = KINDS.iter().flat_map(|source| KINDS.iter().map(move |dest| format!("{source} to {dest}")));
    let pairings: Vec<String> = pairings.collect();
    let wanted: Vec<&str> = pairings.iter().map(String::as_str).collect();
    findings(proof).expect(&wanted);
}

#[test]
fn every_pairing_is_right_with_the_ring_from_blocks_of_4096_to_those_of_512() {
    all_are_right("pairings.sh ring 4096 512");
}

#[test]
fn every_pairing_is_right_where_io_uring_is_forbidden_from_blocks_of_512_to_those_of_4096() {
    // Threads are what haul chooses by itself there.
    all_are_right("pairings.sh threads 512 4096 forbidden");
}
