//! `haul copy --manifest`, `haul verify --manifest`, `haul manifest`: manifests of copies.
use crate::support::{
    LoopDevice, ScratchDir, engines, haul, in_one_line, memory_dir, name, noise, scratch, stderr, stderr_lines,
    write_noise,
};
use blake3::hazmat::HasherExt;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const MIB: usize = 1 << 20;
const BLOCK: usize = 64 << 10;

#[test]
fn a_missing_manifest_is_reported_as_missing() {
    let dir = scratch();
    let missing = dir.path().join("nosuch");
    let file = dir.path().join("file");
    fs::write(&file, "x").expect("the file can be written");
    let show = haul().args(["manifest", "show", name(&missing)]).assert().code(1);
    let verify = haul().args(["verify", "--manifest", name(&missing), name(&file)]).assert().code(1);
    for messages in [stderr_lines(&show), stderr_lines(&verify)] {
        let right = format!("haul: manifest {}: no such file\n  → Check the path.\n", missing.display());
        assert_eq!(messages, right);
    }
}

/// A source of noise with some zeros, and paths beside it.
struct Bench {
    dir: ScratchDir,
    bytes: Vec<u8>,
}

impl Bench {
    fn new(seed: u64) -> Self {
        let dir = scratch();
        let mut bytes = noise(3 * MIB + 777, seed);
        bytes[MIB..MIB + 5 * BLOCK + 9].fill(0);
        fs::write(dir.path().join("source"), &bytes).expect("the file can be written");
        Bench { dir, bytes }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn copy(&self, dest: &str, manifest: &str) -> Value {
        let words = ["copy", "--json", "--progress", "none", "--manifest-block", "64K", "--manifest"];
        let paths = [self.path(manifest), self.path("source"), self.path(dest)];
        let output = haul().args(words).args(paths).output().expect("haul runs");
        assert!(output.status.success(), "{}", in_one_line(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("the report is JSON")
    }
}

fn verify(words: &[&str]) -> (Value, i32) {
    let output = haul().args(["verify", "--json", "--progress", "none"]).args(words).output().expect("haul runs");
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}\n{}", in_one_line(&output.stdout), in_one_line(&output.stderr)));
    (report, output.status.code().expect("no signal ended it"))
}

/// The lines of a manifest.
fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("a manifest is UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}

#[test]
fn a_manifest_has_the_digest_of_every_block_and_of_the_whole() {
    let bench = Bench::new(71);
    let report = bench.copy("dest", "manifest");
    assert_eq!(report["manifest"], name(&bench.path("manifest")));
    let lines = lines(&bench.path("manifest"));
    assert_eq!(lines[0]["len_bytes"], bench.bytes.len());
    assert_eq!(lines[0]["source"]["path"], name(&bench.path("source")));
    assert_eq!(lines[0]["dest"]["size_bytes"], Value::Null);
    let mut seen = vec![false; bench.bytes.len().div_ceil(BLOCK)];
    for line in &lines[1..lines.len() - 1] {
        let (offset, len) = (line["offset_bytes"].as_u64().unwrap() as usize, line["len_bytes"].as_u64().unwrap());
        let bytes = &bench.bytes[offset..offset + len as usize];
        match line["digest"].as_str() {
            Some(digest) => {
                let value = blake3::Hasher::new().set_input_offset(offset as u64).update(bytes).finalize_non_root();
                assert_eq!(digest, blake3::Hash::from(value).to_hex().as_str(), "at {offset}");
            }
            None => assert!(line["zero"] == true && bytes.iter().all(|&byte| byte == 0), "at {offset}"),
        }
        seen[offset / BLOCK..(offset + len as usize).div_ceil(BLOCK)].iter_mut().for_each(|seen| *seen = true);
    }
    assert!(seen.iter().all(|&seen| seen), "every block has a line");
    assert!(lines.iter().any(|line| line["zero"] == true), "zeros are marked as such");
    let whole = blake3::hash(&bench.bytes).to_hex().to_string();
    assert_eq!(lines.last().unwrap()["whole"], whole);
    // The digest that only the manifest needs is not printed.
    fs::remove_file(bench.path("manifest")).expect("it exists");
    let words = [bench.path("manifest"), bench.path("source"), bench.path("dest")];
    let output = haul().args(["copy", "--manifest"]).args(&words).output().expect("haul runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
}

#[test]
fn a_copy_is_verified_against_its_manifest_without_the_source() {
    let bench = Bench::new(72);
    bench.copy("dest", "manifest");
    fs::remove_file(bench.path("source")).expect("it exists");
    let (dest, manifest) = (bench.path("dest"), bench.path("manifest"));
    for engine in engines() {
        fs::write(&dest, &bench.bytes).expect("the file can be written");
        let words = ["--engine", engine, "--manifest", name(&manifest), name(&dest)];
        let (report, status) = verify(&words);
        assert_eq!((status, &report["differences"]["equal"]), (0, &true.into()), "{engine}: {report}");
        assert_eq!(report["bytes"]["compared_bytes"], bench.bytes.len());
        for at in [0, MIB + 3, 2 * MIB, bench.bytes.len() - 1] {
            let mut changed = bench.bytes.clone();
            changed[at] ^= 0x10;
            fs::write(&dest, &changed).expect("the file can be written");
            let (report, status) = verify(&words);
            let runs = report["differences"]["runs"].as_array().expect("runs are a list");
            let (start, end) = (at / BLOCK * BLOCK, (at / BLOCK * BLOCK + BLOCK).min(changed.len()));
            assert_eq!((status, runs.len()), (1, 1), "{engine}: {report}");
            assert_eq!((&runs[0]["offset_bytes"], &runs[0]["len_bytes"]), (&start.into(), &(end - start).into()));
        }
    }
}

#[test]
fn a_dest_that_is_shorter_or_longer_than_the_copy_is_different() {
    let bench = Bench::new(73);
    bench.copy("dest", "manifest");
    let (dest, manifest) = (bench.path("dest"), bench.path("manifest"));
    let words = ["--manifest", name(&manifest), name(&dest)];
    fs::write(&dest, &bench.bytes[..2 * MIB + 5]).expect("the file can be written");
    let (report, status) = verify(&words);
    let shorter = &report["differences"]["shorter"];
    assert_eq!((status, &shorter["side"]), (1, &"dest".into()), "{report}");
    assert_eq!((&shorter["lacks_bytes"], &report["differences"]["differing_bytes"]), (&(MIB + 772).into(), &0.into()));
    fs::write(&dest, [&bench.bytes[..], b"more"].concat()).expect("the file can be written");
    let (report, status) = verify(&words);
    assert_eq!((status, &report["differences"]["shorter"]["side"]), (1, &"source".into()), "{report}");
}

#[test]
fn an_image_on_a_disk_is_verified_at_its_offset() {
    let bench = Bench::new(74);
    let disks = memory_dir();
    let backing = disks.path().join("disk");
    fs::write(&backing, vec![0x55; 8 * MIB]).expect("the file can be written");
    let Some(disk) = LoopDevice::over(&backing) else { return };
    let (source, manifest) = (bench.path("source"), bench.path("manifest"));
    let at = (MIB + 512).to_string();
    let disk_name = name(disk.path());
    let copy = ["copy", "-vy", "--verify", "--seek", &at, "--manifest", name(&manifest), name(&source), disk_name];
    let assert = haul().args(copy).assert().success();
    assert!(stderr(&assert).contains("bypassing the page cache: identical"), "{}", stderr(&assert));
    // The disk is identified as the dest of the manifest, which records the offset of the copy.
    let (report, status) = verify(&["--manifest", name(&manifest), disk_name]);
    assert_eq!((status, &report["dest"]["offset_bytes"]), (0, &(MIB + 512).into()), "{report}");
    // The source is the other side, at offset 0.
    let (report, status) = verify(&["--manifest", name(&manifest), name(&source)]);
    assert_eq!((status, &report["dest"]["offset_bytes"]), (0, &0.into()), "{report}");
    // Differences must be reported.
    fs::copy(&source, bench.path("other")).expect("the file can be written");
    let other = bench.path("other");
    let assert = haul().args(["verify", "--manifest", name(&manifest), name(&other)]).assert().code(2);
    assert!(stderr(&assert).contains("--seek"), "{}", stderr(&assert));
    let (_, status) = verify(&["--seek", "0", "--manifest", name(&manifest), name(&other)]);
    assert_eq!(status, 0);
}

#[test]
fn a_stream_has_a_manifest() {
    let bench = Bench::new(75);
    let manifest = bench.path("manifest");
    let words = ["copy", "--manifest", name(&manifest), "--progress", "none", "-", name(&bench.path("dest"))]
        .map(str::to_owned);
    haul().args(words).write_stdin(bench.bytes.clone()).assert().success();
    assert_eq!(lines(&manifest)[0]["len_bytes"], Value::Null);
    let (report, status) = verify(&["--manifest", name(&manifest), name(&bench.path("dest"))]);
    assert_eq!(status, 0, "{report}");
}

#[test]
fn manifests_are_shown_and_compared() {
    let bench = Bench::new(76);
    bench.copy("one", "first");
    let mut changed = bench.bytes.clone();
    changed[2 * MIB + 7] ^= 1;
    changed.extend_from_slice(&noise(BLOCK, 1));
    fs::write(bench.path("source"), &changed).expect("the file can be written");
    bench.copy("two", "second");
    let (first, second) = (bench.path("first"), bench.path("second"));
    let diff = |one: &Path, other: &Path| {
        let output = haul().args(["manifest", "diff", "--json", name(one), name(other)]).output().expect("haul runs");
        let report: Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
        (report, output.status.code())
    };
    let (report, status) = diff(&first, &second);
    assert_eq!((status, &report["equal"]), (Some(1), &false.into()));
    assert_eq!(report["differing"][0]["offset_bytes"], 2 * MIB / BLOCK * BLOCK);
    assert_eq!(report["only_in_second"].as_array().map(Vec::len), Some(1), "{report}");
    let (report, status) = diff(&first, &first);
    assert_eq!((status, &report["equal"]), (Some(0), &true.into()));
    let output = haul().args(["manifest", "show", "--json", name(&first)]).output().expect("haul runs");
    let shown: Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
    assert_eq!(shown["len_bytes"], bench.bytes.len());
    assert_eq!(shown["zero_bytes"], 5 * BLOCK);
    assert_eq!(shown["whole"], blake3::hash(&bench.bytes).to_hex().to_string());
    let text = haul().args(["manifest", "show", name(&first)]).assert().success();
    let text = String::from_utf8_lossy(&text.get_output().stdout).into_owned();
    assert!(text.contains("327680 bytes") && text.contains(name(&bench.path("one"))), "{text}");
}

#[test]
fn a_damaged_manifest_is_refused_with_the_reason() {
    let bench = Bench::new(77);
    bench.copy("dest", "manifest");
    let whole = fs::read_to_string(bench.path("manifest")).expect("a manifest is UTF-8");
    let bad = bench.path("bad");
    let newer = whole.replacen("\"haul_manifest\":1", "\"haul_manifest\":2", 1);
    let damaged = whole.replacen("\"len_bytes\":65536", "\"len_bytes\":65537", 1);
    let half: String = whole.lines().take(5).flat_map(|line| [line, "\n"]).collect();
    for (text, status, why, advice) in [
        (half.as_str(), 1, "it is truncated", "resume it, or create the manifest again"),
        (&whole[..whole.len() - 9], 1, "it is truncated", "create the manifest again"),
        (damaged.as_str(), 1, "checksum mismatch", "another copy of the file"),
        (newer.as_str(), 2, "format version 2 is newer than this version of haul", "the haul that wrote it"),
        ("what is this?\n", 2, "it is not a manifest", "the file that --manifest wrote"),
        ("", 2, "it is not a manifest", "the file that --manifest wrote"),
    ] {
        fs::write(&bad, text).expect("the file can be written");
        let dest = bench.path("dest");
        let verify = vec!["verify", "--manifest", name(&bad), name(&dest)];
        for words in [verify, vec!["manifest", "show", name(&bad)]] {
            let assert = haul().args(&words).assert().code(status);
            let messages = stderr(&assert);
            assert!(
                messages.contains(why) && messages.contains(advice) && messages.contains(name(&bad)),
                "{words:?}: {messages}"
            );
        }
    }
}

#[test]
fn no_byte_is_written_if_the_manifest_cannot_be() {
    let bench = Bench::new(78);
    let before = noise(1000, 1);
    fs::write(bench.path("dest"), &before).expect("the file can be written");
    let taken = bench.path("taken");
    fs::write(&taken, b"somebody's").expect("the file can be written");
    for (manifest, status, why) in [
        (taken.clone(), 3, "it already exists"),
        (bench.path("no/such/directory"), 1, "cannot read or write it"),
        (bench.path("dest"), 3, "is the destination "),
    ] {
        let words = ["copy", "--manifest", name(&manifest), name(&bench.path("source")), name(&bench.path("dest"))]
            .map(str::to_owned);
        let assert = haul().args(words).assert().code(status);
        assert!(stderr(&assert).contains(why), "{}", stderr(&assert));
        assert!(fs::read(bench.path("dest")).expect("it exists") == before, "the dest was written to");
    }
    assert_eq!(fs::read(&taken).expect("it exists"), b"somebody's");
}

#[test]
fn a_copy_that_fails_leaves_no_manifest() {
    let bench = Bench::new(79);
    let manifest = bench.path("manifest");
    let words =
        ["copy", "--manifest", name(&manifest), "--count", "4M", "-", name(&bench.path("dest"))].map(str::to_owned);
    let assert = haul().args(words).write_stdin(bench.bytes.clone()).assert().code(1);
    assert!(stderr(&assert).contains("was not written"), "{}", stderr(&assert));
    let left: Vec<_> =
        fs::read_dir(bench.dir.path()).expect("it exists").flatten().map(|entry| entry.file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with("manifest")), "{left:?}");
}

#[test]
fn invalid_operands_are_usage_errors() {
    let dir = scratch();
    let file = dir.path().join("file");
    write_noise(&file, 100, 80);
    let file = name(&file);
    let [other, third] = ["other", "third"].map(|more| format!("{file}-{more}"));
    for words in [
        vec!["copy", "--manifest-block", "100K", file, "/dev/null"],
        vec!["copy", "--manifest-block", "32K", file, "/dev/null"],
        vec!["copy", "--manifest", "", file, "/dev/null"],
        vec!["copy", "--verify=half", file, "/dev/null"],
        vec!["copy", "--verify=sample:0%", file, "/dev/null"],
        vec!["copy", "--verify=sample:101%", file, "/dev/null"],
        vec!["copy", "--verify", file, "/dev/null"],
        vec!["copy", "--verify", "--no-flush", file, "/nowhere"],
        vec!["copy", "--delta", "--also", &other, file, &third],
        vec!["verify", file],
        vec!["verify", "--manifest", file, file, file],
        vec!["verify", "--manifest", file, "--count", "1", file],
        vec!["manifest"],
        vec!["manifest", "show"],
    ] {
        haul().args(&words).assert().code(2);
    }
    haul().args(["copy", "--manifest", &other, "--also", &other, file, &third]).assert().code(3);
}

#[test]
fn a_manifest_of_a_range_verifies_within_the_longer_file() {
    let bench = Bench::new(77);
    let [source, manifest] = ["source", "manifest"].map(|name| bench.path(name));
    for (skip, count) in [("0", "1M"), ("512K", "1M"), ("2M", "1M")] {
        let mut copy = haul();
        copy.args(["copy", "--progress", "none", "--manifest-block", "64K", "--skip", skip, "--count", count]);
        copy.arg("--manifest").args([&manifest, &source, &bench.path("dest")]).assert().success();
        for side in ["source", "dest"] {
            let (report, status) = verify(&["--manifest", name(&manifest), name(&bench.path(side))]);
            assert_eq!(status, 0, "{side} from {skip}: {report}");
        }
        // A wrong byte within the part is found, and those after it are not examined.
        for (at, wrong) in [(2 * MIB + 300_000, skip == "2M"), (3 * MIB + 700, false)] {
            let mut changed = bench.bytes.clone();
            changed[at] ^= 1;
            fs::write(&source, &changed).unwrap();
            let (report, status) = verify(&["--manifest", name(&manifest), name(&source)]);
            assert_eq!(status, i32::from(wrong), "byte {at}, from {skip}: {report}");
        }
        fs::write(&source, &bench.bytes).unwrap();
        [bench.path("dest"), manifest.clone()].iter().for_each(|made| fs::remove_file(made).unwrap());
    }
}

#[test]
fn a_manifest_of_a_range_of_a_longer_dest_verifies_it_for_every_source() {
    let bench = Bench::new(78);
    let [dest, manifest] = ["dest", "manifest"].map(|name| bench.path(name));
    for range in [&["--count", "1M"][..], &["--seek", "64K"]] {
        fs::write(&dest, vec![7; 8 * MIB]).unwrap();
        let mut copy = haul();
        copy.args(["copy", "--progress", "none"]).args(range).args(["--manifest", name(&manifest), "-", name(&dest)]);
        copy.write_stdin(&bench.bytes[..2 * MIB]).assert().success();
        let (report, status) = verify(&["--manifest", name(&manifest), name(&dest)]);
        assert_eq!(status, 0, "{range:?}: {report}");
        fs::remove_file(&manifest).unwrap();
    }
}
