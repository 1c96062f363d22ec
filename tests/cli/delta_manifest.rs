//! `haul copy --delta=MANIFEST`: a manifest describes the dest, which is not read.
use crate::support;
use crate::support::{LoopDevice, ScratchDir, cmp, haul, in_one_line, memory_dir, name, scratch, stderr, write_noise};
use assert_cmd::Command;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

const BLOCK: usize = 64 << 10;

/// A source, its copy, and the manifest of the copy.
struct Copied {
    dir: ScratchDir,
    source: PathBuf,
    dest: PathBuf,
    manifest: PathBuf,
}

impl Copied {
    fn new(len: usize, seed: u64) -> Self {
        let dir = scratch();
        let [source, dest, manifest] = ["source", "dest", "first.manifest"].map(|name| dir.path().join(name));
        write_noise(&source, len, seed);
        let words = ["copy", "--manifest-block", "64K", "--manifest", name(&manifest), name(&source), name(&dest)];
        haul().args(words).assert().success();
        Copied { dir, source, dest, manifest }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = haul();
        command.env("XDG_STATE_HOME", self.dir.path().join("state"));
        command.args(["copy", "--json", "--progress", "none"]).arg(format!("--delta={}", name(&self.manifest)));
        command.args(words).args([name(&self.source), name(&self.dest)]);
        command
    }

    fn copy(&self, words: &[&str]) -> Value {
        let output = self.command(words).output().expect("haul runs");
        assert!(output.status.success(), "{words:?}: {}", in_one_line(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("the report is JSON")
    }

    /// Changes a byte of the source in each of these blocks.
    fn change(&self, blocks: &[usize]) {
        let mut content = fs::read(&self.source).expect("it exists");
        blocks.iter().for_each(|block| content[block * BLOCK + 77] ^= 1);
        fs::write(&self.source, content).expect("it can be written");
    }

    /// The journal of an interrupted run.
    fn journal(&self) -> PathBuf {
        self.dir.path().join(".dest.haul-journal")
    }
}

/// Writes in place, so that the inode stays the same.
fn write_at(path: &Path, content: &[u8], at: usize) {
    let file = fs::OpenOptions::new().write(true).open(path).expect("it exists");
    file.write_all_at(content, at as u64).expect("it can be written");
}

fn bytes(report: &Value, which: &str) -> usize {
    report["bytes"][which].as_u64().expect("it is a number") as usize
}

#[test]
fn only_blocks_that_differ_from_the_manifest_are_written_and_it_is_updated() {
    for words in [&[][..], &["--engine", "threads"], &["--verify"]] {
        let copied = Copied::new(40 * BLOCK + 123, 71);
        copied.change(&[0, 7, 8, 39]);
        let report = copied.copy(words);
        cmp(&copied.source, &copied.dest);
        assert_eq!(bytes(&report, "written_bytes"), 4 * BLOCK, "{words:?}: {report}");
        assert_eq!(bytes(&report, "unchanged_bytes"), 36 * BLOCK + 123, "{words:?}");
        assert_eq!(bytes(&report, "copied_bytes"), 40 * BLOCK + 123, "{words:?}");
        assert!(!copied.journal().exists(), "{words:?}");
        haul().args(["verify", "--manifest", name(&copied.manifest), name(&copied.dest)]).assert().success();
        if words == ["--verify"] {
            assert_eq!(report["verified"]["right"], true);
        }
        // Another update: data that was changed back counts as changed.
        copied.change(&[7, 20]);
        assert_eq!(bytes(&copied.copy(&[]), "written_bytes"), 2 * BLOCK);
        cmp(&copied.source, &copied.dest);
    }
}

#[test]
fn time_and_rate_include_the_first_read_of_the_source() {
    let copied = Copied::new(32 * BLOCK, 78);
    let report = copied.copy(&["--limit", "4M"]);
    assert_eq!(bytes(&report, "written_bytes"), 0, "{report}");
    // The limit applies to the read of the source, too, so that 2 MiB cannot take less time.
    let (elapsed_s, waited_s) = (report["elapsed_s"].as_f64(), report["limit_waited_s"].as_f64());
    assert!(elapsed_s.is_some_and(|elapsed_s| elapsed_s > 0.3), "{elapsed_s:?}");
    assert!(waited_s.is_some_and(|waited_s| waited_s > 0.2), "{waited_s:?}");
    let rate = report["rates"]["copied_bytes_per_s"].as_u64();
    assert!(rate.is_some_and(|rate| rate < 8 << 20), "{rate:?}");
}

#[test]
fn the_dest_is_hardly_read() {
    let copied = Copied::new(400 * BLOCK, 72);
    let trace = copied.dir.path().join("trace");
    copied.change(&[4]);
    if !support::has("strace") {
        return support::skip("there is no strace here");
    }
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-y", "-e", "trace=pread64,preadv2,read", "-o", name(&trace)]);
    strace.arg(support::haul_path()).args(["copy", "--engine", "threads"]);
    strace.arg(format!("--delta={}", name(&copied.manifest))).args([name(&copied.source), name(&copied.dest)]);
    strace.assert().success();
    let calls = support::traced_calls(&trace);
    let read_of = |path: &Path| -> u64 {
        let name = format!("<{}>", path.display());
        let results = calls.lines().filter(|call| call.contains(&name)).filter_map(|call| call.rsplit_once("= "));
        results.filter_map(|(_, moved)| moved.trim().parse::<u64>().ok()).sum()
    };
    assert!(read_of(&copied.source) >= 400 * BLOCK as u64);
    let of_dest = read_of(&copied.dest);
    assert!(of_dest > 0 && of_dest <= 20 * BLOCK as u64, "{of_dest} bytes of the destination were read");
}

#[test]
fn a_source_that_grew_or_shrank_resizes_the_dest() {
    for len in [50 * BLOCK + 9, 11 * BLOCK + 5, 40 * BLOCK] {
        let copied = Copied::new(40 * BLOCK, 73);
        write_noise(&copied.source, len, 73);
        copied.copy(&["--verify"]);
        cmp(&copied.source, &copied.dest);
    }
}

#[test]
fn holes_of_the_source_become_zeros_on_the_dest() {
    let copied = Copied::new(40 * BLOCK, 74);
    let content = fs::read(&copied.source).expect("it exists");
    let file = fs::File::create(&copied.source).expect("it can be created");
    file.set_len(content.len() as u64).expect("it can grow");
    drop(file);
    let at = 30 * BLOCK;
    write_at(&copied.source, &content[at..], at);
    let report = copied.copy(&[]);
    cmp(&copied.source, &copied.dest);
    assert_eq!(bytes(&report, "unchanged_bytes"), 10 * BLOCK, "{report}");
}

#[test]
fn a_dest_that_differs_from_the_manifest_is_refused_before_the_first_write() {
    let copied = Copied::new(10 * BLOCK, 75);
    copied.change(&[1]);
    let refused = |command: &mut Command, status: i32, messages: &str| {
        let before = fs::read(&copied.dest).ok();
        let failed = command.assert().code(status);
        let reported = stderr(&failed);
        assert!(reported.contains(messages), "{reported}");
        assert_eq!(fs::read(&copied.dest).ok(), before, "{messages}");
        assert!(!copied.journal().exists(), "{messages}");
    };
    let stolen = fs::read(&copied.dest).expect("it exists");
    let mut other = stolen.clone();
    other[5 * BLOCK] ^= 1;
    write_at(&copied.dest, &other, 0);
    refused(&mut copied.command(&[]), 3, "it was modified since");
    write_at(&copied.dest, &stolen, 0);
    refused(&mut copied.command(&["--hash", "blake3"]), 2, "--hash");
    refused(&mut copied.command(&["--resume"]), 2, "--resume");
    refused(&mut copied.command(&["--manifest", "other"]), 2, "--manifest");
    refused(&mut copied.command(&["--no-journal"]), 2, "--no-journal");
    refused(&mut copied.command(&["--manifest-block", "1M"]), 2, "its blocks have 65536 bytes");
    refused(&mut copied.command(&["--seek", "64K"]), 3, "did not start at byte");
    let mut command = haul();
    command.args(["copy", "--delta=/nowhere", name(&copied.source), name(&copied.dest)]);
    refused(&mut command, 1, "/nowhere");
    let elsewhere = copied.dir.path().join("elsewhere");
    fs::write(&elsewhere, &stolen).expect("the file can be written");
    let mut command = haul();
    command.args(["copy", &format!("--delta={}", name(&copied.manifest)), name(&copied.source), name(&elsewhere)]);
    refused(&mut command, 3, "is neither");
    let mut command = haul();
    command.args(["copy", &format!("--delta={}", name(&copied.manifest)), "-", name(&copied.dest)]).write_stdin("x");
    refused(&mut command, 2, "cannot be read twice");
}

#[test]
fn after_an_interrupted_run_the_manifest_is_refused_and_resume_continues() {
    let copied = Copied::new(40 * BLOCK, 76);
    copied.change(&(0..40).step_by(2).collect::<Vec<_>>());
    // Slow enough to be killed between its first and its last write.
    let delta = format!("--delta={}", name(&copied.manifest));
    let words = ["copy", "--limit", "1M", "--progress", "none", &delta, name(&copied.source), name(&copied.dest)];
    let mut running = std::process::Command::new(support::haul_path()).args(words).spawn().expect("haul runs");
    let old = fs::read(&copied.dest).expect("it exists")[77];
    while fs::read(&copied.dest).expect("it exists")[77] == old {
        assert_eq!(running.try_wait().expect("this test created it"), None, "it was over before it was killed");
        std::thread::sleep(Duration::from_millis(1));
    }
    running.kill().expect("this test created it");
    running.wait().expect("this test created it");
    assert!(copied.journal().exists());
    let failed = copied.command(&[]).assert().code(3);
    assert!(stderr(&failed).contains("was interrupted"));
    let output = haul().args(["copy", "--resume", "--json", name(&copied.source), name(&copied.dest)]).output();
    let report: Value = serde_json::from_slice(&output.expect("haul runs").stdout).expect("the report is JSON");
    assert!(bytes(&report, "written_bytes") <= 20 * BLOCK, "what was there is not copied: {report}");
    cmp(&copied.source, &copied.dest);
    assert!(!copied.journal().exists());
}

#[test]
fn a_device_is_matched_by_its_identity_and_becomes_equal() {
    let dir = memory_dir();
    let source = dir.path().join("source");
    write_noise(&source, 40 * BLOCK, 77);
    let backing = dir.path().join("backing");
    write_noise(&backing, 40 * BLOCK, 78);
    let Some(device) = LoopDevice::over(&backing) else { return };
    let manifest = dir.path().join("m");
    let first = ["copy", "--yes", "--manifest-block", "64K", "--manifest", name(&manifest), name(&source)];
    haul().args(first).arg(device.path()).assert().success();
    let mut content = fs::read(&source).expect("it exists");
    content[9 * BLOCK] ^= 1;
    fs::write(&source, content).expect("it can be written");
    let output = haul()
        .args(["copy", "--yes", "--json", "--verify", &format!("--delta={}", name(&manifest)), name(&source)])
        .arg(device.path())
        .output()
        .expect("haul runs");
    assert!(output.status.success(), "{}", in_one_line(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
    assert_eq!(bytes(&report, "written_bytes"), BLOCK, "{report}");
    cmp(&source, device.path());
}
