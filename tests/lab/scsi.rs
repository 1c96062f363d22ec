//! Copies by SCSI commands on real drivers, in the lab: correct, or the failure is reported; never wrong with status
//! 0.
//!
//! The scripts compare with cmp, bypassing all caches; this file lists the required findings.
use crate::guests::findings;
use crate::support::lab_is_available;

/// Programs that the scripts need besides those of the lab.
const TOOLS: [&str; 8] = ["openssl", "sfdisk", "mkfs.ext4", "dmsetup", "cmp", "blockdev", "sg_reset", "wipefs"];

const COPIES: [&str; 38] = [
    "sg to sg",
    "sg to sd",
    "sd to sg",
    "sd to sd, passed through",
    "sd to sd, the dest passed through",
    "sd to sd, the source not passed through",
    "null_blk to sg",
    "sg to null_blk",
    "sg to sg, read back",
    "sg to sg, only what differs",
    "sg to sg, the driver may do without a copy",
    "file to sg",
    "file to sg keeps the bytes behind",
    "pipe to sg",
    "sg to file",
    "sg to pipe",
    "file to sg from within a block on",
    "file to sg keeps the bytes before",
    "sg to file from within a block on",
    "file with holes to sg",
    "what was only in the cache of the source is copied",
    "a partition keeps to its place",
    "more than a partition holds is refused",
    "a disk with a mounted part is refused by its node",
    "to a disk without a block device",
    "a disk without a block device onto itself",
    "a disk without a block device has the bytes",
    "sg to sg in blocks of 4096",
    "file to sg in blocks of 4096",
    "sg to file in blocks of 4096",
    "written 3298534883328 bytes into 4 TiB",
    "written 3298534883328 bytes into 4 TiB and nowhere else",
    "read 3298534883328 bytes into 4 TiB",
    "written 2199021255168 bytes into 4 TiB",
    "written 2199021255168 bytes into 4 TiB and nowhere else",
    "read 2199021255168 bytes into 4 TiB",
    "file with holes to a disk that zeroes by itself",
    "a disk that keeps nothing is found by --verify",
];

const FAULTS: [&str; 40] = [
    "medium error by sg",
    "medium error by sd",
    "up to the medium error by sg",
    "behind the medium error by sg",
    "medium error without its place by sg",
    "dm-error",
    "recovered errors",
    "aborted commands",
    "short transfers",
    "failed guard checks",
    "a busy host",
    "occasional time-outs",
    "aborted commands by sd too",
    "failed checks of what the host adds",
    "time-outs of the medium",
    "commands that the kernel aborts",
    "time-outs in a rescue",
    "time-outs in a rescue are bad sectors",
    "a rescue after time-outs",
    "a rescue after time-outs, all of it",
    "a queue that is full occasionally",
    "a queue that is full occasionally, by sd",
    "recovered errors by sd",
    "aborted commands of both sides by sd",
    "short transfers by sd",
    "failed guard checks by sd",
    "failed checks of what the host adds by sd",
    "a busy host by sd",
    "occasional time-outs by sd",
    "time-outs of the medium by sd",
    "commands that the kernel aborts by sd",
    "a source that is reset in mid-copy",
    "a source that is reset in mid-copy, by sd",
    "it was reset in mid-copy, the source",
    "a dest that is reset in mid-copy",
    "a dest that is reset in mid-copy, by sd",
    "it was reset in mid-copy, the dest",
    "no answer any more",
    "no process waits for an answer",
    "a queue that is full",
];

const REMOVAL: [&str; 24] = [
    "source removed, by sg",
    "dest removed, by sg",
    "source removed, by sd",
    "dest removed, by sd",
    "nothing is left of a copy whose source was removed, by sg",
    "nothing is left of a copy whose source was removed, by sd",
    "nothing is left of copies whose disk was removed",
    "nor of the removed disks",
    "a rescue waits for its source, by sd",
    "it was lost in mid-rescue, by sd",
    "a rescue that waited is right, by sd",
    "a rescue waits for its source, by sg",
    "it was lost in mid-rescue, by sg",
    "a rescue that waited is right, by sg",
    "a signal ends the waiting for a disk, with a report",
    "nothing is created before the user agrees",
    "a rescue to a disk needs no map",
    "a rescue to a disk is right",
    "the map of a disk is not continued unnamed",
    "the map of a disk is continued by name",
    "another source is refused by the identity in the map",
    "a dest that stood still",
    "it stood still in mid-copy",
    "a dest that stood still is right",
];

/// Findings about measured disks, in the guest of those that are removed.
const MEASURED: [&str; 17] = [
    "removed in mid-tune, by sd",
    "results before the removal are printed",
    "removed in mid-profile, by sg",
    "and the JSON has them",
    "removed in mid-tune --write, by sd",
    "the JSON has what is not restored after tune --write, by sd",
    "originals stay after tune --write, by sd",
    "a disk that is back has its bytes again after tune --write, by sd",
    "all of them after tune --write, by sd",
    "and nothing is kept any more after tune --write, by sd",
    "removed in mid-profile --write, by sg",
    "the JSON has what is not restored after profile --write, by sg",
    "originals stay after profile --write, by sg",
    "a disk that is back has its bytes again after profile --write, by sg",
    "all of them after profile --write, by sg",
    "and nothing is kept any more after profile --write, by sg",
    "nothing is left of runs whose disk was removed",
];

const REFUSALS: [&str; 13] = [
    "a tape drive",
    "a tape drive as source",
    "an enclosure",
    "a write-protected medium",
    "a write-protected medium and --delta",
    "a write-protected medium can be read",
    "protection information that would be lost",
    "nothing that takes commands",
    "commands and the page cache",
    "a disk and its own node",
    "another disk than the one expected",
    "an empty drive",
    "the list names the nodes",
];

/// Checks the findings of a script.
#[track_caller]
fn found(proof: &'static str, wanted: &[&str]) {
    if lab_is_available(&TOOLS) {
        findings(proof).expect(wanted);
    }
}

#[test]
fn copies_between_sg_and_everything_else_are_right_with_the_ring() {
    let reported = ["a copy in the driver is reported", "no copy in the driver is reported"];
    found("scsi-copies.sh ring", &[&COPIES[..], &reported].concat());
}

#[test]
fn copies_between_sg_and_everything_else_are_right_with_threads() {
    found("scsi-copies.sh threads", &COPIES);
}

#[test]
fn faults_of_a_disk_are_retried_or_reported_with_the_ring() {
    found("scsi-faults.sh ring", &FAULTS);
}

#[test]
fn faults_of_a_disk_are_retried_or_reported_with_threads() {
    found("scsi-faults.sh threads", &FAULTS);
}

#[test]
fn a_removed_disk_ends_a_run_with_its_name_and_offset_with_the_ring() {
    found("scsi-removal.sh ring", &[&REMOVAL[..], &MEASURED].concat());
}

#[test]
fn a_removed_disk_ends_a_run_with_its_name_and_offset_with_threads() {
    found("scsi-removal.sh threads", &[&REMOVAL[..], &MEASURED].concat());
}

#[test]
fn copies_that_must_not_begin_are_refused_with_the_reason() {
    found("scsi-refusals.sh", &REFUSALS);
}

#[test]
fn read_buffer_is_measured_by_size_and_by_destination_memory() {
    if !lab_is_available(&["sg_rbuf"]) {
        return;
    }
    found(
        "scsi-read-buffer.sh",
        &[
            "the disk answers sg_rbuf",
            "the buffer's size is that of sg_rbuf",
            "each way has its table and its line",
            "beside it stands the formula of 2001",
            "bytes that the driver copied anyway are reported",
            "and that it copied nothing where it may do without",
            "sizes can be given by hand",
            "and no other command was given",
            "a size beyond the buffer is reported",
            "the echo buffer is another",
            "which is read by modes of its own",
            "the whole profile has READ BUFFER in it, too",
            "for a block device its node is named",
            "a disk without the command is reported",
        ],
    );
}
