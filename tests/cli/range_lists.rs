//! Separate lists for source and destination: copies to one side and several, `--delta`, comparisons. The
//! expected data is computed here.
use crate::support::{
    FailingDisk, Fails, LoopDevice, engines, haul, in_one_line, memory_dir, name, scratch, stderr, write_noise,
};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub const MIB: usize = 1 << 20;
pub const USAGE: i32 = 2;
pub const REFUSED: i32 = 3;

/// Offset and length.
pub type Range = (usize, usize);

pub struct Scene {
    pub source: PathBuf,
    pub dest: PathBuf,
    /// The lists of the source and of the destination.
    pub lists: [PathBuf; 2],
    /// The contents of source and destination before the copy.
    pub bytes: [Vec<u8>; 2],
}

impl Scene {
    pub fn new(dir: &Path, len: usize) -> Self {
        let [source, dest, from, to] = ["source", "dest", "from", "to"].map(|name| dir.join(name));
        let bytes = [write_noise(&source, len, 801), write_noise(&dest, len, 802)];
        Scene { source, dest, lists: [from, to], bytes }
    }

    pub fn write_lists(&self, [from, to]: [&[Range]; 2]) {
        write_list(&self.lists[0], from);
        write_list(&self.lists[1], to);
    }

    /// `copy` or `verify` with both lists, without the sides.
    pub fn options<'a>(&'a self, verb: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        let lists = [verb, "--source-ranges", name(&self.lists[0]), "--destination-ranges", name(&self.lists[1])];
        [&lists[..], more].concat()
    }

    pub fn words<'a>(&'a self, verb: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        [&self.options(verb, more)[..], &[name(&self.source), name(&self.dest)]].concat()
    }

    pub fn dest_now(&self) -> Vec<u8> {
        fs::read(&self.dest).expect("it exists")
    }
}

pub fn write_list(path: &Path, ranges: &[Range]) {
    let lines: String = ranges.iter().map(|(offset, len)| format!("{offset} {len}\n")).collect();
    fs::write(path, lines).expect("the file can be written");
}

/// The bytes of these ranges, in order.
pub fn gathered(bytes: &[u8], ranges: &[Range]) -> Vec<u8> {
    ranges.iter().flat_map(|&(offset, len)| bytes[offset..offset + len].to_vec()).collect()
}

/// `bytes` with these ranges replaced by `data`, in order.
pub fn scattered(bytes: &[u8], ranges: &[Range], mut data: &[u8]) -> Vec<u8> {
    let mut result = bytes.to_vec();
    for &(offset, len) in ranges {
        result.resize(result.len().max(offset + len), 0);
        result[offset..offset + len].copy_from_slice(&data[..len]);
        data = &data[len..];
    }
    assert!(data.is_empty(), "the lists have the same length");
    result
}

/// Pairs of lists: aligned to pages, to sectors, unaligned; ascending and not; with bytes of the source in two
/// ranges; with a last range beyond the end of a file.
fn pairs(len: usize) -> [[Vec<Range>; 2]; 5] {
    let twice = vec![(MIB + 4096, MIB - 8192), (8192, MIB - 65_536), (2 * MIB + 16_384, 73_728)];
    [
        [vec![(64 << 10, 128 << 10), (0, 4096)], vec![(MIB, 4096), (0, 128 << 10)]],
        [vec![(512, 1024), (MIB, 4096), (512, 512)], vec![(2048, 512), (4096, 5120)]],
        [vec![(7, 1), (len - 100_003, 100_003), (5, 4000)], vec![(100_001, 104_003), (1, 1)]],
        [vec![(0, MIB), (0, MIB)], twice],
        [vec![(len - 4096, 4096), (4096, 300_000)], vec![(len - 512, 304_096)]],
    ]
}

#[test]
fn gathered_ranges_are_scattered_and_no_other_byte_changes() {
    let dir = scratch();
    let len = 3 * MIB + 777;
    let scene = Scene::new(dir.path(), len);
    for [from, to] in pairs(len) {
        scene.write_lists([&from, &to]);
        let wanted = scattered(&scene.bytes[1], &to, &gathered(&scene.bytes[0], &from));
        for engine in engines() {
            let ways: [&[&str]; 4] =
                [&["--sparse", "never"], &["--direct", "never", "--block-size", "64K"], &["--verify"], &["--delta"]];
            for more in ways {
                fs::write(&scene.dest, &scene.bytes[1]).expect("the file can be written");
                let words = scene.words("copy", &[&["--engine", engine], more].concat());
                let messages = stderr(&haul().args(&words).assert().success());
                assert!(scene.dest_now() == wanted, "{words:?} {from:?} {to:?}: {messages}");
            }
        }
        // The same list for the other side, too.
        haul().args(scene.words("verify", &[])).assert().success();
    }
}

#[test]
fn ranges_of_disks_are_gathered_and_scattered_direct_and_buffered() {
    let dir = memory_dir();
    let len = 4 * MIB;
    let scene = Scene::new(dir.path(), len);
    let (Some(from_disk), Some(to_disk)) = (LoopDevice::over(&scene.source), LoopDevice::over(&scene.dest)) else {
        return;
    };
    for [from, mut to] in pairs(len) {
        // A disk cannot grow.
        to.iter_mut().for_each(|range| range.0 = range.0.min(len - range.1));
        scene.write_lists([&from, &to]);
        let wanted = scattered(&scene.bytes[1], &to, &gathered(&scene.bytes[0], &from));
        for engine in engines() {
            fs::write(&scene.dest, &scene.bytes[1]).expect("the directory in memory is writable");
            let words = scene.options("copy", &["--yes", "--verify", "--engine", engine]);
            haul().args(words).args([from_disk.path(), to_disk.path()]).assert().success();
            assert!(scene.dest_now() == wanted, "{engine} {from:?} {to:?}");
        }
    }
}

#[test]
fn one_list_goes_with_consecutive_bytes_of_the_other_side() {
    let dir = scratch();
    let scene = Scene::new(dir.path(), MIB);
    let ranges = [(4096, 8192), (100, 50), (0, 8192), (MIB - 1, 1)];
    let data = gathered(&scene.bytes[0], &ranges);
    scene.write_lists([&ranges, &ranges[..2]]);
    let [source, dest] = [name(&scene.source), name(&scene.dest)];
    let [from, to] = scene.lists.each_ref().map(|list| name(list));
    haul().args(["copy", "--source-ranges", from, "--seek", "5000", source, dest]).assert().success();
    assert!(scene.dest_now() == scattered(&scene.bytes[1], &[(5000, data.len())], &data));
    // To a pipe, in the order of the list.
    let piped = haul().args(["copy", "--source-ranges", from, source, "-"]).assert().success();
    assert!(piped.get_output().stdout == data);

    let part = &scene.bytes[0][300..300 + 8242];
    let wanted = scattered(&scene.bytes[1], &ranges[..2], part);
    fs::write(&scene.dest, &scene.bytes[1]).expect("the file can be written");
    haul().args(["copy", "--destination-ranges", to, "--skip", "300", source, dest]).assert().success();
    assert!(scene.dest_now() == wanted);
    // From a pipe, which may contain more.
    fs::write(&scene.dest, &scene.bytes[1]).expect("the file can be written");
    let stdin = &scene.bytes[0][300..50_000];
    haul().args(["copy", "--destination-ranges", to, "-", dest]).write_stdin(stdin).assert().success();
    assert!(scene.dest_now() == wanted);
    // A shorter one is an error, and only the bytes that were read are written.
    fs::write(&scene.dest, &scene.bytes[1]).expect("the file can be written");
    let short =
        haul().args(["copy", "--destination-ranges", to, "-", dest]).write_stdin(&part[..8200]).assert().code(1);
    assert!(stderr(&short).contains("ended before the requested 8242 bytes"), "{}", stderr(&short));
    assert!(scene.dest_now() == scattered(&scene.bytes[1], &[(4096, 8192), (100, 8)], &part[..8200]));
}

#[test]
fn ddpt_and_haul_copy_the_same_blocks_by_the_same_lists() {
    if Command::new("ddpt").arg("--version").output().is_err() {
        eprintln!("skipped: no ddpt");
        return;
    }
    let dir = scratch();
    let scene = Scene::new(dir.path(), MIB);
    let by_ddpt = dir.path().join("by ddpt");
    fs::write(&by_ddpt, &scene.bytes[1]).expect("the file can be written");
    fs::write(&scene.lists[0], "# blocks\n100,3 0x10,8\n7,2\n100,1\n").expect("the file can be written");
    fs::write(&scene.lists[1], "2,5\n1000,1 900,8\n").expect("the file can be written");
    let operand = |key: &str, path: &Path| format!("{key}={}", name(path));
    let at = |key: &str, path: &Path| format!("{key}=@{}", name(path));
    let mut ddpt = Command::new("ddpt");
    ddpt.args([operand("if", &scene.source), operand("of", &by_ddpt), "bs=512".to_owned(), "conv=notrunc".to_owned()]);
    ddpt.args([at("skip", &scene.lists[0]), at("seek", &scene.lists[1])]);
    let output = ddpt.output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    haul().args(scene.words("copy", &["--ranges-unit", "512"])).assert().success();
    assert!(scene.dest_now() == fs::read(&by_ddpt).expect("it exists"));
    assert!(scene.dest_now() != scene.bytes[1]);
}

#[test]
fn lists_that_do_not_fit_are_refused_before_the_first_write() {
    let dir = memory_dir();
    let scene = Scene::new(dir.path(), MIB);
    let unchanged = |status: i32, words: &[&str], wanted: &str| {
        let messages = stderr(&haul().args(words).assert().code(status));
        assert!(messages.contains(wanted), "{words:?}: {messages}");
        assert!(scene.dest_now() == scene.bytes[1], "{words:?}: it was written to");
        assert!(fs::read(&scene.source).expect("it exists") == scene.bytes[0], "{words:?}: it was written to");
    };
    scene.write_lists([&[(0, 10), (5, 10)], &[(100, 21)]]);
    unchanged(USAGE, &scene.words("copy", &[]), "has 20 bytes, --destination-ranges");
    unchanged(USAGE, &scene.words("copy", &[]), "has 21 bytes: both must have the same number of bytes");
    scene.write_lists([&[(0, 10), (5, 10)], &[(100, 11), (110, 9)]]);
    let wanted = "the range of 11 bytes at byte 100 and the range of 9 bytes at byte 110 overlap";
    unchanged(USAGE, &scene.words("copy", &[]), wanted);
    scene.write_lists([&[(MIB - 5, 10)], &[(0, 10)]]);
    let wanted = "--source-ranges ";
    unchanged(USAGE, &scene.words("copy", &[]), wanted);
    let from = ["copy", "--source-ranges", name(&scene.lists[0])];
    let to = ["copy", "--destination-ranges", name(&scene.lists[1])];
    let [source, dest] = [name(&scene.source), name(&scene.dest)];
    unchanged(USAGE, &[&from[..], &["--skip", "5", source, dest]].concat(), "cannot be used with");
    unchanged(USAGE, &[&to[..], &["--seek", "5", source, dest]].concat(), "cannot be used with");
    unchanged(USAGE, &[&to[..], &["--count", "5", source, dest]].concat(), "cannot be used with");
    unchanged(USAGE, &[&to[..], &["--ranges", "list", source, dest]].concat(), "cannot be used with");
    unchanged(USAGE, &[&from[..], &["-", dest]].concat(), "which has no offsets");
    unchanged(USAGE, &[&to[..], &["--skip", "1048570", source, dest]].concat(), "has 4 bytes more than source");
    unchanged(USAGE, &["copy", "--ranges-unit", "512", source, dest], "--ranges-unit is the unit of a list");
    // Within one file no byte may be both read and written.
    scene.write_lists([&[(0, 10), (20, 10)], &[(100, 15), (29, 5)]]);
    let words = [&scene.options("copy", &[])[..], &[source, source]].concat();
    unchanged(REFUSED, &words, "byte 29 of");
    scene.write_lists([&[(0, 10), (20, 10), (5, 3)], &[(100, 15), (30, 8)]]);
    haul().args(&words).assert().success();
    let data = gathered(&scene.bytes[0], &[(0, 10), (20, 10), (5, 3)]);
    let wanted = scattered(&scene.bytes[0], &[(100, 15), (30, 8)], &data);
    assert!(fs::read(&scene.source).expect("it exists") == wanted);
}

#[test]
fn several_destinations_get_the_same_ranges() {
    let dir = memory_dir();
    let len = 2 * MIB;
    let scene = Scene::new(dir.path(), len);
    let second = dir.path().join("second");
    let (from, to) = ([(MIB, 100_000), (0, 8192), (MIB + 5, 7)], [(300_000, 8192), (9, 100_007)]);
    scene.write_lists([&from, &to]);
    let wanted = scattered(&scene.bytes[1], &to, &gathered(&scene.bytes[0], &from));
    for engine in engines() {
        fs::write(&scene.dest, &scene.bytes[1]).expect("the directory in memory is writable");
        let _ = fs::remove_file(&second);
        haul().args(scene.words("copy", &["--engine", engine, "--verify", "--also", name(&second)])).assert().success();
        assert!(scene.dest_now() == wanted, "{engine}");
        let made = scattered(&[], &to, &gathered(&scene.bytes[0], &from));
        assert!(fs::read(&second).expect("it was created") == made, "{engine}: the second destination differs");
    }
    // A second dest that fails is dropped, and its claimed part is given in bytes of the copy.
    let bad = (300_000 + 4096) / 4096 * 4096;
    write_noise(&second, len, 803);
    let Some(disk) = FailingDisk::over(dir.path(), &second, Fails::Writes, bad..bad + 4096) else { return };
    fs::write(&scene.dest, &scene.bytes[1]).expect("the directory in memory is writable");
    let failing = disk.path();
    let also = ["--yes", "--json", "--block-size", "4K", "--also", name(&failing)];
    let report = haul().args(scene.words("copy", &also)).assert().code(1);
    assert!(scene.dest_now() == wanted);
    let report: Value = serde_json::from_slice(&report.get_output().stdout).expect("the report is JSON");
    let claimed = report["dests"][1]["claimed_bytes"].as_u64().expect("a number");
    assert!(claimed <= bad - 300_000, "{claimed} bytes are claimed: {report:#}");
    assert!(report["dests"][1]["continue_command"].is_null(), "{report:#}");
}

#[test]
fn verify_compares_the_ranges_alone_and_names_the_places() {
    let dir = memory_dir();
    let scene = Scene::new(dir.path(), MIB);
    let (from, to) = ([(4096, 8192), (100_000, 50_000)], [(500_000, 50_000), (0, 8192)]);
    scene.write_lists([&from, &to]);
    let data = gathered(&scene.bytes[0], &from);
    let mut right = scattered(&scene.bytes[1], &to, &data);
    fs::write(&scene.dest, &right).expect("the directory in memory is writable");
    for engine in engines() {
        haul().args(scene.words("verify", &["--engine", engine])).assert().success();
    }
    // Byte 8192 + 1000 of the copy: 101000 of the source, 509192 of the destination.
    right[509_192] ^= 1;
    fs::write(&scene.dest, &right).expect("the directory in memory is writable");
    let differs = haul().args(scene.words("verify", &["--json"])).assert().code(1);
    let report: Value = serde_json::from_slice(&differs.get_output().stdout).expect("the report is JSON");
    assert_eq!(
        (&report["differences"]["differing_bytes"], &report["differences"]["first_offset_bytes"]),
        (&1.into(), &9192.into())
    );
    let differs = haul().args(scene.words("verify", &["-v"])).assert().code(1);
    let messages = in_one_line(&differs.get_output().stderr);
    assert!(messages.contains("byte 101000 of the source, 509192 of the destination"), "{messages}");
    assert!(messages.contains("508928+512"), "{messages}");
    // If one side lacks a range, nothing is compared.
    fs::write(&scene.dest, &right[..540_000]).expect("the directory in memory is writable");
    let messages = stderr(&haul().args(scene.words("verify", &[])).assert().code(USAGE));
    assert!(messages.contains("is beyond the end: destination"), "{messages}");
    // One list for both sides.
    fs::write(&scene.dest, scattered(&scene.bytes[1], &from, &data)).expect("the directory in memory is writable");
    let both = ["verify", "--ranges", name(&scene.lists[0]), name(&scene.source), name(&scene.dest)];
    haul().args(both).assert().success();
}
