//! sg_dd and sgp_dd on failing media: the copied data, the counts and the status.
use crate::sg;
use crate::sg::haul_as;
use crate::support;
use crate::support::{FailingDisk, Fails, ScratchDir, memory_dir, noise};
use std::fs;
use std::ops::Range;

/// The kernel reads a file by pages: this much is lost for one bad byte.
const PAGE: usize = 4096;

struct Bed {
    disk: FailingDisk,
    dir: ScratchDir,
    bytes: Vec<u8>,
}

/// A disk of `len` bytes with a bad range.
fn bed(len: usize, fails: Fails, bad: Range<usize>) -> Option<Bed> {
    let (dir, bytes) = (memory_dir(), noise(len, 8));
    fs::write(dir.path().join("medium"), &bytes).expect("the file can be written");
    let bad = bad.start as u64..bad.end as u64;
    let disk = FailingDisk::over(dir.path(), &dir.path().join("medium"), fails, bad)?;
    Some(Bed { disk, dir, bytes })
}

#[test]
fn unreadable_blocks_become_zeros_and_the_rest_is_copied() {
    let len = 10 << 20;
    let bad = 5 << 20..(5 << 20) + 2 * PAGE;
    let Some(bed) = bed(len, Fails::Reads, bad.clone()) else { return };
    let name = bed.disk.path();
    let name = name.display();
    let mut expected = bed.bytes.clone();
    expected[bad.clone()].fill(0);
    // First by blocks and then by records after the bad range; only by records; with transfers of one block; sgp_dd.
    let lines = [
        ("sg_dd", "coe=1".to_owned()),
        ("sg_dd", "iflag=coe,nocache bpt=100".to_owned()),
        ("sg_dd", "conv=noerror bpt=1 skip=10200 count=100 seek=10200".to_owned()),
        ("sgp_dd", "coe=1 thr=3".to_owned()),
    ];
    for (front, words) in lines {
        let count = if words.contains("count") { 100 } else { len / 512 };
        let result = haul_as(front, &format!("if={name} of=out bs=512 {words}"), bed.dir.path());
        let counts = format!("{count}+0 records in\n{count}+0 records out\n16 unrecovered error(s)\n");
        result.assert_ended(
            0,
            &["block 10240, zeros instead: Input/output error", "block 10255, zeros instead", &counts],
        );
        let out = sg::read(bed.dir.path(), "out");
        assert_eq!(result.stderr.matches("zeros instead").count(), 16, "{words}");
        assert!(if count == 100 { out[10200 * 512..] == expected[10200 * 512..10300 * 512] } else { out == expected });
        fs::remove_file(bed.dir.path().join("out")).expect("it was created");
    }
}

#[test]
fn without_coe_the_first_bad_block_ends_and_coe_limit_bounds_their_number() {
    let Some(bed) = bed(10 << 20, Fails::Reads, 5 << 20..(5 << 20) + 2 * PAGE) else { return };
    let name = bed.disk.path();
    let name = name.display();
    let ended = ["reading, skip=10240 : Input/output error", "Some error occurred,  remaining block count=10240"];
    let line = format!("if={name} of=out bs=512");
    haul_as("sg_dd", &line, bed.dir.path()).assert_ended(99, &ended);
    assert!(sg::read(bed.dir.path(), "out") == bed.bytes[..5 << 20]);
    haul_as("sgp_dd", &line, bed.dir.path()).assert_ended(99, &ended);
    let limited = haul_as("sg_dd", &format!("{line} coe=1 coe_limit=5"), bed.dir.path());
    limited.assert_ended(
        3,
        &["more than 5 consecutive bad blocks", "remaining block count=10235", "5 unrecovered error(s)"],
    );
    haul_as("sg_dd", &format!("{line} coe=1 coe_limit=16"), bed.dir.path())
        .assert_ended(0, &["16 unrecovered error(s)"]);
}

#[test]
fn failed_transfers_are_retried_as_configured() {
    let Some(bed) = bed(1 << 20, Fails::Reads, 8192..8192 + PAGE) else { return };
    let name = bed.disk.path();
    let line = format!("if={} of=out bs=4096 bpt=1 retries=3", name.display());
    haul_as("sg_dd", &line, bed.dir.path()).assert_ended(99, &["3 retries attempted", "2+0 records in"]);
    let result = haul_as("sg_dd", &format!("{line} coe=1"), bed.dir.path());
    result.assert_ended(0, &["3 retries attempted\n1 unrecovered error(s)\n", "256+0 records out"]);
}

#[test]
fn write_errors_are_skipped_only_with_coe() {
    let bad = 1 << 20..(1 << 20) + 2 * PAGE;
    let Some(bed) = bed(3 << 20, Fails::Writes, bad.clone()) else { return };
    let name = bed.disk.path();
    let fresh = noise(3 << 20, 99);
    fs::write(bed.dir.path().join("in"), &fresh).expect("the file can be written");
    let line = format!("if=in of={} bs=4096", name.display());
    haul_as("sg_dd", &line, bed.dir.path()).assert_ended(99, &["Input/output error", "Some error occurred"]);
    let result = haul_as("sg_dd", &format!("{line} oflag=coe"), bed.dir.path());
    result.assert_ended(0, &["block 256, skipped: Input/output error", "768+0 records out\n2 unrecovered error(s)\n"]);
    let medium = sg::read(bed.dir.path(), "medium");
    assert!(medium[..bad.start] == fresh[..bad.start] && medium[bad.end..] == fresh[bad.end..]);
    assert!(medium[bad.clone()] == bed.bytes[bad]);
}

#[test]
fn the_fronts_recover_as_much_as_copy_with_records_of_one_block() {
    let Some(bed) = bed(10 << 20, Fails::Reads, 5 << 20..(5 << 20) + 3 * PAGE) else { return };
    let (disk, skip) = (bed.disk.path(), bed.dir.path().join("skip"));
    support::haul().args(["copy", "--no-journal", "--on-error", "skip"]).args([&disk, &skip]).assert().code(1);
    let name = disk.display();
    for (front, words) in [
        ("sg_dd", "bs=512 coe=1"),
        ("sgp_dd", "bs=4096 coe=1 thr=2"),
        ("dd", "bs=4096 conv=noerror,sync status=none"),
        ("dd", "bs=4096 conv=noerror,sync iflag=fullblock status=none"),
    ] {
        haul_as(front, &format!("if={name} of=out {words}"), bed.dir.path());
        let same = sg::read(bed.dir.path(), "out") == fs::read(&skip).expect("it was created");
        assert!(same, "{front} {words}: other bytes than copy --on-error skip");
        fs::remove_file(bed.dir.path().join("out")).expect("it was created");
    }
}
