//! `--resume` with `--verify` and `--manifest`: the data of earlier runs is verified and recorded, too.
use crate::support::{Running, ScratchDir, cmp, copied_bytes, haul, in_one_line, name, scratch, write_noise};
use rustix::process::Signal;
use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::Stdio;

const MIB: usize = 1 << 20;
const BLOCK: u64 = 64 << 10;
const LEN: usize = 12 * MIB + 345;
const SIGINT: i32 = 2;

/// A copy that ended within a block.
struct Interrupted {
    dir: ScratchDir,
    source: PathBuf,
    dest: PathBuf,
}

impl Interrupted {
    fn new() -> Self {
        let dir = scratch();
        let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
        write_noise(&source, LEN, 501);
        // A block size of which the digest block size is not a multiple.
        let slow = ["copy", "--limit", "4M", "--block-size", "20K", "--progress", "json"];
        let words = [&slow[..], &[name(&source), name(&dest)]].concat();
        let mut copy = Running::start(&words, Stdio::null(), Stdio::null());
        copy.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes > 2 * MIB as u64));
        copy.signal(Signal::INT);
        copy.end_by(SIGINT);
        Interrupted { dir, source, dest }
    }

    /// The same with this number of durable bytes: a journal made from a mapfile sets where the copy was
    /// stopped.
    fn after(durable_bytes: usize) -> Self {
        let dir = scratch();
        let [source, dest, map] = ["source", "dest", "map"].map(|name| dir.path().join(name));
        let bytes = write_noise(&source, LEN, 501);
        fs::write(&dest, &bytes[..durable_bytes]).expect("the file can be written");
        let rest = LEN - durable_bytes;
        let lines = format!("0 ? 1\n0 0x{durable_bytes:x} +\n0x{durable_bytes:x} 0x{rest:x} ?\n");
        fs::write(&map, lines).expect("the file can be written");
        haul().args(["journal", "import"]).args([&map, &source, &dest]).assert().success();
        Interrupted { dir, source, dest }
    }

    /// The report of a resumed copy with these options, which succeeds.
    fn resume(&self, words: &[&str]) -> Value {
        let ways = ["copy", "--resume", "--json", "--progress", "none", "--manifest-block", "64K"];
        let assert = haul().args(ways).args(words).args([&self.source, &self.dest]).assert().success();
        serde_json::from_slice(&assert.get_output().stdout).expect("the report is JSON")
    }
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn all_is_read_back_and_only_bytes_of_earlier_runs_are_read_from_the_source_again() {
    let copy = Interrupted::new();
    let report = copy.resume(&["--verify"]);
    let verified = &report["verified"];
    assert_eq!((&verified["right"], &verified["bytes"]), (&true.into(), &LEN.into()), "{report:#}");
    let already = number(&report["journal"]["already_bytes"]);
    let note = report["notes"].to_string();
    let again: u64 = note
        .split_once(" bytes of the source again")
        .and_then(|(before, _)| before.rsplit(' ').next()?.parse().ok())
        .unwrap_or_else(|| panic!("{note}"));
    assert!((already..already + 2 * BLOCK).contains(&again), "{again} bytes were read again, {already} were there");
    cmp(&copy.source, &copy.dest);
}

#[test]
fn damage_between_the_runs_is_found_and_repaired() {
    // Within a block.
    let copy = Interrupted::after(150 * (20 << 10));
    // --resume itself compares 16 samples of the durable data: in blocks 15 to 18 the first and the last block.
    let at = 16 * BLOCK + BLOCK / 2;
    let dest = OpenOptions::new().read(true).write(true).open(&copy.dest).expect("it exists");
    let mut byte = [0];
    dest.read_exact_at(&mut byte, at).expect("it was written");
    let written = dest.metadata().and_then(|facts| facts.modified()).expect("it has a time");
    dest.write_all_at(&[!byte[0]], at).expect("it can be written");
    // Changed by the medium, not by a program: the modification time is restored.
    dest.set_modified(written).expect("this test created it");
    drop(dest);
    let report = copy.resume(&["--verify"]);
    let verified = &report["verified"];
    assert_eq!(verified["right"], true, "{report:#}");
    let rewritten = verified["rewritten"].as_array().expect("a list");
    assert_eq!(rewritten.len(), 1, "{report:#}");
    let run = (number(&rewritten[0]["offset_bytes"]), number(&rewritten[0]["len_bytes"]));
    assert_eq!(run, (at - at % BLOCK, BLOCK), "{report:#}");
    cmp(&copy.source, &copy.dest);
}

#[test]
fn the_manifest_of_a_resumed_copy_covers_every_byte() {
    let copy = Interrupted::new();
    let manifest = copy.dir.path().join("manifest");
    copy.resume(&["--manifest", name(&manifest)]);
    haul().args(["verify", "--manifest", name(&manifest), name(&copy.source)]).assert().success();
    let whole = copy.dir.path().join("whole");
    let other = copy.dir.path().join("other");
    let ways = ["copy", "--progress", "none", "--manifest-block", "64K", "--manifest", name(&whole)];
    haul().args(ways).args([&copy.source, &other]).assert().success();
    haul().args(["manifest", "diff", name(&manifest), name(&whole)]).assert().success();
    let shown = haul().args(["manifest", "show", name(&manifest)]).assert().success();
    let digest = blake3::hash(&fs::read(&copy.source).expect("it exists")).to_hex().to_string();
    assert!(in_one_line(&shown.get_output().stdout).contains(&digest), "it lacks the digest of all data");
    assert!(fs::read(&other).expect("it exists") == fs::read(&copy.dest).expect("it exists"));
}

#[test]
fn a_sample_of_a_resumed_copy_reads_only_the_sample_from_the_source() {
    let copy = Interrupted::new();
    let report = copy.resume(&["--verify=sample:5%"]);
    let verified = &report["verified"];
    assert_eq!((&verified["right"], &verified["sampled"]), (&true.into(), &true.into()), "{report:#}");
    let again = report["notes"].to_string();
    let again: Option<u64> =
        again.split_once(" bytes of the source again").and_then(|(before, _)| before.rsplit(' ').next()?.parse().ok());
    assert!(again.is_none_or(|bytes| bytes <= number(&verified["bytes"])), "{report:#}");
}
