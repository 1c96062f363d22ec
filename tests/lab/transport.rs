//! What SCSI disks do by themselves, and what they say of themselves, on the kernel's target and scsi_debug in the lab.
use crate::guests::findings;
use crate::support::lab_is_there;

const OFFLOAD: [&str; 18] = [
    "the plan says that the disk copies by itself",
    "a disk copies by itself from another",
    "and what it copied is verified",
    "a range is copied to its place and nowhere else",
    "a disk copies within itself",
    "and that is right",
    "block devices that are passed through copy by themselves",
    "what is no whole block goes through haul",
    "a reservation is taken",
    "a reserved dest",
    "a reserved source",
    "what is reserved for writing can be read",
    "what is reserved for writing is not written",
    "nor by itself",
    "and what was released is written",
    "a source that the copy manager does not take",
    "goes through haul and is right",
    "a dest without a copy manager is told",
];

/// Of disks that are measured by their nodes, in the guest of the thin ones.
const PROFILE: [&str; 11] = [
    "a disk is profiled by its node",
    "a drive without READ BUFFER says so",
    "what the driver copied all the same is told",
    "and stands on the page",
    "the ways that a node has are side by side",
    "and the cost of nothing is less than that of most",
    "a driver that does without a copy is believed",
    "a disk is tuned by its node",
    "and timed",
    "and nothing of it was changed",
    "who may only read a node profiles by it all the same",
];

const THIN: [&str; 13] = [
    "unmapped blocks are not read",
    "and they are zeros on the dest",
    "a file of a thin disk is sparse",
    "and all is read where that was asked for",
    "and is the same",
    "holes of a partition are in their place",
    "and are verified",
    "unmapped blocks that promise nothing are read",
    "a source that was stopped",
    "a dest that was stopped",
    "a disk that was started again",
    "a disk is getting ready",
    "a disk that is getting ready is waited for",
];

/// Asks for what a script found.
#[track_caller]
fn found(proof: &'static str, wanted: &[&str]) {
    if lab_is_there(&["openssl", "sfdisk", "cmp", "blockdev", "sg_persist", "sg_start", "sg_turs", "awk", "setpriv"]) {
        findings(proof).expect(wanted);
    }
}

#[test]
fn a_disk_that_copies_by_itself_is_let_and_one_that_is_reserved_is_left_alone() {
    found("scsi-offload.sh", &OFFLOAD);
}

#[test]
fn what_a_disk_says_of_its_holes_and_its_state_is_heeded_with_the_ring() {
    found("scsi-thin.sh ring", &[&THIN[..], &PROFILE].concat());
}

#[test]
fn what_a_disk_says_of_its_holes_and_its_state_is_heeded_with_threads() {
    found("scsi-thin.sh threads", &[&THIN[..], &PROFILE].concat());
}
