//! sg_dd and sgp_dd on media that fail: what is saved, what is counted, with which status it ends.
use crate::sg;
use crate::sg::haul_as;
use crate::support;
use crate::support::{FailingDisk, Fails, Folder, memory_dir, noise};
use std::fs;
use std::ops::Range;

/// What the kernel reads of a file at least: as much as is lost where one byte is bad.
const PAGE: usize = 4096;

struct Bed {
    disk: FailingDisk,
    dir: Folder,
    bytes: Vec<u8>,
}

/// A disk of `len` bytes with a bad place.
fn bed(len: usize, fails: Fails, bad: Range<usize>) -> Option<Bed> {
    let (dir, bytes) = (memory_dir(), noise(len, 8));
    fs::write(dir.path().join("medium"), &bytes).expect("scratch takes files");
    let bad = bad.start as u64..bad.end as u64;
    let disk = FailingDisk::over(dir.path(), &dir.path().join("medium"), fails, bad)?;
    Some(Bed { disk, dir, bytes })
}

#[test]
fn what_cannot_be_read_becomes_zeros_and_the_rest_is_saved() {
    let len = 10 << 20;
    let bad = 5 << 20..(5 << 20) + 2 * PAGE;
    let Some(bed) = bed(len, Fails::Reads, bad.clone()) else { return };
    let name = bed.disk.path();
    let name = name.display();
    let mut expected = bed.bytes.clone();
    expected[bad.clone()].fill(0);
    // By blocks first and by records behind the bad place; by records only; with transfers of one block; sgp_dd.
    let lines = [
        ("sg_dd", "coe=1".to_owned()),
        ("sg_dd", "iflag=coe,nocache bpt=100".to_owned()),
        ("sg_dd", "conv=noerror bpt=1 skip=10200 count=100 seek=10200".to_owned()),
        ("sgp_dd", "coe=1 thr=3".to_owned()),
    ];
    for (front, words) in lines {
        let count = if words.contains("count") { 100 } else { len / 512 };
        let came = haul_as(front, &format!("if={name} of=out bs=512 {words}"), bed.dir.path());
        let counts = format!("{count}+0 records in\n{count}+0 records out\n16 unrecovered error(s)\n");
        came.says(0, &["block 10240, zeros instead: Input/output error", "block 10255, zeros instead", &counts]);
        let out = sg::read(bed.dir.path(), "out");
        assert_eq!(came.stderr.matches("zeros instead").count(), 16, "{words}");
        assert!(if count == 100 { out[10200 * 512..] == expected[10200 * 512..10300 * 512] } else { out == expected });
        fs::remove_file(bed.dir.path().join("out")).expect("it was made");
    }
}

#[test]
fn without_coe_the_first_bad_block_is_the_end_and_with_a_limit_the_last_that_is_allowed() {
    let Some(bed) = bed(10 << 20, Fails::Reads, 5 << 20..(5 << 20) + 2 * PAGE) else { return };
    let name = bed.disk.path();
    let name = name.display();
    let ended = ["reading, skip=10240 : Input/output error", "Some error occurred,  remaining block count=10240"];
    let line = format!("if={name} of=out bs=512");
    haul_as("sg_dd", &line, bed.dir.path()).says(99, &ended);
    assert!(sg::read(bed.dir.path(), "out") == bed.bytes[..5 << 20]);
    haul_as("sgp_dd", &line, bed.dir.path()).says(99, &ended);
    let limited = haul_as("sg_dd", &format!("{line} coe=1 coe_limit=5"), bed.dir.path());
    limited.says(3, &["more than 5 consecutive bad blocks", "remaining block count=10235", "5 unrecovered error(s)"]);
    haul_as("sg_dd", &format!("{line} coe=1 coe_limit=16"), bed.dir.path()).says(0, &["16 unrecovered error(s)"]);
}

#[test]
fn what_fails_is_tried_again_as_often_as_was_asked() {
    let Some(bed) = bed(1 << 20, Fails::Reads, 8192..8192 + PAGE) else { return };
    let name = bed.disk.path();
    let line = format!("if={} of=out bs=4096 bpt=1 retries=3", name.display());
    haul_as("sg_dd", &line, bed.dir.path()).says(99, &["3 retries attempted", "2+0 records in"]);
    let came = haul_as("sg_dd", &format!("{line} coe=1"), bed.dir.path());
    came.says(0, &["3 retries attempted\n1 unrecovered error(s)\n", "256+0 records out"]);
}

#[test]
fn what_cannot_be_written_is_passed_over_only_where_that_was_asked_for() {
    let bad = 1 << 20..(1 << 20) + 2 * PAGE;
    let Some(bed) = bed(3 << 20, Fails::Writes, bad.clone()) else { return };
    let name = bed.disk.path();
    let fresh = noise(3 << 20, 99);
    fs::write(bed.dir.path().join("in"), &fresh).expect("scratch takes files");
    let line = format!("if=in of={} bs=4096", name.display());
    haul_as("sg_dd", &line, bed.dir.path()).says(99, &["Input/output error", "Some error occurred"]);
    let came = haul_as("sg_dd", &format!("{line} oflag=coe"), bed.dir.path());
    came.says(0, &["block 256, skipped: Input/output error", "768+0 records out\n2 unrecovered error(s)\n"]);
    let medium = sg::read(bed.dir.path(), "medium");
    assert!(medium[..bad.start] == fresh[..bad.start] && medium[bad.end..] == fresh[bad.end..]);
    assert!(medium[bad.clone()] == bed.bytes[bad]);
}

#[test]
fn the_fronts_save_what_copy_saves_where_their_records_are_what_can_be_lost() {
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
        let same = sg::read(bed.dir.path(), "out") == fs::read(&skip).expect("it was made");
        assert!(same, "{front} {words}: other bytes than copy --on-error skip");
        fs::remove_file(bed.dir.path().join("out")).expect("it was made");
    }
}
