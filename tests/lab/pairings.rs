//! Copies between every kind of source and every kind of dest, in the lab: equal, and nothing else changed.
//!
//! The dest is read with direct I/O, and compared with the data from which the source was made. Once with each
//! engine, between sides with different block sizes: disks with equal ones are copied in `scsi.rs` and `nvme.rs`.
use crate::guests::findings;
use crate::support::lab_is_available;

/// The kinds of sides.
const KINDS: [&str; 9] = ["sg", "sd", "ng", "nvme", "file", "pipe", "null_blk", "dm over sd", "dm over nvme"];

/// Checks all pairs.
#[track_caller]
fn all_are_right(proof: &'static str) {
    if !lab_is_available(&["openssl", "dmsetup", "mkfs.ext4", "cmp", "blockdev"]) {
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
    // haul chooses threads itself there.
    all_are_right("pairings.sh threads 512 4096 forbidden");
}
