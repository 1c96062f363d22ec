//! `--ranges`: only the listed ranges are copied, and no other byte of the dest changes.
use crate::support::{
    FailingDisk, Fails, LoopDevice, Running, copied_bytes, engines, haul, in_one_line, memory_dir, name, noise,
    scratch, stderr, write_noise,
};
use rustix::process::Signal;
use serde_json::Value;
use sha2::Digest;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

const MIB: usize = 1 << 20;
const REFUSED: i32 = 3;
const USAGE: i32 = 2;

/// Offset and length.
type Range = (usize, usize);

struct Scene {
    source: PathBuf,
    dest: PathBuf,
    list: PathBuf,
    /// The contents of the source and the dest.
    bytes: [Vec<u8>; 2],
}

impl Scene {
    fn new(dir: &Path, len: usize) -> Self {
        let [source, dest, list] = ["source", "dest", "list"].map(|name| dir.join(name));
        let bytes = [write_noise(&source, len, 701), write_noise(&dest, len, 702)];
        Scene { source, dest, list, bytes }
    }

    fn write_list(&self, ranges: &[Range]) {
        let lines: String = ranges.iter().map(|(offset, len)| format!("{offset} {len}\n")).collect();
        fs::write(&self.list, lines).expect("the file can be written");
    }

    /// The dest with these ranges replaced by those of the source.
    fn wanted(&self, ranges: &[Range]) -> Vec<u8> {
        let mut wanted = self.bytes[1].clone();
        for &(offset, len) in ranges {
            wanted[offset..offset + len].copy_from_slice(&self.bytes[0][offset..offset + len]);
        }
        wanted
    }

    fn words<'a>(&'a self, options: &[&'a str]) -> Vec<&'a str> {
        let list = ["copy", "--yes", "--ranges", name(&self.list)];
        [&list, options, &[name(&self.source), name(&self.dest)]].concat()
    }
}

/// Lists whose borders are aligned to pages, to sectors, and unaligned; the last one ends with the file.
fn lists(len: usize) -> [Vec<Range>; 4] {
    [
        vec![(64 << 10, 128 << 10), (0, 4096), (MIB, MIB)],
        vec![(512, 1024), (2048, 512), (3 * 512, 512), (MIB + 512, 300 * 512)],
        vec![(7, 1), (9, 4000), (100_001, 200_003), (len - 1, 1)],
        vec![(1000, 3096), (8192, 4096), (2 * MIB, len - 2 * MIB)],
    ]
}

#[test]
fn the_ranges_of_a_file_are_copied_and_no_other_byte_changes() {
    let dir = scratch();
    let len = 3 * MIB + 777;
    let scene = Scene::new(dir.path(), len);
    for ranges in lists(len) {
        scene.write_list(&ranges);
        for engine in engines() {
            for more in [&["--sparse", "never"][..], &["--direct", "never"], &["--verify", "--block-size", "64K"]] {
                fs::write(&scene.dest, &scene.bytes[1]).expect("the file can be written");
                let words = scene.words(&[&["--engine", engine], more].concat());
                let messages = stderr(&haul().args(&words).assert().success());
                assert!(fs::read(&scene.dest).expect("it exists") == scene.wanted(&ranges), "{words:?}: {messages}");
            }
        }
    }
}

#[test]
fn the_ranges_of_a_disk_are_copied_direct_and_buffered() {
    let dir = memory_dir();
    let len = 4 * MIB;
    let scene = Scene::new(dir.path(), len);
    let (Some(from), Some(to)) = (LoopDevice::over(&scene.source), LoopDevice::over(&scene.dest)) else { return };
    for ranges in lists(len) {
        scene.write_list(&ranges);
        for engine in engines() {
            fs::write(&scene.dest, &scene.bytes[1]).expect("the directory in memory is writable");
            let options = ["copy", "--yes", "--engine", engine, "--ranges", name(&scene.list)];
            haul().args(options).args([from.path(), to.path()]).assert().success();
            assert!(fs::read(&scene.dest).expect("it exists") == scene.wanted(&ranges), "{engine} {ranges:?}");
        }
    }
}

#[test]
fn a_new_dest_has_the_ranges_with_holes_between_them() {
    let dir = scratch();
    let scene = Scene::new(dir.path(), 3 * MIB);
    fs::remove_file(&scene.dest).expect("it exists");
    scene.write_list(&[(4096, 5000), (2 * MIB, 100)]);
    haul().args(scene.words(&[])).assert().success();
    let mut wanted = vec![0; 2 * MIB + 100];
    for (offset, len) in [(4096, 5000), (2 * MIB, 100)] {
        wanted[offset..offset + len].copy_from_slice(&scene.bytes[0][offset..offset + len]);
    }
    assert!(fs::read(&scene.dest).expect("it was created") == wanted);
    use std::os::unix::fs::MetadataExt;
    let allocated = fs::metadata(&scene.dest).expect("it exists").blocks() * 512;
    assert!(allocated < MIB as u64, "{allocated} bytes are allocated");
}

#[test]
fn holes_of_the_source_become_zeros_within_the_ranges_alone() {
    let dir = scratch();
    let mut scene = Scene::new(dir.path(), 3 * MIB);
    let file = File::create(&scene.source).expect("the file can be written");
    file.set_len(3 * MIB as u64).expect("it can be longer");
    file.write_all_at(&noise(100_000, 5), MIB as u64).expect("it accepts bytes");
    scene.bytes[0] = fs::read(&scene.source).expect("it exists");
    let ranges = [(5000, 9001), (MIB - 4096, 200_000), (2 * MIB + 1, MIB - 1)];
    scene.write_list(&ranges);
    for engine in engines() {
        for sparse in ["auto", "always", "never"] {
            fs::write(&scene.dest, &scene.bytes[1]).expect("the file can be written");
            haul().args(scene.words(&["--engine", engine, "--sparse", sparse])).assert().success();
            assert!(fs::read(&scene.dest).expect("it exists") == scene.wanted(&ranges), "{engine} {sparse}");
        }
    }
}

#[test]
fn an_invalid_list_is_refused_before_the_first_write() {
    let dir = memory_dir();
    let scene = Scene::new(dir.path(), MIB);
    let unchanged = |status: i32, options: &[&str], wanted: &str| {
        let messages = stderr(&haul().args(scene.words(options)).assert().code(status));
        assert!(messages.contains(wanted), "{options:?}: {messages}");
        assert!(fs::read(&scene.dest).expect("it exists") == scene.bytes[1], "{options:?}: it was written to");
    };
    scene.write_list(&[(0, 10), (4096, 4096), (8191, 1)]);
    unchanged(USAGE, &[], "the range of 4096 bytes at byte 4096 and the range of 1 bytes at byte 8191 overlap");
    scene.write_list(&[(0, 10), (MIB - 1, 2)]);
    unchanged(USAGE, &[], "the range from byte 1048575 to byte 1048576 is beyond the end: source");
    fs::write(&scene.list, "0 10\nten 10\n").expect("the file can be written");
    unchanged(USAGE, &[], "line 2: 'ten'");
    fs::write(&scene.list, "# nothing\n").expect("the file can be written");
    unchanged(USAGE, &[], "it lists no range");
    scene.write_list(&[(0, 10), (4096, 4096)]);
    for option in ["--offload", "--reflink=always"] {
        unchanged(USAGE, &[option], "cannot be combined with --ranges");
    }
    unchanged(USAGE, &["--seek", "5"], "cannot be used with");
    let dest = name(&scene.dest);
    for words in [["-", dest], [name(&scene.source), "-"]] {
        let words = [&["copy", "--ranges", name(&scene.list)][..], &words].concat();
        let messages = stderr(&haul().args(words).assert().code(USAGE));
        assert!(messages.contains("which has no offsets"), "{messages}");
    }
    haul().args(["copy", "--ranges", name(&scene.list), dest, dest]).assert().code(REFUSED);
    let short = dir.path().join("short");
    fs::write(&short, vec![1; 8192 - 512]).expect("the directory in memory is writable");
    let Some(disk) = LoopDevice::over(&short) else { return };
    let words = ["copy", "--yes", "--ranges", name(&scene.list), name(&scene.source), name(disk.path())];
    let messages = stderr(&haul().args(words).assert().code(USAGE));
    assert!(messages.contains("is beyond the end: dest"), "{messages}");
    assert!(fs::read(&short).expect("it exists") == vec![1; 8192 - 512]);
}

#[test]
fn verify_reads_the_ranges_back_and_finds_damage_in_one() {
    let dir = memory_dir();
    let scene = Scene::new(dir.path(), 3 * MIB);
    // The list ends within a digest block, in whose copied part the lost bytes are.
    let ranges = [(4096, 8192), (MIB, MIB + 4096 * 3), (3 * MIB - 4096, 4096)];
    scene.write_list(&ranges);
    let lost = 2 * MIB as u64 + 4096..2 * MIB as u64 + 8192;
    let Some(disk) = FailingDisk::losing(dir.path(), &scene.dest, lost.clone()) else { return };
    let words = ["copy", "--json", "--verify", "--ranges", name(&scene.list), name(&scene.source)];
    let assert = haul().args(words).arg(disk.path()).assert().code(1);
    let report: Value = serde_json::from_slice(&assert.get_output().stdout).expect("the report is JSON");
    let wrong = &report["verified"]["wrong"][0];
    let [offset, len] =
        ["offset_bytes", "len_bytes"].map(|key| wrong[key].as_u64().unwrap_or_else(|| panic!("{report:#}")));
    // Blocks are those of the copy, in which the ranges are contiguous.
    let [start, end] = [lost.start, lost.end].map(|at| at - MIB as u64 + 8192);
    assert!(offset <= start && offset + len >= end, "{wrong}");
    assert!(offset + len <= (8192 + MIB + 4096 * 3 + 4096) as u64, "{wrong}: beyond the copy");
}

#[test]
fn unreadable_sectors_are_skipped_and_the_mapfile_finishes_only_the_ranges() {
    let dir = memory_dir();
    let scene = Scene::new(dir.path(), MIB);
    let ranges = [(0, 8192), (65_536, 131_072)];
    scene.write_list(&ranges);
    // The second is between the ranges and is not read.
    let bad = [69_632..73_728, 16_384..20_480];
    let Some(disk) = FailingDisk::with(dir.path(), &scene.source, Fails::Reads, &bad) else { return };
    let map = dir.path().join("map");
    let words = ["copy", "--on-error", "skip", "--mapfile", name(&map), "--ranges", name(&scene.list)];
    let messages = stderr(&haul().args(words).args([&disk.path(), &scene.dest]).assert().code(1));
    let mut wanted = scene.wanted(&ranges);
    wanted[69_632..73_728].fill(0);
    assert!(fs::read(&scene.dest).expect("it exists") == wanted, "{messages}");
    let map = fs::read_to_string(&map).expect("it was written");
    let blocks: Vec<&str> = map.lines().filter(|line| !line.starts_with('#')).skip(1).collect();
    let statuses: Vec<(u64, char)> = blocks
        .iter()
        .map(|line| {
            let mut words = line.split_whitespace();
            let position = words.next().and_then(|word| u64::from_str_radix(&word[2..], 16).ok()).expect("a position");
            (position, line.trim_end().chars().last().expect("a status"))
        })
        .collect();
    assert_eq!(statuses, [(0, '+'), (8192, '?'), (65_536, '+'), (69_632, '-'), (73_728, '+')], "{map}");

    // Its finished parts are a list of ranges, too.
    let again = Scene::new(dir.path(), MIB);
    let map_path = dir.path().join("map");
    haul().args(["copy", "--ranges", name(&map_path)]).args([&again.source, &again.dest]).assert().success();
    let finished = [(0, 8192), (65_536, 4096), (73_728, 65_536 + 131_072 - 73_728)];
    assert!(fs::read(&again.dest).expect("it exists") == again.wanted(&finished));
}

#[test]
fn the_plan_the_report_and_the_digest_cover_the_ranges() {
    let dir = scratch();
    let scene = Scene::new(dir.path(), MIB);
    fs::write(&scene.list, "# in blocks, as of ddpt\n0,1 16,2\n0x400,8\n").expect("the file can be written");
    let ranges = [(0, 512), (8192, 1024), (512 * 1024, 4096)];
    let plan = haul().args(scene.words(&["--ranges-unit", "512", "--json", "--dry-run"])).assert().success();
    let plan: Value = serde_json::from_slice(&plan.get_output().stdout).expect("the plan is JSON");
    let runs = plan["ranges"]["runs"].as_array().expect("they are listed");
    let runs: Vec<_> = runs.iter().map(|run| (run["offset_bytes"].as_u64(), run["len_bytes"].as_u64())).collect();
    assert_eq!(runs, ranges.map(|(offset, len)| (Some(offset as u64), Some(len as u64))));
    assert_eq!(&plan["len_bytes"], 5632);
    assert!(fs::read(&scene.dest).expect("it exists") == scene.bytes[1], "--dry-run writes nothing");
    let shown = haul().args(scene.words(&["--ranges-unit", "512", "--dry-run"])).assert().success();
    let shown = in_one_line(&shown.get_output().stdout);
    assert!(shown.contains("5632 bytes: only the 3 ranges of"), "{shown}");
    let done = haul().args(scene.words(&["--ranges-unit", "512", "--hash", "sha256"])).assert().success();
    let line = in_one_line(&done.get_output().stdout);
    let mut sum = sha2::Sha256::new();
    ranges.iter().for_each(|&(offset, len)| sum.update(&scene.bytes[0][offset..offset + len]));
    let hex: String = sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(line.ends_with(&hex) && line.contains(", 3 ranges of "), "{line}");
    assert!(fs::read(&scene.dest).expect("it exists") == scene.wanted(&ranges));
}

/// Copies with these options until data after the first range was copied, and interrupts it; returns the
/// report.
fn interrupted(scene: &Scene, options: &[&str], behind: u64) -> Value {
    let report = scene.list.with_extension("json");
    let out = File::create(&report).expect("the file can be written");
    let pace = ["--json", "--progress", "json", "--limit", "1M", "--block-size", "64K"];
    let mut copy = Running::start(&scene.words(&[&pace, options].concat()), Stdio::null(), out.into());
    copy.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes >= behind));
    copy.signal(Signal::INT);
    copy.end();
    let report: Value =
        serde_json::from_slice(&fs::read(&report).expect("it was created")).expect("the report is JSON");
    assert_eq!(report["status"], "interrupted", "{report:#}");
    report
}

#[test]
fn an_interrupted_copy_of_ranges_claims_only_bytes_of_ranges() {
    let dir = scratch();
    let scene = Scene::new(dir.path(), 16 * MIB);
    let ranges = [(0, 64 << 10), (8 * MIB, 8 * MIB)];
    scene.write_list(&ranges);
    let report = interrupted(&scene, &["--no-journal"], 256 << 10);
    let claimed = report["claimed"]["len_bytes"].as_u64().expect("a number") as usize;
    assert!((64 << 10..8 * MIB).contains(&claimed), "{claimed} bytes are claimed");
    assert!(report["continue_command"].is_null(), "{report:#}");
    let left = fs::read(&scene.dest).expect("it exists");
    let (first, second) = (scene.wanted(&ranges[..1]), claimed - (64 << 10));
    assert!(left[..8 * MIB] == first[..8 * MIB], "something between the ranges has changed");
    assert!(left[8 * MIB..8 * MIB + second] == scene.bytes[0][8 * MIB..8 * MIB + second], "it does not exist");
}

#[test]
fn a_copy_of_ranges_is_resumed_only_with_the_same_list() {
    let dir = scratch();
    for direct in ["auto", "never"] {
        let scene = Scene::new(dir.path(), 16 * MIB);
        let ranges = [(0, 64 << 10), (8 * MIB, 3 * MIB), (12 * MIB + 4096, 4 * MIB - 4096)];
        scene.write_list(&ranges);
        let journal = dir.path().join(".dest.haul-journal");
        let report = interrupted(&scene, &["--direct", direct], 256 << 10);
        assert!(journal.exists(), "{report:#}");
        let command = report["continue_command"].as_str().expect("there is one").to_owned();
        assert!(command.starts_with("haul copy --resume ") && command.contains("--ranges"), "{command}");
        let durable = report["journal"]["durable_bytes"].as_u64().unwrap_or_else(|| panic!("{report:#}"));
        assert!(durable >= 256 << 10, "{durable}");
        let before = fs::read(&scene.dest).expect("it exists");
        let refused = |words: &[&str], wanted: &str| {
            let messages = stderr(&haul().args(words).assert().code(REFUSED));
            assert!(messages.contains(wanted), "{words:?}: {messages}");
            assert!(fs::read(&scene.dest).expect("it exists") == before, "{words:?}: it was written to");
        };
        let [source, dest] = [name(&scene.source), name(&scene.dest)];
        // The same first and last byte, as one run of bytes and as other ranges.
        refused(&["copy", "--resume", "--skip", "0", "--count", "16M", source, dest], "for other ranges");
        let other = dir.path().join("other");
        fs::write(&other, "0 64K\n8M 8M\n").expect("the file can be written");
        refused(&["copy", "--resume", "--ranges", name(&other), source, dest], "for other ranges");
        refused(&scene.words(&[]), "unfinished");
        let manifest = dir.path().join(format!("manifest-{direct}"));
        let kept = ["--verify", "--manifest", name(&manifest)];
        let again = scene.words(&[&["--resume", "--json", "--direct", direct], &kept[..]].concat());
        let report = haul().args(again).assert().success();
        let report: Value = serde_json::from_slice(&report.get_output().stdout).expect("the report is JSON");
        let count = |name: &str| report["bytes"][name].as_u64().expect("a number");
        // The manifest requires every byte to be read.
        let read = count("read_bytes") - count("reread_bytes");
        let all: usize = ranges.iter().map(|range| range.1).sum();
        assert!(read <= all as u64 - durable + 8192, "{read} bytes were read: {report:#}");
        assert_eq!(report["verified"]["bytes"], all, "{report:#}");
        assert!(fs::read(&scene.dest).expect("it exists") == scene.wanted(&ranges), "{direct}");
        assert!(!journal.exists());
        haul().args(["verify", "--manifest", name(&manifest), dest]).assert().success();
    }
}
