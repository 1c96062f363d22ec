//! `--resume` with `--hash`: the digests are those of all data, whatever earlier runs copied.
use crate::support::{
    FailingDisk, Fails, Folder, Running, cmp, copied_bytes, direct_works, engines, haul, scratch, stderr, write_noise,
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

fn name(path: &Path) -> &str {
    path.to_str().expect("scratch names are text")
}

/// First byte and length.
type Part = (usize, usize);

/// A copy of which exactly these parts are on the destination, by a journal that was made from a mapfile.
struct Interrupted {
    dir: Folder,
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

    /// Leaves the dest as after an interrupted copy from `source`.
    fn leave(&self, durable: &[Part], source: &Path) {
        let end = self.bytes.len();
        let dest = File::create(&self.dest).expect("scratch takes files");
        let map = self.dir.path().join("map");
        let (mut lines, mut at) = ("0 ? 1\n".to_owned(), 0);
        for &(from, len) in durable {
            dest.write_all_at(&self.bytes[from..from + len], from as u64).expect("scratch takes files");
            if at < from {
                lines += &format!("{at} {} ?\n", from - at);
            }
            lines += &format!("{from} {len} +\n");
            at = from + len;
        }
        if at < end {
            lines += &format!("{at} {} ?\n", end - at);
        }
        fs::write(&map, lines).expect("scratch takes files");
        let _ = fs::remove_file(self.journal());
        haul().args(["journal", "import"]).args([&map, source, &self.dest]).assert().success();
    }

    fn journal(&self) -> PathBuf {
        self.dir.path().join(".dest.haul-journal")
    }

    /// The report of a resumed copy with these words, which ends well and with the digests of all bytes.
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
    let text = |digest: &Value, field: &str| digest[field].as_str().expect("it is text").to_owned();
    let digests = report["digests"].as_array().expect("a list");
    digests.iter().map(|digest| (text(digest, "hash"), text(digest, "hex"))).collect()
}

/// By other programs, where every machine has one.
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

/// Nothing but the start, islands with odd ends, all but the start, everything.
fn parts() -> [Vec<Part>; 4] {
    [
        vec![(0, 2 * MIB + 77)],
        vec![(4096, 3 * 4096), (65_537, 100_001), (MIB, 2 * MIB), (4 * MIB - 1, 4097)],
        vec![(7, LEN - 7)],
        vec![(0, LEN)],
    ]
}

#[test]
fn the_digests_of_a_resumed_copy_are_those_of_all_data() {
    let direct: &[&str] = if direct_works(scratch().path()) { &["never", "always"] } else { &["never"] };
    for durable in parts() {
        let copy = Interrupted::with(&durable);
        let there: usize = durable.iter().map(|(_, len)| len).sum();
        for engine in engines() {
            for direct in direct {
                copy.leave(&durable, &copy.source);
                let report = copy.resumes(&["--engine", engine, "--direct", direct, "--block-size", "64K"]);
                let bytes = &report["bytes"];
                assert_eq!(number(&bytes["read_bytes"]), LEN as u64, "{report:#}");
                let (written, reread) = (number(&bytes["written_bytes"]), number(&bytes["reread_bytes"]));
                assert_eq!(written + reread, LEN as u64, "{report:#}");
                // Gaps are widened to whole pages where direct I/O needs them.
                let widened = if *direct == "always" { durable.len() * 2 * 4096 } else { 0 };
                assert!(reread <= there as u64 && there as u64 <= reread + widened as u64, "{report:#}");
                assert_eq!(number(&report["journal"]["already_bytes"]), there as u64);
            }
        }
    }
}

#[test]
fn how_much_is_read_again_is_said_before_the_copy_and_after_it() {
    let copy = Interrupted::with(&[(0, 3_000_000)]);
    let before = fs::read(copy.journal()).expect("it is there");
    let words = ["copy", "--resume", "--hash", "sha256", name(&copy.source), name(&copy.dest)];
    let amount = "3000000 bytes (3 MB) that earlier runs copied are read from the source again";
    let shown = haul().args(words).arg("--dry-run").assert().success();
    let shown = crate::support::in_one_line(&shown.get_output().stdout);
    assert!(shown.contains(amount) && shown.contains("earlier runs kept no digests"), "{shown}");
    assert!(fs::read(copy.journal()).expect("it is there") == before, "a dry run changed the journal");
    let said = stderr(&haul().args(words).assert().success());
    assert!(said.contains(&format!("warning: {amount}")), "{said}");
    // Down to the page, where direct I/O needs that.
    let after = |bytes: &str| said.contains(&format!("{bytes} of the source read again for the digest of all data"));
    assert!(after("3000000 bytes (3 MB)") || after("2998272 bytes (3.0 MB)") || after("2998272 bytes"), "{said}");
}

#[test]
fn holes_are_digested_as_zeros_and_those_of_earlier_runs_are_not_read() {
    let copy = Interrupted::not_begun();
    let mut bytes = copy.bytes.clone();
    for (from, len) in [(MIB, MIB), (3 * MIB, MIB)] {
        bytes[from..from + len].fill(0);
    }
    fs::remove_file(&copy.source).expect("it is there");
    let source = File::create(&copy.source).expect("scratch takes files");
    for (from, to) in [(0, MIB), (2 * MIB, 3 * MIB), (4 * MIB, LEN)] {
        source.write_all_at(&bytes[from..to], from as u64).expect("scratch takes files");
    }
    let copy = Interrupted { bytes, ..copy };
    for engine in engines() {
        copy.leave(&[(0, 2 * MIB + MIB / 2)], &copy.source);
        let report = copy.resumes(&["--engine", engine]);
        assert!(number(&report["bytes"]["reread_bytes"]) < 2 * MIB as u64, "{report:#}");
    }
}

#[test]
fn part_of_a_file_is_digested_as_that_part() {
    let dir = scratch();
    let [source, dest] = ["source", "dest"].map(|name| dir.path().join(name));
    let bytes = write_noise(&source, LEN, 612);
    let range = ["--skip", "1001", "--seek", "512", "--count", "4M"];
    interrupt(&[&range[..], &["--hash", "md5"]].concat(), &source, &dest);
    let ways = ["copy", "--resume", "--json", "--progress", "none", "--hash", ALL];
    let assert = haul().args(ways).args(range).args([&source, &dest]).assert().success();
    let report: Value = serde_json::from_slice(&assert.get_output().stdout).expect("the report is JSON");
    let part = dir.path().join("part");
    fs::write(&part, &bytes[1001..1001 + 4 * MIB]).expect("scratch takes files");
    assert_eq!(digests(&report), expected(&part, &bytes[1001..1001 + 4 * MIB]), "{report:#}");
    assert!(number(&report["bytes"]["reread_bytes"]) > 0, "{report:#}");
}

#[test]
fn ranges_are_digested_one_after_the_other() {
    let dir = scratch();
    let [source, dest, list, part] = ["source", "dest", "list", "part"].map(|name| dir.path().join(name));
    let bytes = write_noise(&source, LEN, 613);
    let ranges = [(100, 4096), (MIB, MIB + 1), (3 * MIB + 5, 2 * MIB)];
    let lines: String = ranges.iter().map(|(from, len)| format!("{from} {len}\n")).collect();
    fs::write(&list, lines).expect("scratch takes files");
    fs::write(&part, ranges.map(|(from, len)| &bytes[from..from + len]).concat()).expect("scratch takes files");
    interrupt(&["--ranges", name(&list)], &source, &dest);
    let ways = ["copy", "--resume", "--json", "--progress", "none", "--hash", ALL, "--ranges", name(&list)];
    let assert = haul().args(ways).args([&source, &dest]).assert().success();
    let report: Value = serde_json::from_slice(&assert.get_output().stdout).expect("the report is JSON");
    assert_eq!(digests(&report), expected(&part, &fs::read(&part).expect("it is there")), "{report:#}");
    assert!(number(&report["bytes"]["reread_bytes"]) > 0, "{report:#}");
}

/// Starts a copy with a limit, and interrupts it once bytes have arrived.
fn interrupt(options: &[&str], source: &Path, dest: &Path) -> String {
    let mut copy = start(options, source, dest);
    copy.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes > 0));
    copy.signal(Signal::INT);
    copy.end_by(SIGINT);
    copy.said.clone()
}

fn start(options: &[&str], source: &Path, dest: &Path) -> Running {
    let slow = ["copy", "--limit", "2M", "--block-size", "64K", "--progress", "json"];
    Running::start(&[&slow[..], options, &[name(source), name(dest)]].concat(), Stdio::null(), Stdio::null())
}

#[test]
fn a_copy_with_a_digest_is_interrupted_by_any_means_and_the_command_that_it_prints_gives_the_digest() {
    let dir = scratch();
    let [source, dest] = ["source", "dest"].map(|name| dir.path().join(name));
    let bytes = write_noise(&source, LEN, 614);
    let said = interrupt(&["--hash", "sha256"], &source, &dest);
    let report: Value = serde_json::from_str(said.lines().last().expect("a line")).expect("the report is JSON");
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
fn a_copy_that_is_stopped_while_it_only_reads_again_is_not_complete() {
    let copy = Interrupted::with(&[(0, LEN)]);
    let said = interrupt(&["--resume", "--hash", "sha256"], &copy.source, &copy.dest);
    let report: Value = serde_json::from_str(said.lines().last().expect("a line")).expect("the report is JSON");
    assert_eq!(report["digests"].as_array().map(Vec::len), Some(0), "{report:#}");
    assert_eq!(report["journal"]["durable_bytes"], LEN, "{report:#}");
    let command = report["continue_command"].as_str().expect("it can be resumed");
    assert!(command.contains("--hash sha256"), "{command}");
    copy.resumes(&[]);
}

#[test]
fn verifying_reads_the_source_once_and_the_destination_once() {
    let copy = Interrupted::with(&[(0, 2 * MIB + 77), (4 * MIB, 9)]);
    let report = copy.resumes(&["--verify", "--manifest-block", "64K"]);
    let verified = &report["verified"];
    assert_eq!((&verified["right"], &verified["bytes"]), (&true.into(), &LEN.into()), "{report:#}");
    assert_eq!(number(&report["bytes"]["read_bytes"]), LEN as u64, "{report:#}");
    assert!(!report["notes"].to_string().contains("of the source again"), "{report:#}");
}

#[test]
fn with_delta_what_earlier_runs_copied_is_not_compared() {
    let copy = Interrupted::with(&[(0, 2 * MIB)]);
    File::options().write(true).open(&copy.dest).and_then(|dest| dest.set_len(LEN as u64)).expect("it can grow");
    let report = copy.resumes(&["--delta"]);
    let of = |field: &str| number(&report["bytes"][field]);
    assert_eq!(of("unchanged_bytes") + of("written_bytes"), (LEN - 2 * MIB) as u64, "{report:#}");
    // Down to the page, where direct I/O needs that.
    assert!((2 * MIB - 4096..=2 * MIB).contains(&(of("reread_bytes") as usize)), "{report:#}");
}

#[test]
fn a_byte_that_an_earlier_run_copied_is_not_written_again() {
    let copy = Interrupted::with(&[(0, 3 * MIB)]);
    // Where the journal's own look does not fall.
    let at = 100_000;
    let dest = File::options().read(true).write(true).open(&copy.dest).expect("it is there");
    dest.write_all_at(&[!copy.bytes[at]], at as u64).expect("it can be written");
    let report = copy.report(&copy.source, &[], 0);
    assert_eq!(digests(&report), expected(&copy.source, &copy.bytes), "the digest is that of the source: {report:#}");
    let there = fs::read(&copy.dest).expect("it is there");
    assert!(there[at] == !copy.bytes[at] && there[at + 1..] == copy.bytes[at + 1..], "it was written again");
}

/// A place that an earlier run could read, where the journal's own look does not fall.
const BAD: std::ops::Range<u64> = 98_304..106_496;

#[test]
fn what_can_no_longer_be_read_ends_the_copy_and_loses_nothing() {
    let copy = Interrupted::not_begun();
    let backing = copy.dir.path().join("backing");
    let len = LEN / 4096 * 4096;
    fs::write(&backing, &copy.bytes[..len]).expect("scratch takes files");
    let copy = Interrupted { bytes: copy.bytes[..len].to_vec(), ..copy };
    let Some(disk) = FailingDisk::with(copy.dir.path(), &backing, Fails::Reads, &[]) else { return };
    copy.leave(&[(0, 3 * MIB)], &disk.path());
    drop(disk);
    let Some(disk) = FailingDisk::with(copy.dir.path(), &backing, Fails::Reads, &[BAD]) else { return };
    for engine in engines() {
        let report = copy.report(&disk.path(), &["--engine", engine, "--block-size", "64K"], 1);
        assert_eq!(report["error"]["offset_bytes"], BAD.start, "{report:#}");
        let advice = report["error"]["advice"].as_str().expect("it is text");
        assert!(advice.contains("omit --hash") && advice.contains("--on-error skip"), "{advice}");
        assert_eq!(report["journal"]["unread_bytes"], 0, "the destination has it: {report:#}");
    }
    let report = copy.report(&disk.path(), &["--on-error", "skip", "--block-size", "64K"], 0);
    assert_eq!(digests(&report), expected(&backing, &copy.bytes), "{report:#}");
    let note = format!("read from the destination: {}", BAD.end - BAD.start);
    assert!(report["notes"].to_string().contains(&note), "{report:#}");
    cmp(&backing, &copy.dest);
}
