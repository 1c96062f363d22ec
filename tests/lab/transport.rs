//! Offloaded copies of SCSI disks, and their reported properties, on the kernel's target and scsi_debug in the lab.
use crate::guests::findings;
use crate::support::lab_is_available;

const OFFLOAD: [&str; 18] = [
    "the plan has the copy by the disk",
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
    "a dest without a copy manager is reported",
];

/// Findings about disks measured at their nodes, in the guest of the thin ones.
const PROFILE: [&str; 11] = [
    "a disk is profiled by its node",
    "a drive without READ BUFFER is reported",
    "bytes that the driver copied anyway are reported",
    "and stands on the page",
    "the ways that a node has are side by side",
    "and the cost of nothing is less than that of most",
    "a driver that does without a copy is believed",
    "a disk is tuned by its node",
    "and timed",
    "and nothing of it was changed",
    "a node with read permission alone is profiled",
];

const THIN: [&str; 15] = [
    "unmapped blocks are not read",
    "and they are zeros on the dest",
    "a file of a thin disk is sparse",
    "and all is read where that was asked for",
    "and is the same",
    "holes of a partition are in their place",
    "and are verified",
    "unmapped blocks that promise nothing are read",
    "an unflushed write cache is memory",
    "but commands flush it",
    "a source that was stopped",
    "a dest that was stopped",
    "a disk that was started again",
    "a disk is getting ready",
    "a disk that is getting ready is waited for",
];

/// Checks the findings of a script.
#[track_caller]
fn found(proof: &'static str, wanted: &[&str]) {
    if lab_is_available(&[
        "openssl",
        "sfdisk",
        "cmp",
        "blockdev",
        "sg_persist",
        "sg_start",
        "sg_turs",
        "awk",
        "setpriv",
    ]) {
        findings(proof).expect(wanted);
    }
}

#[test]
fn offloaded_copies_are_used_and_reserved_disks_are_refused() {
    found("scsi-offload.sh", &OFFLOAD);
}

#[test]
fn provisioning_and_state_of_a_disk_are_respected_with_the_ring() {
    found("scsi-thin.sh ring", &[&THIN[..], &PROFILE].concat());
}

#[test]
fn provisioning_and_state_of_a_disk_are_respected_with_threads() {
    found("scsi-thin.sh threads", &[&THIN[..], &PROFILE].concat());
}
