//! `haul copy --delta`: only what differs is written.
use crate::support::{
    LoopDevice, cmp, cmp_ranges, engines, haul, haul_limited, in_one_line, memory_dir, name, noise, run_in_shell,
    scratch, stderr, write_noise,
};
use serde_json::Value;
use std::fs;

const MIB: usize = 1 << 20;
const PIECE: usize = 64 << 10;

fn copy(words: &[&str], stdin: &[u8]) -> Value {
    let given = ["copy", "--delta", "--yes", "--json", "--progress", "none"];
    let output = haul().args(given).args(words).write_stdin(stdin).output().expect("haul runs");
    assert!(output.status.success(), "{words:?}: {}", in_one_line(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("the report is JSON")
}

fn bytes(report: &Value, which: &str) -> usize {
    report["bytes"][which].as_u64().expect("it is a number") as usize
}

#[test]
fn a_nearly_equal_dest_becomes_equal_with_few_writes() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let content = write_noise(&source, 5 * MIB + 123, 61);
    for engine in engines() {
        let mut old = content.clone();
        for at in [7, 2 * MIB + 5, content.len() - 1] {
            old[at] ^= 1;
        }
        fs::write(&dest, &old).expect("the file can be written");
        let report = copy(&["--engine", engine, "--hash", "blake3", name(&source), name(&dest)], b"");
        cmp(&source, &dest);
        let written = bytes(&report, "written_bytes");
        assert!(written > 0 && written <= 3 * PIECE, "{engine}: {report}");
        assert_eq!(bytes(&report, "unchanged_bytes"), content.len() - written, "{engine}");
        assert_eq!(report["digests"][0]["hex"], blake3::hash(&content).to_hex().to_string(), "{engine}");
        let report = copy(&["--engine", engine, "--verify", name(&source), name(&dest)], b"");
        assert_eq!((bytes(&report, "written_bytes"), &report["verified"]["right"]), (0, &true.into()), "{engine}");
    }
}

#[test]
fn a_dest_of_another_length_gets_the_length_of_the_source() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let content = write_noise(&source, 2 * MIB + 77, 62);
    let longer = [&content[..], &noise(100_000, 1)].concat();
    for old in [&content[..MIB + 5], &longer[..], &[]] {
        fs::write(&dest, old).expect("the file can be written");
        let report = copy(&[name(&source), name(&dest)], b"");
        cmp(&source, &dest);
        let same = old.len().min(content.len());
        assert!(bytes(&report, "unchanged_bytes") + PIECE > same, "{report}");
        fs::write(&dest, old).expect("the file can be written");
        copy(&["-", name(&dest)], &content);
        cmp(&source, &dest);
    }
    fs::remove_file(&dest).expect("it exists");
    let report = copy(&[name(&source), name(&dest)], b"");
    cmp(&source, &dest);
    assert_eq!(bytes(&report, "unchanged_bytes"), 0);
}

#[test]
fn holes_of_the_source_overwrite_data_of_the_dest_with_zeros() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let mut content = noise(MIB, 63);
    content.resize(9 * MIB, 0);
    content.extend(noise(MIB, 64));
    fs::write(&source, &content[..MIB]).expect("the file can be written");
    let file = fs::OpenOptions::new().write(true).open(&source).expect("it exists");
    file.set_len(10 * MIB as u64).expect("it can grow");
    std::os::unix::fs::FileExt::write_all_at(&file, &content[9 * MIB..], 9 * MIB as u64)
        .expect("there is enough space");
    for sparse in ["auto", "always", "never"] {
        let mut old = content.clone();
        old[5 * MIB + 9] = 1;
        old[9 * MIB + 9] ^= 1;
        fs::write(&dest, &old).expect("the file can be written");
        let report = copy(&["--sparse", sparse, name(&source), name(&dest)], b"");
        cmp(&source, &dest);
        assert!(bytes(&report, "unchanged_bytes") >= 10 * MIB - 4 * PIECE, "{sparse}: {report}");
    }
}

#[test]
fn a_disk_is_changed_only_where_it_differs() {
    let dir = memory_dir();
    let (image, backing) = (dir.path().join("image"), dir.path().join("disk"));
    let content = write_noise(&image, 4 * MIB + 512, 65);
    let mut old = noise(8 * MIB, 66);
    old[4096..4096 + content.len()].copy_from_slice(&content);
    old[4096 + MIB] ^= 1;
    for engine in engines() {
        fs::write(&backing, &old).expect("the file can be written");
        let Some(disk) = LoopDevice::over(&backing) else { return };
        let report = copy(&["--engine", engine, "--seek", "4096", "--verify", name(&image), name(disk.path())], b"");
        assert_eq!(bytes(&report, "written_bytes"), PIECE, "{engine}: {report}");
        assert_eq!(report["dest"]["cache"], "direct");
        cmp_ranges(&image, 0, disk.path(), 4096, content.len() as u64);
    }
}

#[test]
fn the_plan_and_the_report_have_the_bytes_to_write_and_written() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let content = write_noise(&source, 3 * MIB, 67);
    let mut old = content.clone();
    old[MIB] ^= 1;
    fs::write(&dest, &old).expect("the file can be written");
    let assert = haul().args(["copy", "--delta", "-n", name(&source), name(&dest)]).assert().success();
    let plan = in_one_line(&assert.get_output().stdout);
    assert!(plan.contains("write only what differs, in pieces of 64 KiB"), "{plan}");
    assert_eq!(fs::read(&dest).expect("it exists"), old);
    let assert = haul().args(["copy", "--delta", name(&source), name(&dest)]).assert().success();
    let messages = stderr(&assert);
    assert!(messages.contains("durable, wrote 65.5 kB of it; the rest was already identical"), "{messages}");
    for words in [vec!["copy", "--delta", name(&source), "-"], vec!["copy", "--delta", name(&source), "/dev/null"]] {
        let assert = haul().args(&words).assert().code(2);
        assert!(stderr(&assert).contains("cannot be compared"), "{}", stderr(&assert));
    }
}

#[test]
fn the_resume_command_truncates_a_longer_dest() {
    let dir = memory_dir();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, MIB, 68);
    // No journal is kept for files in memory. A limit of the file size simulates a full disk.
    write_noise(&dest, MIB + 70_001, 69);
    let words = ["copy", "--delta", "--json", "--progress", "none", name(&source), name(&dest)];
    let output = haul_limited("--fsize=300000").args(words).output().expect("util-linux is installed");
    assert_eq!(output.status.code(), Some(1), "{}", in_one_line(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
    run_in_shell(report["continue_command"].as_str().expect("it can be continued"));
    cmp(&source, &dest);
}
