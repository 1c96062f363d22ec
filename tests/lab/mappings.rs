//! Device-mapper below a copy, in the lab: comparing detects disks that corrupt data silently, errors have their
//! offset, and haul waits for suspended devices.
use crate::guests::findings;
use crate::support::lab_is_available;

const MAPPINGS: [&str; 27] = [
    "a copy to a disk that drops what is written ends well",
    "verify finds that nothing was written",
    "cmp finds it too",
    "copy --verify finds it by itself",
    "copy --delta --verify finds the one piece of it",
    "a copy to a disk that changes what is written ends well",
    "verify finds the byte that was changed",
    "cmp finds that byte too",
    "copy --verify finds it by itself, too",
    "verify finds a byte that is changed as it is read",
    "copy --verify finds a byte that is changed as it is read back",
    "and what is there is right",
    "a disk that takes no writes",
    "a hole in the source",
    "a hole in the dest",
    "the bytes before it are copied",
    "a slow dest",
    "a slow source",
    "a slow source is read right",
    "a dest that stood still",
    "the copy waited for the dest",
    "a dest that became bad",
    "a source that stood still",
    "a source that stood still was read right",
    "the copy waited for the source",
    "a source that became bad",
    "nothing is left of the copies",
];

#[track_caller]
fn found(proof: &'static str) {
    if lab_is_available(&["openssl", "dmsetup", "cmp", "blockdev"]) {
        findings(proof).expect(&MAPPINGS);
    }
}

#[test]
fn faulty_and_stalled_mappings_are_reported_with_the_ring() {
    found("mappings.sh ring");
}

#[test]
fn faulty_and_stalled_mappings_are_reported_with_threads() {
    found("mappings.sh threads");
}
