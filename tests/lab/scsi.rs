//! Copies by SCSI commands on real drivers, in the lab: right, or their failure told; never wrong with status 0.
//!
//! The scripts judge with cmp, past every cache; here stands what they have to find.
use crate::guests::findings;
use crate::support::lab_is_there;

/// What the scripts use beside the lab's own tools.
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
    "file to sg leaves what lies behind",
    "pipe to sg",
    "sg to file",
    "sg to pipe",
    "file to sg from within a block on",
    "file to sg keeps what lies before",
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

const FAULTS: [&str; 36] = [
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
    "time-outs now and then",
    "aborted commands by sd too",
    "failed checks of what the host adds",
    "time-outs of the medium",
    "commands that the kernel aborts",
    "a queue that is full now and then",
    "a queue that is full now and then, by sd",
    "recovered errors by sd",
    "aborted commands of both sides by sd",
    "short transfers by sd",
    "failed guard checks by sd",
    "failed checks of what the host adds by sd",
    "a busy host by sd",
    "time-outs now and then by sd",
    "time-outs of the medium by sd",
    "commands that the kernel aborts by sd",
    "a source that is reset in mid-copy",
    "a source that is reset in mid-copy, by sd",
    "it was reset in mid-copy, the source",
    "a dest that is reset in mid-copy",
    "a dest that is reset in mid-copy, by sd",
    "it was reset in mid-copy, the dest",
    "no answer any more",
    "nobody waits for an answer",
    "a queue that is full",
];

const REMOVAL: [&str; 11] = [
    "source removed, by sg",
    "dest removed, by sg",
    "source removed, by sd",
    "dest removed, by sd",
    "nothing is left of a copy whose source was removed, by sg",
    "nothing is left of a copy whose source was removed, by sd",
    "nothing is left of copies whose disk was removed",
    "nor of the removed disks",
    "a dest that stood still",
    "it stood still in mid-copy",
    "a dest that stood still is right",
];

/// Of disks that are measured, in the guest of those that are removed.
const MEASURED: [&str; 17] = [
    "removed in mid-tune, by sd",
    "what was found before it was removed is told",
    "removed in mid-profile, by sg",
    "and programs are told",
    "removed in mid-tune --write, by sd",
    "programs are told what is not back after tune --write, by sd",
    "originals stay after tune --write, by sd",
    "a disk that is back has its bytes again after tune --write, by sd",
    "all of them after tune --write, by sd",
    "and nothing is kept any more after tune --write, by sd",
    "removed in mid-profile --write, by sg",
    "programs are told what is not back after profile --write, by sg",
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

/// Asks for what a script found.
#[track_caller]
fn found(proof: &'static str, wanted: &[&str]) {
    if lab_is_there(&TOOLS) {
        findings(proof).expect(wanted);
    }
}

#[test]
fn copies_between_sg_and_everything_else_are_right_with_the_ring() {
    let told = ["a copy in the driver is told", "no copy in the driver is told of"];
    found("scsi-copies.sh ring", &[&COPIES[..], &told].concat());
}

#[test]
fn copies_between_sg_and_everything_else_are_right_with_threads() {
    found("scsi-copies.sh threads", &COPIES);
}

#[test]
fn faults_of_a_disk_are_mended_or_told_with_the_ring() {
    found("scsi-faults.sh ring", &FAULTS);
}

#[test]
fn faults_of_a_disk_are_mended_or_told_with_threads() {
    found("scsi-faults.sh threads", &FAULTS);
}

#[test]
fn a_disk_that_goes_away_ends_the_copy_or_the_measuring_with_its_name_and_place_with_the_ring() {
    found("scsi-removal.sh ring", &[&REMOVAL[..], &MEASURED].concat());
}

#[test]
fn a_disk_that_goes_away_ends_the_copy_or_the_measuring_with_its_name_and_place_with_threads() {
    found("scsi-removal.sh threads", &[&REMOVAL[..], &MEASURED].concat());
}

#[test]
fn what_is_not_to_be_copied_is_refused_in_clear_words() {
    found("scsi-refusals.sh", &REFUSALS);
}

#[test]
fn read_buffer_is_measured_by_size_and_by_where_the_bytes_end_up() {
    if !lab_is_there(&["sg_rbuf"]) {
        return;
    }
    found(
        "scsi-read-buffer.sh",
        &[
            "the disk answers sg_rbuf",
            "the buffer's size is that which sg_rbuf tells",
            "each way has its table and its line",
            "beside it stands the formula of 2001",
            "what the driver copied all the same is told",
            "and that it copied nothing where it may do without",
            "sizes can be given by hand",
            "and no other command was given",
            "more than the buffer has is told",
            "the echo buffer is another",
            "which is read by modes of its own",
            "the whole profile has READ BUFFER in it, too",
            "a block device is told its node",
            "a disk without the command says so",
        ],
    );
}
