//! `haul pattern`: written patterns are clean, each damage has its kind and offset, and no data is overwritten
//! by mistake.
use crate::support::{
    FailingDisk, Fails, LoopDevice, Running, engines, haul, in_one_line, memory_dir, name, noise, scratch, stderr,
    stderr_lines, with_haul_in_path,
};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::FileExt;
use std::process::{Command, Stdio};

const MIB: usize = 1 << 20;
const BLOCK: usize = 4096;

/// The report of `haul pattern … --json`, and the status.
fn pattern(words: &[&str]) -> (Value, i32) {
    let output = haul().arg("pattern").args(words).args(["--json", "--progress", "none"]).output().expect("haul runs");
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}\n{}", in_one_line(&output.stdout), in_one_line(&output.stderr)));
    (report, output.status.code().expect("no signal ended it"))
}

/// Kind, offset and length of each run that was found.
fn runs(report: &Value) -> Vec<(String, u64, u64)> {
    let text = |value: &Value| value.as_str().expect("a word").to_owned();
    let number = |value: &Value| value.as_u64().expect("a number");
    let run = |run: &Value| (text(&run["kind"]), number(&run["offset_bytes"]), number(&run["len_bytes"]));
    report["damage"]["runs"].as_array().expect("a list").iter().map(run).collect()
}

#[test]
fn a_pattern_in_a_file_is_clean_with_every_engine() {
    let dir = scratch();
    let file = dir.path().join("pattern");
    for engine in engines() {
        let (report, status) = pattern(&["write", "--engine", engine, "--count", "5M", name(&file)]);
        assert_eq!((status, &report["report"]), (0, &"pattern write".into()), "{engine}: {report}");
        assert_eq!(report["durable"], true);
        let run = report["pattern"]["run"].as_u64().expect("the run is reported");
        let (report, status) = pattern(&["check", "--engine", engine, name(&file)]);
        assert_eq!((status, &report["damage"]["clean"]), (0, &true.into()), "{engine}: {report}");
        assert_eq!(report["pattern"]["run"], run, "{engine}: the run is found on the disk");
        assert_eq!(report["damage"]["checked_bytes"], 5 * MIB, "{engine}");
        // It was just written: reads could come from the page cache.
        let warned = report["warnings"].to_string().contains("page cache");
        assert!(warned != (report["source"]["cache"] == "direct"), "{engine}: {report}");
        assert_eq!(report["source"]["requests"], report["dest"]["requests"], "{engine}");
    }
}

#[test]
fn each_damage_is_named_with_its_offset() {
    let dir = scratch();
    let file = dir.path().join("pattern");
    let words = ["write", "--count", "3M", "--run", "7", name(&file)];
    pattern(&words);
    let old = fs::read(&file).expect("it was written");
    pattern(&["write", "--count", "3M", "--run", "8", name(&file)]);
    let new = fs::read(&file).expect("it was written");
    let disk = fs::File::options().write(true).open(&file).expect("it exists");
    let put = |bytes: &[u8], block: usize| disk.write_all_at(bytes, (block * BLOCK) as u64).expect("it accepts bytes");
    let block = |bytes: &[u8], number: usize| bytes[number * BLOCK..(number + 1) * BLOCK].to_vec();
    put(&block(&new, 20), 10);
    put(&block(&new, 10), 20);
    put(&block(&new, 31), 30);
    put(&old[40 * BLOCK..42 * BLOCK], 40);
    put(&[&new[50 * BLOCK..50 * BLOCK + 1024], &old[50 * BLOCK + 1024..51 * BLOCK]].concat(), 50);
    put(&[0; 3 * BLOCK], 60);
    put(&noise(BLOCK, 5), 70);
    let mut flipped = block(&new, 767);
    (flipped[100], flipped[4095]) = (flipped[100] ^ 1, flipped[4095] ^ 0x80);
    put(&flipped, 767);

    let (report, status) = pattern(&["check", name(&file)]);
    assert_eq!(status, 1, "{report}");
    let run =
        |kind: &str, block: usize, count: usize| (kind.to_owned(), (block * BLOCK) as u64, (count * BLOCK) as u64);
    let expected = [
        run("swapped", 10, 1),
        run("swapped", 20, 1),
        run("misplaced", 30, 1),
        run("stale", 40, 2),
        run("torn", 50, 1),
        run("zero", 60, 3),
        run("foreign", 70, 1),
        run("flipped", 767, 1),
    ];
    assert_eq!(runs(&report), expected);
    let found = &report["damage"]["runs"];
    assert_eq!(found[0]["belongs_at_bytes"], 20 * BLOCK);
    assert_eq!(found[2]["belongs_at_bytes"], 31 * BLOCK);
    assert_eq!(found[3]["run"], 7);
    assert_eq!(found[4]["first_offset_bytes"], 50 * BLOCK + 1024);
    assert_eq!(found[7]["first_offset_bytes"], 767 * BLOCK + 100);
    assert_eq!((&found[7]["bits"], &report["damage"]["damaged_blocks"]), (&2.into(), &11.into()));

    let messages = stderr_lines(&haul().args(["pattern", "check", name(&file)]).assert().code(1));
    let flipped_row = "flipped    1 block, 2 wrong bits: 3141632+4096 from byte 3141732";
    for row in ["damaged: 11 of 768 blocks,", "stale      2 blocks: 163840+8192 of run 7", flipped_row] {
        assert!(messages.contains(row), "no {row:?} in\n{messages}");
    }
    // Compared with the other run, everything else belongs to the newer one.
    let (report, _) = pattern(&["check", "--run", "7", name(&file)]);
    assert_eq!(report["damage"]["blocks"]["stale"], 758, "{report}");
}

#[test]
fn a_disk_is_filled_to_its_end_and_checked_past_the_page_cache() {
    let dir = memory_dir();
    let backing = dir.path().join("disk");
    fs::write(&backing, noise(8 * MIB + 512, 9)).expect("the directory in memory is writable");
    let Some(disk) = LoopDevice::over(&backing) else { return };
    let device = name(disk.path());
    let refused = haul().args(["pattern", "write", device]).assert().code(3);
    assert!(stderr(&refused).contains("no terminal to confirm"), "{}", stderr(&refused));
    assert_eq!(fs::read(&backing).expect("it exists"), noise(8 * MIB + 512, 9), "refused, and yet written");
    let size = format!("size={}", 8 * MIB);
    let refused = haul().args(["pattern", "write", "--yes", "--expect", &size, device]).assert().code(3);
    assert!(stderr(&refused).contains("not the expected device"), "{}", stderr(&refused));

    let (report, status) = pattern(&["write", "--yes", device]);
    assert_eq!(status, 0, "{report}");
    assert_eq!(report["bytes"]["written_bytes"], 8 * MIB + 512);
    assert_eq!(report["pattern"]["block_bytes"], 512, "each sector has a mark of its own");
    let (report, status) = pattern(&["check", device]);
    assert_eq!((status, &report["damage"]["checked_bytes"]), (0, &(8 * MIB + 512).into()), "{report}");
    assert_eq!(report["source"]["cache"], "direct");
    // Bypassing the device's page cache: haul must check the disk.
    let file = fs::File::options().write(true).open(&backing).expect("it exists");
    file.write_all_at(&[1, 2, 3], 5 * MIB as u64 + 700).expect("it accepts bytes");
    file.sync_all().expect("it is in memory");
    let (report, status) = pattern(&["check", device]);
    assert_eq!((status, runs(&report)), (1, vec![("flipped".to_owned(), 5 * MIB as u64 + 512, 512)]), "{report}");
}

#[test]
fn a_range_is_written_and_checked_by_its_addresses_on_the_disk() {
    let dir = scratch();
    let file = dir.path().join("image");
    fs::write(&file, noise(2 * MIB, 11)).expect("the file can be written");
    let (report, status) = pattern(&["write", "--seek", "1536", "--count", "1M", "--run", "3", name(&file)]);
    assert_eq!((status, &report["pattern"]["block_bytes"]), (0, &512.into()), "{report}");
    let bytes = fs::read(&file).expect("it exists");
    let before = noise(2 * MIB, 11);
    assert!(bytes[..1536] == before[..1536] && bytes[MIB + 1536..] == before[MIB + 1536..], "the rest stays");
    let (report, status) = pattern(&["check", "--seek", "1536", "--count", "1M", name(&file)]);
    assert_eq!((status, &report["damage"]["checked_bytes"]), (0, &MIB.into()), "{report}");
    let (report, status) = pattern(&["check", "--count", "4k", "--seek", &(MIB - 4096).to_string(), name(&file)]);
    assert_eq!(status, 0, "{report}");
    let (report, status) = pattern(&["check", name(&file)]);
    let behind = ("foreign".to_owned(), (MIB + 1536) as u64, (MIB - 1536) as u64);
    assert_eq!((status, runs(&report)), (1, vec![("foreign".to_owned(), 0, 1536), behind]), "{report}");
    assert_eq!(report["damage"]["nothing_from_bytes"], MIB + 1536);
}

#[test]
fn the_unaligned_end_of_a_file_is_kept() {
    let dir = scratch();
    let file = dir.path().join("image");
    fs::write(&file, noise(MIB + 700, 12)).expect("the file can be written");
    let (report, status) = pattern(&["write", name(&file)]);
    assert_eq!((status, &report["bytes"]["written_bytes"]), (0, &(MIB + 512).into()), "{report}");
    let bytes = fs::read(&file).expect("it exists");
    assert_eq!(bytes[MIB + 512..], noise(MIB + 700, 12)[MIB + 512..]);
    let (report, status) = pattern(&["check", name(&file)]);
    assert_eq!((status, &report["damage"]["checked_bytes"]), (0, &(MIB + 512).into()), "{report}");
}

#[test]
fn the_printed_check_command_works() {
    let dir = scratch();
    let file = dir.path().join("a pattern");
    let messages = stderr_lines(&haul().args(["pattern", "write", "--count", "2M", name(&file)]).assert().success());
    let line =
        messages.lines().skip_while(|line| *line != "To check it:").nth(1).unwrap_or_else(|| panic!("{messages}"));
    let status = Command::new("sh").args(["-c", line]).env("PATH", with_haul_in_path()).stderr(Stdio::null()).status();
    assert!(status.expect("a shell runs").success(), "{line}");
}

#[test]
fn an_interrupted_pattern_write_is_continued_at_its_offset() {
    let dir = scratch();
    let file = dir.path().join("pattern");
    fs::write(&file, vec![0; 64 * MIB]).expect("the file can be written");
    let words = ["pattern", "write", "--limit", "20M", "--progress", "plain", name(&file)];
    let mut running = Running::start(&words, Stdio::null(), Stdio::null());
    running.wait_for_handler(libc::SIGINT);
    running.read_until(|line| line.contains("MB"));
    running.signal(Signal::INT);
    running.end_by(libc::SIGINT);
    let messages = running.messages.clone();
    let command = messages
        .lines()
        .skip_while(|line| *line != "To write the rest:")
        .nth(1)
        .unwrap_or_else(|| panic!("{messages}"));
    let command = command.replace("--limit 20M", "");
    let status =
        Command::new("sh").args(["-c", &command]).env("PATH", with_haul_in_path()).stderr(Stdio::null()).status();
    assert!(status.expect("a shell runs").success(), "{command}");
    let (report, status) = pattern(&["check", name(&file)]);
    assert_eq!((status, &report["damage"]["checked_bytes"]), (0, &(64 * MIB).into()), "{report}");
}

#[test]
fn invalid_options_are_refused_and_no_file_is_created() {
    let dir = scratch();
    let (file, existing) = (dir.path().join("new"), dir.path().join("there"));
    fs::write(&existing, noise(MIB, 13)).expect("the file can be written");
    let cases: [(&[&str], i32, &str); 9] = [
        (&["write", name(&file)], 2, "--count"),
        (&["write", "--count", "1000", name(&file)], 2, "512 or 1024"),
        (&["write", "--count", "4k", "--seek", "100", name(&file)], 2, "512"),
        (&["write", "/dev/null"], 2, "a file or a device"),
        (&["write", "/dev/haul-no-such-disk"], 3, "no such device"),
        (&["write", "--block-size", "1536", name(&existing)], 2, "4096"),
        (&["check", name(&file)], 1, "No such file"),
        (&["check", name(&existing)], 1, "no test pattern"),
        (&["check", "--seek", "2M", name(&existing)], 2, "smaller --seek"),
    ];
    for (words, status, messages) in cases {
        let assert = haul().arg("pattern").args(words).assert().code(status);
        assert!(stderr(&assert).contains(messages), "{words:?}: no {messages:?} in {}", stderr(&assert));
    }
    assert!(!file.exists());
    assert_eq!(fs::read(&existing).expect("it exists"), noise(MIB, 13));
    // With --run, everything is compared with that run.
    let (report, status) = pattern(&["check", "--run", "5", name(&existing)]);
    assert_eq!((status, &report["damage"]["blocks"]["foreign"]), (1, &256.into()), "{report}");
}

#[test]
fn a_dry_run_writes_nothing_and_prints_the_run_number() {
    let dir = scratch();
    let file = dir.path().join("there");
    fs::write(&file, noise(MIB, 14)).expect("the file can be written");
    let (report, status) = pattern(&["write", "-n", "--run", "9", name(&file)]);
    assert_eq!((status, &report["report"]), (0, &"plan".into()), "{report}");
    assert_eq!(report["pattern"]["run"], 9);
    assert_eq!(report["source"]["kind"], "pattern");
    assert_eq!(fs::read(&file).expect("it exists"), noise(MIB, 14));
}

#[test]
fn unreadable_sectors_are_listed_and_the_rest_is_checked() {
    let dir = memory_dir();
    let backing = dir.path().join("disk");
    fs::write(&backing, vec![0; 4 * MIB]).expect("the directory in memory is writable");
    pattern(&["write", name(&backing)]);
    let file = fs::File::options().write(true).open(&backing).expect("it exists");
    file.write_all_at(&[9; 3], 3 * MIB as u64).expect("it accepts bytes");
    let bad = MIB as u64..MIB as u64 + 4096;
    for engine in engines() {
        let Some(disk) = FailingDisk::over(dir.path(), &backing, Fails::Reads, bad.clone()) else { return };
        let (report, status) = pattern(&["check", "--engine", engine, name(&disk.path())]);
        assert_eq!((status, &report["status"]), (1, &"complete".into()), "{engine}: {report}");
        assert_eq!(report["unread_sectors"], 8, "{engine}: {report}");
        assert_eq!(report["damage"]["checked_bytes"], 4 * MIB - 4096, "{engine}");
        assert_eq!(runs(&report), [("flipped".to_owned(), 3 * MIB as u64, 4096)], "{engine}: {report}");
        assert_eq!(report["damage"]["damaged_blocks"], 1, "{engine}: {report}");
    }
}
