//! `--resume` with a manifest or a BLAKE3: what earlier runs digested is not read again.
use crate::support::{Running, ScratchDir, cmp, copied_bytes, haul, name, scratch, write_noise};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

const MIB: u64 = 1 << 20;
const LEN: u64 = 6 * MIB + 345;

struct Scene {
    dir: ScratchDir,
    source: PathBuf,
    dest: PathBuf,
    blake3: String,
}

impl Scene {
    fn new() -> Self {
        let dir = scratch();
        let [source, dest] = ["source", "dest"].map(|name| dir.path().join(name));
        let bytes = write_noise(&source, LEN as usize, 615);
        Scene { dir, source, dest, blake3: blake3::hash(&bytes).to_hex().to_string() }
    }

    /// Begins a copy with a manifest of blocks of 64 KiB, and ends it by `signal` when more than `least` bytes are
    /// copied.
    fn end_by(&self, signal: Signal, least: u64, more: &[&str]) {
        let manifest = self.dir.path().join("manifest");
        let slow = ["copy", "--limit", "1M", "--block-size", "64K", "--progress", "json", "--checkpoint", "0.05"];
        let digests = ["--manifest", name(&manifest), "--manifest-block", "64K"];
        let words = [&slow[..], &digests, more, &[name(&self.source), name(&self.dest)]].concat();
        let mut copy = Running::start(&words, Stdio::null(), Stdio::null());
        copy.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes > least));
        copy.signal(signal);
        copy.end_by(signal.as_raw());
        assert!(!manifest.exists(), "of a part: {}", copy.messages);
    }

    /// The report of a copy that completes it with these options.
    fn resume(&self, words: &[&str]) -> Value {
        let ways = ["copy", "--resume", "--json", "--progress", "none", "--block-size", "64K"];
        let assert = haul().args(ways).args(words).args([&self.source, &self.dest]).assert().success();
        cmp(&self.source, &self.dest);
        let report: Value = serde_json::from_slice(&assert.get_output().stdout).expect("the report is JSON");
        let digests = report["digests"].as_array().expect("a list");
        let blake3 = digests.iter().find(|digest| digest["hash"] == "blake3").expect("it was requested");
        assert_eq!(blake3["hex"], self.blake3.as_str(), "{report:#}");
        report
    }
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The lines of a manifest about blocks, in ascending order, and its digest of all data.
fn blocks(manifest: &Path) -> Vec<String> {
    let text = fs::read_to_string(manifest).expect("it exists");
    let parsed = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line is JSON"));
    let about = |mut line: Value| {
        let fields = line.as_object_mut().expect("a line is an object");
        fields.remove("check");
        (!fields.contains_key("haul_manifest")).then(|| line.to_string())
    };
    let mut lines: Vec<String> = parsed.filter_map(about).collect();
    lines.sort();
    lines
}

#[test]
fn only_blocks_without_a_recorded_digest_are_read_again() {
    for signal in [Signal::INT, Signal::KILL] {
        let scene = Scene::new();
        scene.end_by(signal, MIB, &[]);
        scene.end_by(signal, MIB, &["--resume"]);
        let manifest = scene.dir.path().join("manifest");
        let report = scene.resume(&["--manifest", name(&manifest), "--manifest-block", "64K"]);
        let (already, again) = (number(&report["journal"]["already_bytes"]), number(&report["bytes"]["reread_bytes"]));
        // Blocks whose digest came after the last checkpoint, and those that lie across a border of what was copied.
        assert!(already >= MIB / 2 && again <= already / 2, "{signal:?}: {again} of {already}: {report:#}");
        let other = scene.dir.path().join("other");
        let whole = ["copy", "--yes", "--quiet", "--manifest-block", "64K", "--manifest"];
        fs::remove_file(&scene.dest).expect("it exists");
        haul().args(whole).args([&other, &scene.source, &scene.dest]).assert().success();
        assert_eq!(blocks(&manifest), blocks(&other), "{signal:?}");
    }
}

#[test]
fn recorded_digests_are_not_used_for_other_blocks_nor_other_digests_nor_verification() {
    let ways: [&[&str]; 3] = [
        &["--hash", "blake3"],
        &["--hash", "blake3,sha256"],
        &["--hash", "blake3", "--verify", "--manifest-block", "64K"],
    ];
    for words in ways {
        let scene = Scene::new();
        scene.end_by(Signal::INT, MIB, &[]);
        let report = scene.resume(words);
        let (already, again) = (number(&report["journal"]["already_bytes"]), number(&report["bytes"]["reread_bytes"]));
        // Direct I/O copies whole pages.
        assert!(already - again <= 4096, "{words:?}: {again} of {already}: {report:#}");
    }
}

#[test]
fn the_copy_says_what_it_reads_again() {
    let scene = Scene::new();
    scene.end_by(Signal::INT, MIB, &[]);
    let manifest = scene.dir.path().join("manifest");
    let words = ["copy", "--resume", "--dry-run", "--manifest", name(&manifest), "--manifest-block", "64K"];
    let shown = haul().args(words).args([&scene.source, &scene.dest]).assert().success();
    let shown = crate::support::in_one_line(&shown.get_output().stdout);
    assert!(shown.contains("from the journal where earlier runs recorded them"), "{shown}");
    let amount = |shown: &str| {
        let before = shown.split(" that earlier runs copied are read from the source again").next()?;
        (before.len() < shown.len()).then(|| before.rsplit("warning").next().unwrap_or_default().to_owned())
    };
    let words = ["copy", "--resume", "--dry-run", "--hash", "md5"];
    let all = haul().args(words).args([&scene.source, &scene.dest]).assert().success();
    let all = crate::support::in_one_line(&all.get_output().stdout);
    assert!(amount(&all).is_some() && amount(&all) != amount(&shown), "{all}\n{shown}");
}
