//! `--resume` with `--hash`: the digests cover all data, including the part copied by earlier runs.
use crate::support::{
    FailingDisk, Fails, Running, ScratchDir, cmp, copied_bytes, direct_works, engines, haul, name, scratch, stderr,
    write_noise,
};
use rustix::process::Signal;
use serde_json::Value;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const MIB: usize = 1 << 20;
const LEN: usize = 5 * MIB + 345;
const SIGINT: i32 = 2;
const ALL: &str = "sha256,md5,blake3,xxh3";

/// Offset and length.
type Part = (usize, usize);

/// A copy of which exactly these parts are on the destination, according to a journal made from a mapfile.
struct Interrupted {
    dir: ScratchDir,
    source: PathBuf,
    dest: PathBuf,
    bytes: Vec<u8>,
}

impl Interrupted {
    fn with(durable: &[Part]) -> Self {
        let copy = Self::not_begun();
        copy.leave(durable, &copy.source);
        copy
    }

    fn not_begun() -> Self {
        let dir = scratch();
        let [source, dest] = ["source", "dest"].map(|name| dir.path().join(name));
        let bytes = write_noise(&source, LEN, 611);
        Interrupted { dir, source, dest, bytes }
    }

    /// Prepares the dest as after an interrupted copy from `source`.
    fn leave(&self, durable: &[Part], source: &Path) {
        let end = self.bytes.len();
        let dest = File::create(&self.dest).expect("the file can be written");
        let map = self.dir.path().join("map");
        let (mut lines, mut at) = ("0 ? 1\n".to_owned(), 0);
        for &(from, len) in durable {
            dest.write_all_at(&self.bytes[from..from + len], from as u64).expect("the file can be written");
            if at < from {
                lines += &format!("{at} {} ?\n", from - at);
            }
            lines += &format!("{from} {len} +\n");
            at = from + len;
        }
        if at < end {
            lines += &format!("{at} {} ?\n", end - at);
        }
        fs::write(&map, lines).expect("the file can be written");
        let _ = fs::remove_file(self.journal());
        haul().args(["journal", "import"]).args([&map, source, &self.dest]).assert().success();
    }

    fn journal(&self) -> PathBuf {
        self.dir.path().join(".dest.haul-journal")
    }

    /// The report of a resumed copy with these options, which succeeds with the digests of all data.
    #[track_caller]
    fn resumes(&self, words: &[&str]) -> Value {
        let report = self.report(&self.source, words, 0);
        assert_eq!(digests(&report), expected(&self.source, &self.bytes), "{words:?}: {report:#}");
        cmp(&self.source, &self.dest);
        assert!(!self.journal().exists(), "{words:?}");
        report
    }

    #[track_caller]
    fn report(&self, source: &Path, words: &[&str], status: i32) -> Value {
        let ways = ["copy", "--resume", "--json", "--progress", "none", "--hash", ALL];
        let assert = haul().args(ways).args(words).args([source, &self.dest]).assert().code(status);
        serde_json::from_slice(&assert.get_output().stdout).expect("the report is JSON")
    }
}

fn digests(report: &Value) -> Vec<(String, String)> {
    let text = |digest: &Value, field: &str| digest[field].as_str().expect("it is UTF-8").to_owned();
    let digests = report["digests"].as_array().expect("a list");
    digests.iter().map(|digest| (text(digest, "hash"), text(digest, "hex"))).collect()
}

/// Digests by other programs that are installed everywhere.
fn expected(path: &Path, bytes: &[u8]) -> Vec<(String, String)> {
    let sum = |program: &str| {
        let output = Command::new(program).arg(path).output().expect("coreutils have it");
        String::from_utf8_lossy(&output.stdout).split_whitespace().next().expect("a digest").to_owned()
    };
    let pairs = [
        ("sha256", sum("sha256sum")),
        ("md5", sum("md5sum")),
        ("blake3", blake3::hash(bytes).to_hex().to_string()),
        ("xxh3", format!("{:032x}", twox_hash::XxHash3_128::oneshot(bytes))),
    ];
    pairs.map(|(kind, hex)| (kind.to_owned(), hex)).to_vec()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Only the start, unaligned islands, all except the start, everything.
fn parts() -> [Vec<Part>; 4] {
    [
        vec![(0, 2 * MIB + 77)],
        vec![(4096, 3 * 4096), (65_537, 100_001), (MIB, 2 * MIB), (4 * MIB - 1, 4097)],
        vec![(7, LEN - 7)],
        vec![(0, LEN)],
    ]
}

#[test]
fn digests_of_a_resumed_copy_cover_all_data() {
    let direct: &[&str] = if direct_works(scratch().path()) { &["never", "always"] } else { &["never"] };
    for durable in parts() {
        let copy = Interrupted::with(&durable);
        let existing: usize = durable.iter().map(|(_, len)| len).sum();
        for engine in engines() {
            for direct in direct {
                copy.leave(&durable, &copy.source);
                let report = copy.resumes(&["--engine", engine, "--direct", direct, "--block-size", "64K"]);
                let bytes = &report["bytes"];
                assert_eq!(number(&bytes["read_bytes"]), LEN as u64, "{report:#}");
                let (written, reread) = (number(&bytes["written_bytes"]), number(&bytes["reread_bytes"]));
                assert_eq!(written + reread, LEN as u64, "{report:#}");
                // Direct I/O widens gaps to whole pages.
                let widened = if *direct == "always" { durable.len() * 2 * 4096 } else { 0 };
                assert!(reread <= existing as u64 && existing as u64 <= reread + widened as u64, "{report:#}");
                assert_eq!(number(&report["journal"]["already_bytes"]), existing as u64);
            }
        }
    }
}

#[test]
fn the_bytes_to_reread_are_reported_before_and_after_the_copy() {
    let copy = Interrupted::with(&[(0, 3_000_000)]);
    let before = fs::read(copy.journal()).expect("it exists");
    let words = ["copy", "--resume", "--hash", "sha256", name(&copy.source), name(&copy.dest)];
    let amount = "3000000 bytes (3 MB) that earlier runs copied are read from the source again";
    let shown = haul().args(words).arg("--dry-run").assert().success();
    let shown = crate::support::in_one_line(&shown.get_output().stdout);
    assert!(shown.contains(amount) && shown.contains("earlier runs kept no digests"), "{shown}");
    assert!(fs::read(copy.journal()).expect("it exists") == before, "a dry run changed the journal");
    let messages = stderr(&haul().args(words).assert().success());
    assert!(messages.contains(&format!("warning: {amount}")), "{messages}");
    // Direct I/O needs whole pages.
    let after =
        |bytes: &str| messages.contains(&format!("{bytes} of the source read again for the digest of all data"));
    assert!(after("3000000 bytes (3 MB)") || after("2998272 bytes (3.0 MB)") || after("2998272 bytes"), "{messages}");
}

#[test]
fn holes_are_digested_as_zeros_and_holes_of_earlier_runs_are_not_read() {
    let copy = Interrupted::not_begun();
    let mut bytes = copy.bytes.clone();
    for (from, len) in [(MIB, MIB), (3 * MIB, MIB)] {
        bytes[from..from + len].fill(0);
    }
    fs::remove_file(&copy.source).expect("it exists");
    let source = File::create(&copy.source).expect("the file can be written");
    for (from, to) in [(0, MIB), (2 * MIB, 3 * MIB), (4 * MIB, LEN)] {
        source.write_all_at(&bytes[from..to], from as u64).expect("the file can be written");
    }
    let copy = Interrupted { bytes, ..copy };
    for engine in engines() {
        copy.leave(&[(0, 2 * MIB + MIB / 2)], &copy.source);
        let report = copy.resumes(&["--engine", engine]);
        assert!(number(&report["bytes"]["reread_bytes"]) < 2 * MIB as u64, "{report:#}");
    }
}

#[test]
fn a_range_of_a_file_is_digested_as_that_range() {
    let dir = scratch();
    let [source, dest] = ["source", "dest"].map(|name| dir.path().join(name));
    let bytes = write_noise(&source, LEN, 612);
    let range = ["--skip", "1001", "--seek", "512", "--count", "4M"];
    interrupt(&[&range[..], &["--hash", "md5"]].concat(), &source, &dest);
    let ways = ["copy", "--resume", "--json", "--progress", "none", "--hash", ALL];
    let assert = haul().args(ways).args(range).args([&source, &dest]).assert().success();
    let report: Value = serde_json::from_slice(&assert.get_output().stdout).expect("the report is JSON");
    let part = dir.path().join("part");
    fs::write(&part, &bytes[1001..1001 + 4 * MIB]).expect("the file can be written");
    assert_eq!(digests(&report), expected(&part, &bytes[1001..1001 + 4 * MIB]), "{report:#}");
    assert!(number(&report["bytes"]["reread_bytes"]) > 0, "{report:#}");
}

#[test]
fn ranges_are_digested_consecutively() {
    let dir = scratch();
    let [source, dest, list, part] = ["source", "dest", "list", "part"].map(|name| dir.path().join(name));
    let bytes = write_noise(&source, LEN, 613);
    let ranges = [(100, 4096), (MIB, MIB + 1), (3 * MIB + 5, 2 * MIB)];
    let lines: String = ranges.iter().map(|(from, len)| format!("{from} {len}\n")).collect();
    fs::write(&list, lines).expect("the file can be written");
    fs::write(&part, ranges.map(|(from, len)| &bytes[from..from + len]).concat()).expect("the file can be written");
    interrupt(&["--ranges", name(&list)], &source, &dest);
    let ways = ["copy", "--resume", "--json", "--progress", "none", "--hash", ALL, "--ranges", name(&list)];
    let assert = haul().args(ways).args([&source, &dest]).assert().success();
    let report: Value = serde_json::from_slice(&assert.get_output().stdout).expect("the report is JSON");
    assert_eq!(digests(&report), expected(&part, &fs::read(&part).expect("it exists")), "{report:#}");
    assert!(number(&report["bytes"]["reread_bytes"]) > 0, "{report:#}");
}

/// Starts a copy with a limit, and interrupts it once bytes are copied.
fn interrupt(options: &[&str], source: &Path, dest: &Path) -> String {
    let mut copy = start(options, source, dest);
    copy.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes > 0));
    copy.signal(Signal::INT);
    copy.end_by(SIGINT);
    copy.messages.clone()
}

fn start(options: &[&str], source: &Path, dest: &Path) -> Running {
    let slow = ["copy", "--limit", "2M", "--block-size", "64K", "--progress", "json"];
    Running::start(&[&slow[..], options, &[name(source), name(dest)]].concat(), Stdio::null(), Stdio::null())
}

#[test]
fn the_resume_command_of_an_interrupted_copy_prints_the_digest() {
    let dir = scratch();
    let [source, dest] = ["source", "dest"].map(|name| dir.path().join(name));
    let bytes = write_noise(&source, LEN, 614);
    let messages = interrupt(&["--hash", "sha256"], &source, &dest);
    let report: Value = serde_json::from_str(messages.lines().last().expect("a line")).expect("the report is JSON");
    assert_eq!(report["digests"].as_array().map(Vec::len), Some(0), "of a part: {report:#}");
    let command = report["continue_command"].as_str().expect("it can be resumed");
    assert!(command.starts_with("haul copy --resume ") && command.contains("--hash sha256"), "{command}");

    // While it copies, and while it reads again.
    let resume = ["--resume", "--hash", "sha256", "--checkpoint", "0.1"];
    for (signal, least) in [(Signal::KILL, 1), (Signal::INT, 1), (Signal::KILL, MIB as u64)] {
        let mut copy = start(&resume, &source, &dest);
        copy.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes > least));
        copy.signal(signal);
        copy.end_by(signal.as_raw());
    }
    let ways = ["copy", "--resume", "--json", "--progress", "none", "--hash", ALL];
    let assert = haul().args(ways).args([&source, &dest]).assert().success();
    let report: Value = serde_json::from_slice(&assert.get_output().stdout).expect("the report is JSON");
    assert_eq!(digests(&report), expected(&source, &bytes), "{report:#}");
    cmp(&source, &dest);
}

#[test]
fn a_copy_stopped_while_it_only_rereads_is_incomplete() {
    let copy = Interrupted::with(&[(0, LEN)]);
    let messages = interrupt(&["--resume", "--hash", "sha256"], &copy.source, &copy.dest);
    let report: Value = serde_json::from_str(messages.lines().last().expect("a line")).expect("the report is JSON");
    assert_eq!(report["digests"].as_array().map(Vec::len), Some(0), "{report:#}");
    assert_eq!(report["journal"]["durable_bytes"], LEN, "{report:#}");
    let command = report["continue_command"].as_str().expect("it can be resumed");
    assert!(command.contains("--hash sha256"), "{command}");
    copy.resumes(&[]);
}

#[test]
fn verify_reads_source_and_destination_once() {
    let copy = Interrupted::with(&[(0, 2 * MIB + 77), (4 * MIB, 9)]);
    let report = copy.resumes(&["--verify", "--manifest-block", "64K"]);
    let verified = &report["verified"];
    assert_eq!((&verified["right"], &verified["bytes"]), (&true.into(), &LEN.into()), "{report:#}");
    assert_eq!(number(&report["bytes"]["read_bytes"]), LEN as u64, "{report:#}");
    assert!(!report["notes"].to_string().contains("of the source again"), "{report:#}");
}

#[test]
fn delta_does_not_compare_bytes_of_earlier_runs() {
    let copy = Interrupted::with(&[(0, 2 * MIB)]);
    File::options().write(true).open(&copy.dest).and_then(|dest| dest.set_len(LEN as u64)).expect("it can grow");
    let report = copy.resumes(&["--delta"]);
    let of = |field: &str| number(&report["bytes"][field]);
    assert_eq!(of("unchanged_bytes") + of("written_bytes"), (LEN - 2 * MIB) as u64, "{report:#}");
    // Direct I/O needs whole pages.
    assert!((2 * MIB - 4096..=2 * MIB).contains(&(of("reread_bytes") as usize)), "{report:#}");
}

#[test]
fn a_byte_that_an_earlier_run_copied_is_not_written_again() {
    let copy = Interrupted::with(&[(0, 3 * MIB)]);
    // Outside the samples of the journal.
    let at = 100_000;
    let dest = File::options().read(true).write(true).open(&copy.dest).expect("it exists");
    dest.write_all_at(&[!copy.bytes[at]], at as u64).expect("it can be written");
    let report = copy.report(&copy.source, &[], 0);
    assert_eq!(digests(&report), expected(&copy.source, &copy.bytes), "the digest is that of the source: {report:#}");
    let existing = fs::read(&copy.dest).expect("it exists");
    assert!(existing[at] == !copy.bytes[at] && existing[at + 1..] == copy.bytes[at + 1..], "it was written again");
}

/// A range that an earlier run could read, outside the samples of the journal.
const BAD: std::ops::Range<u64> = 98_304..106_496;

#[test]
fn bytes_that_became_unreadable_end_the_copy_without_loss() {
    let copy = Interrupted::not_begun();
    let backing = copy.dir.path().join("backing");
    let len = LEN / 4096 * 4096;
    fs::write(&backing, &copy.bytes[..len]).expect("the file can be written");
    let copy = Interrupted { bytes: copy.bytes[..len].to_vec(), ..copy };
    let Some(disk) = FailingDisk::with(copy.dir.path(), &backing, Fails::Reads, &[]) else { return };
    copy.leave(&[(0, 3 * MIB)], &disk.path());
    drop(disk);
    let Some(disk) = FailingDisk::with(copy.dir.path(), &backing, Fails::Reads, &[BAD]) else { return };
    for engine in engines() {
        let report = copy.report(&disk.path(), &["--engine", engine, "--block-size", "64K"], 1);
        assert_eq!(report["error"]["offset_bytes"], BAD.start, "{report:#}");
        let advice = report["error"]["advice"].as_str().expect("it is UTF-8");
        assert!(advice.contains("omit --hash") && advice.contains("--on-error skip"), "{advice}");
        assert_eq!(report["journal"]["unread_bytes"], 0, "the destination has it: {report:#}");
    }
    let report = copy.report(&disk.path(), &["--on-error", "skip", "--block-size", "64K"], 0);
    assert_eq!(digests(&report), expected(&backing, &copy.bytes), "{report:#}");
    let note = format!("read from the destination: {}", BAD.end - BAD.start);
    assert!(report["notes"].to_string().contains(&note), "{report:#}");
    cmp(&backing, &copy.dest);
}
