//! Records of a copy of ranges: manifest, mapfile, journal, plan, report and page.
use crate::range_lists::{MIB, REFUSED, Range, Scene, USAGE, gathered, scattered, write_list};
use crate::support::{FailingDisk, Fails, Running, copied_bytes, haul, in_one_line, memory_dir, name, scratch, stderr};
use rustix::process::Signal;
use serde_json::Value;
use sha2::Digest;
use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;

#[test]
fn a_manifest_lists_its_ranges() {
    let dir = memory_dir();
    let scene = Scene::new(dir.path(), MIB);
    let (from, to) = ([(500_000, 200_000), (0, 4096)], [(8192, 4096), (100_000, 200_000)]);
    scene.write_lists([&from, &to]);
    let manifest = dir.path().join("manifest");
    let file = name(&manifest);
    haul().args(scene.words("copy", &["--manifest", file, "--manifest-block", "64K"])).assert().success();
    let against = |more: &[&str], side: &Path| {
        let words = [&["verify", "--manifest", file][..], more, &[name(side)]].concat();
        haul().args(words).assert()
    };
    against(&[], &scene.dest).success();
    against(&[], &scene.source).success();
    // Bytes between the ranges are not part of the copy; bytes in a range are, and are reported by their
    // offset.
    let mut changed = scene.dest_now();
    changed[50_000] ^= 1;
    fs::write(&scene.dest, &changed).expect("the directory in memory is writable");
    against(&[], &scene.dest).success();
    changed[250_000] ^= 1;
    fs::write(&scene.dest, &changed).expect("the directory in memory is writable");
    let differs = against(&["-v"], &scene.dest).code(1);
    // The third block of 64 KiB consists of bytes 131072 to 196608 of the copy, of which 4096 are in the first
    // range.
    let wanted = format!("{}+65536", 100_000 + 131_072 - 4096);
    let messages = in_one_line(&differs.get_output().stderr) + &in_one_line(&differs.get_output().stdout);
    assert!(messages.contains(&wanted), "{messages}");
    // A copy of the data at other offsets is compared at those that the user gives.
    let elsewhere = dir.path().join("elsewhere");
    fs::write(&elsewhere, gathered(&scene.bytes[0], &from)).expect("the directory in memory is writable");
    let lost = stderr(&against(&[], &elsewhere).code(USAGE));
    assert!(lost.contains("--ranges"), "{lost}");
    against(&["--seek", "0"], &elsewhere).success();
    let list = dir.path().join("list");
    write_list(&list, &[(0, 204_096)]);
    against(&["--ranges", name(&list)], &elsewhere).success();
    write_list(&list, &[(0, 204_095)]);
    against(&["--ranges", name(&list)], &elsewhere).code(USAGE);
    let shown = haul().args(["manifest", "show", "--json", file]).assert().success();
    let shown: Value = serde_json::from_slice(&shown.get_output().stdout).expect("it is JSON");
    let runs = |side: &str| {
        let runs = shown[side]["ranges"].as_array().expect("they are listed");
        runs.iter().map(|run| (run["offset_bytes"].as_u64(), run["len_bytes"].as_u64())).collect::<Vec<_>>()
    };
    let pairs = |ranges: &[Range]| ranges.iter().map(|r| (Some(r.0 as u64), Some(r.1 as u64))).collect::<Vec<_>>();
    assert_eq!((runs("source"), runs("dest")), (pairs(&from), pairs(&to)));
    // It does not describe one run of bytes, which --delta requires.
    let delta = ["copy", "--delta", file, name(&scene.source), name(&scene.dest)];
    let words = [delta[0], &format!("--delta={file}"), delta[3], delta[4]];
    let messages = stderr(&haul().args(words).assert().code(REFUSED));
    assert!(messages.contains("describes a copy of ranges"), "{messages}");
    let listed = format!("--delta={file}");
    let messages = stderr(&haul().args(scene.words("copy", &[&listed])).assert().failure());
    assert!(messages.contains("cannot be combined with --source-ranges"), "{messages}");
}

#[test]
fn unreadable_sectors_are_offsets_of_the_source_in_the_mapfile_and_of_the_copy_in_the_manifest() {
    let dir = memory_dir();
    let scene = Scene::new(dir.path(), MIB);
    // The bad sectors are in two ranges of the source.
    let (from, to) = ([(65_536, 8192), (500_000, 1000), (61_440, 8192)], [(0, 17_384)]);
    scene.write_lists([&from, &to]);
    let bad = 65_536..69_632;
    let Some(disk) = FailingDisk::over(dir.path(), &scene.source, Fails::Reads, bad) else { return };
    let (map, manifest) = (dir.path().join("map"), dir.path().join("manifest"));
    let words = ["--on-error", "skip", "--mapfile", name(&map), "--manifest", name(&manifest)];
    haul().args(scene.options("copy", &words)).args([&disk.path(), &scene.dest]).assert().code(1);
    let mut source = scene.bytes[0].clone();
    source[65_536..69_632].fill(0);
    assert!(scene.dest_now() == scattered(&scene.bytes[1], &to, &gathered(&source, &from)));
    let wanted = [(61_440, '+'), (65_536, '-'), (69_632, '+'), (73_728, '?'), (500_000, '+')];
    assert_eq!(statuses(&map), wanted);
    let shown = haul().args(["manifest", "show", "--json", name(&manifest)]).assert().success();
    let shown: Value = serde_json::from_slice(&shown.get_output().stdout).expect("it is JSON");
    let unread: Vec<_> = shown["unread"]
        .as_array()
        .expect("they are listed")
        .iter()
        .map(|run| (run["offset_bytes"].as_u64(), run["len_bytes"].as_u64()))
        .collect();
    assert_eq!(unread, [(Some(0), Some(4096)), (Some(8192 + 1000 + 4096), Some(4096))], "{shown:#}");
}

#[test]
fn the_plan_shows_the_lists_and_the_digest_is_of_their_bytes_in_order() {
    let dir = scratch();
    let scene = Scene::new(dir.path(), MIB);
    let (from, to) = ([(500_000, 1000), (0, 4096)], [(8192, 96), (100_000, 5000)]);
    scene.write_lists([&from, &to]);
    let plan = haul().args(scene.words("copy", &["--json", "--dry-run"])).assert().success();
    let plan: Value = serde_json::from_slice(&plan.get_output().stdout).expect("the plan is JSON");
    assert!(plan["ranges"].is_null() && plan["len_bytes"] == 5096, "{plan:#}");
    let list = |side: &str, key: &str| plan[side]["list"][key].clone();
    assert_eq!((list("source", "ranges"), list("source", "bytes")), (2.into(), 5096.into()));
    let span = serde_json::json!({"offset_bytes": 8192, "len_bytes": 105_000 - 8192});
    assert_eq!((list("dest", "ranges"), list("dest", "span")), (2.into(), span));
    assert_eq!(plan["source_ranges"]["runs"][0], serde_json::json!({"offset_bytes": 500_000, "len_bytes": 1000}));
    assert!(scene.dest_now() == scene.bytes[1], "--dry-run writes nothing");
    let shown = haul().args(scene.words("copy", &["--dry-run"])).assert().success();
    let shown = in_one_line(&shown.get_output().stdout);
    let [from_list, to_list] = scene.lists.each_ref().map(|list| name(list));
    let wanted = format!(
        "5096 bytes: only the 2 ranges of {from_list}, from byte 0 to byte 500999 of the source, to the 2 ranges of \
         {to_list}, from byte 8192 to byte 104999 of the destination"
    );
    assert!(shown.contains(&wanted), "{shown}");
    let page = dir.path().join("page.html");
    let done = scene.words("copy", &["--hash", "sha256", "--report", name(&page)]);
    let line = in_one_line(&haul().args(done).assert().success().get_output().stdout);
    let sum = sha2::Sha256::digest(gathered(&scene.bytes[0], &from));
    let hex: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(line.ends_with(&hex) && line.contains(", 2 ranges of "), "{line}");
    let page = fs::read_to_string(page).expect("it was created");
    assert!(page.contains("2 ranges of "), "the page does not name the lists");
}

#[test]
fn an_interrupted_copy_of_lists_is_resumed_only_with_the_same_lists() {
    let dir = scratch();
    let scene = Scene::new(dir.path(), 16 * MIB);
    let from = [(8 * MIB + 5, 3 * MIB), (0, 64 << 10), (4096, 5 * MIB)];
    let to = [(MIB, 6 * MIB), (7 * MIB + 7, 2 * MIB), (10, 64 << 10)];
    scene.write_lists([&from, &to]);
    let report = dir.path().join("report");
    let out = File::create(&report).expect("the file can be written");
    let pace = ["--json", "--progress", "json", "--limit", "1M", "--block-size", "64K"];
    let mut copy = Running::start(&scene.words("copy", &pace), Stdio::null(), out.into());
    copy.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes >= 256 << 10));
    copy.signal(Signal::INT);
    copy.end();
    let report: Value =
        serde_json::from_slice(&fs::read(&report).expect("it was created")).expect("the report is JSON");
    let command = report["continue_command"].as_str().unwrap_or_else(|| panic!("{report:#}"));
    assert!(command.contains("--source-ranges") && command.contains("--destination-ranges"), "{command}");
    let claimed = report["claimed"]["len_bytes"].as_u64().expect("a number") as usize;
    let data = gathered(&scene.bytes[0], &from);
    let left = scene.dest_now();
    assert!(gathered(&left, &to)[..claimed] == data[..claimed], "{claimed} bytes are claimed");
    let outside = |bytes: &[u8]| scattered(bytes, &to, &vec![0; data.len()]);
    assert!(outside(&left) == outside(&scene.bytes[1]), "bytes outside the ranges changed");
    for lists in [[&from[..], &[(MIB, 6 * MIB), (7 * MIB, 2 * MIB), (10, 64 << 10)]], [&to, &to]] {
        scene.write_lists(lists);
        let messages = stderr(&haul().args(scene.words("copy", &["--resume"])).assert().code(REFUSED));
        assert!(messages.contains("for other ranges"), "{messages}");
        assert!(scene.dest_now() == left, "a refused copy wrote");
    }
    scene.write_lists([&from, &to]);
    let done = haul().args(scene.words("copy", &["--resume", "--verify", "--hash", "sha256"])).assert().success();
    assert!(scene.dest_now() == scattered(&scene.bytes[1], &to, &data));
    let hex: String = sha2::Sha256::digest(&data).iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(in_one_line(&done.get_output().stdout).contains(&hex));
}

#[test]
fn the_journal_of_a_copy_of_ranges_is_exported_with_the_ranges_of_the_source() {
    let dir = memory_dir();
    let scene = Scene::new(dir.path(), MIB);
    let (from, to) = ([(500_000, 4096), (0, 8192)], [(100, 12_288)]);
    scene.write_lists([&from, &to]);
    let Some(disk) = FailingDisk::over(dir.path(), &scene.source, Fails::Reads, 4096..8192) else { return };
    let [journal, map] = ["journal", "map"].map(|file| dir.path().join(file));
    let words = ["--on-error", "skip", "--journal", name(&journal)];
    haul().args(scene.options("copy", &words)).args([&disk.path(), &scene.dest]).assert().code(1);
    let exported = haul().args(["journal", "export", name(&journal), name(&map)]).assert().success();
    let messages = stderr(&exported);
    assert!(messages.contains("8192 bytes finished, 4096 bad") && !messages.contains("ddrescue SRC"), "{messages}");
    assert!(messages.contains("ddrescue would also copy the data between them"), "{messages}");
    let blocks = [(0, '+'), (4096, '-'), (8192, '?'), (500_000, '+')];
    assert_eq!(statuses(&map), blocks);
}

/// The blocks of a mapfile: offset and status.
fn statuses(map: &Path) -> Vec<(u64, char)> {
    let text = fs::read_to_string(map).expect("it was written");
    let block = |line: &str| {
        let first = line.split_whitespace().next().and_then(|word| u64::from_str_radix(&word[2..], 16).ok());
        (first.expect("hexadecimal"), line.trim_end().chars().last().expect("a status"))
    };
    text.lines().filter(|line| !line.starts_with('#')).skip(1).map(block).collect()
}
