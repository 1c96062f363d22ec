//! A disk that damages data silently: each method of verification finds all damage, with its kind and offset,
//! and nothing else.
//!
//! The disk is bench/modelled-disk, mounted as a file by nbdfuse, with a loop device over it.
use crate::support;
use crate::support::{LoopDevice, ModelledDisk, engines, haul, in_one_line, memory_dir, modelled_disks, write_noise};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const LEN: usize = 4 << 20;
const SECTOR: usize = 512;
/// Block size of digests, in bytes.
const BLOCK: u64 = 64 << 10;

/// A kind of damage: the disk's parameter for it, and the sectors that are wrong after the whole disk was
/// written.
struct Damage {
    words: &'static str,
    sectors: &'static [(u64, u64)],
    /// Its name in a pattern report on a disk with an earlier run, and on an empty disk.
    names: (&'static str, &'static str),
}

/// At the first and the last sector, across block borders, and within a sector.
const DAMAGES: [Damage; 8] = [
    Damage { words: "flip=0", sectors: &[(0, 1)], names: ("flipped", "flipped") },
    Damage { words: "flip=1000000", sectors: &[(1953, 1)], names: ("flipped", "flipped") },
    Damage { words: "flip=4194303", sectors: &[(8191, 1)], names: ("flipped", "flipped") },
    Damage { words: "drop=1M:4096", sectors: &[(2048, 8)], names: ("stale", "zero") },
    Damage { words: "drop=131072:512", sectors: &[(256, 1)], names: ("stale", "zero") },
    Damage { words: "drop=65024:1024", sectors: &[(127, 2)], names: ("stale", "zero") },
    Damage { words: "drop=2097408:256", sectors: &[(4096, 1)], names: ("torn", "torn") },
    Damage { words: "swap=512K:3M", sectors: &[(1024, 8), (6144, 8)], names: ("swapped", "swapped") },
];

/// A block device over a modelled disk; its data is in `store`.
struct Bed {
    device: LoopDevice,
    _disk: ModelledDisk,
}

impl Bed {
    fn on(dir: &Path, plugin: &Path, words: &str) -> Option<Bed> {
        let words: Vec<String> = words.split_whitespace().map(Into::into).collect();
        let disk = ModelledDisk::on(dir, plugin, LEN, &words);
        Some(Bed { device: LoopDevice::over(&disk.file())?, _disk: disk })
    }

    fn name(&self) -> &str {
        self.device.path().to_str().expect("device names are UTF-8")
    }
}

/// The report, and the status.
fn report(words: &[&str]) -> (Value, i32) {
    let output = haul().args(words).args(["--json", "--progress", "none"]).output().expect("haul runs");
    let messages = in_one_line(&output.stderr);
    let report =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{words:?}: {error}: {messages}"));
    (report, output.status.code().expect("no signal ended it"))
}

/// Offset and length of each of a list of runs.
fn extents(list: &Value) -> Vec<(u64, u64)> {
    let number = |value: &Value| value.as_u64().expect("a number");
    let runs = list.as_array().expect("a list");
    runs.iter().map(|run| (number(&run["offset_bytes"]), number(&run["len_bytes"]))).collect()
}

/// The damaged sectors, as bytes.
fn damaged(damage: &Damage) -> Vec<(u64, u64)> {
    damage.sectors.iter().map(|(first, count)| (first * SECTOR as u64, count * SECTOR as u64)).collect()
}

/// The blocks of digests that contain the damage.
fn damaged_blocks(damage: &Damage) -> Vec<(u64, u64)> {
    let whole = |(offset, len): (u64, u64)| {
        let start = offset - offset % BLOCK;
        (start, (offset + len).next_multiple_of(BLOCK) - start)
    };
    damaged(damage).into_iter().map(whole).collect()
}

/// The disk's parameters and its directory, empty or with an earlier run of the pattern or with zeros.
fn store(dir: &Path) -> PathBuf {
    let store = dir.join("store");
    fs::File::create(&store).and_then(|file| file.set_len(LEN as u64)).expect("the directory in memory is writable");
    store
}

#[test]
fn the_pattern_names_each_kind_of_damage_with_its_offset() {
    let Some(plugin) = modelled_disks() else { return };
    let dir = memory_dir();
    for (number, damage) in DAMAGES.iter().enumerate() {
        for engine in engines() {
            for another_run_before in [true, false] {
                store(dir.path());
                let write = |words: &str, run: &str| {
                    let bed = Bed::on(dir.path(), &plugin, words)?;
                    let words = ["pattern", "write", "--yes", "--engine", engine, "--run", run, bed.name()];
                    let (written, status) = report(&words);
                    assert_eq!(status, 0, "the disk reports no error: {written}");
                    Some(bed)
                };
                if another_run_before && write("", "7").is_none() {
                    return;
                }
                let Some(bed) = write(damage.words, "8") else { return };
                let (found, status) = report(&["pattern", "check", "--engine", engine, bed.name()]);
                assert_eq!(status, 1, "{engine}: {number}: {} is not found: {found}", damage.words);
                let runs = &found["damage"]["runs"];
                assert_eq!(extents(runs), damaged(damage), "{engine}: {}: {found}", damage.words);
                let name = if another_run_before { damage.names.0 } else { damage.names.1 };
                for run in runs.as_array().expect("a list") {
                    assert_eq!(run["kind"], name, "{engine}: {}: {found}", damage.words);
                }
            }
        }
    }
}

#[test]
fn verify_and_read_back_find_each_damage_at_its_offset() {
    let Some(plugin) = modelled_disks() else { return };
    let dir = memory_dir();
    let (source, manifest) = (dir.path().join("source"), dir.path().join("manifest"));
    write_noise(&source, LEN, 51);
    let source = source.to_str().expect("paths of test directories are UTF-8");
    for damage in &DAMAGES {
        for engine in engines() {
            store(dir.path());
            let Some(bed) = Bed::on(dir.path(), &plugin, damage.words) else { return };
            let _ = fs::remove_file(&manifest);
            let manifest = manifest.to_str().expect("paths of test directories are UTF-8");
            let with_manifest = ["--manifest", manifest, "--manifest-block", "64K"];
            let copy = ["copy", "--yes", "--engine", engine];
            let (copied, status) = report(&[&copy[..], &with_manifest, &[source, bed.name()]].concat());
            assert_eq!(status, 0, "the disk reports no error: {copied}");

            let (found, status) = report(&["verify", "--engine", engine, source, bed.name()]);
            assert_eq!(status, 1, "{engine}: {}: {found}", damage.words);
            assert_eq!(extents(&found["differences"]["runs"]), damaged(damage), "{engine}: {}", damage.words);

            let (found, status) = report(&["verify", "--engine", engine, "--manifest", manifest, bed.name()]);
            assert_eq!(status, 1, "{engine}: {}: {found}", damage.words);
            assert_eq!(extents(&found["differences"]["runs"]), damaged_blocks(damage), "{engine}: {}", damage.words);

            // The disk damages rewritten data, too.
            let verify = ["--verify", "--manifest-block", "64K"];
            let (found, status) = report(&[&copy[..], &verify, &[source, bed.name()]].concat());
            assert_eq!(status, 1, "{engine}: {}: {found}", damage.words);
            let verified = &found["verified"];
            assert_eq!(extents(&verified["wrong"]), damaged_blocks(damage), "{engine}: {}: {found}", damage.words);
            assert_eq!(extents(&verified["rewritten"]), [], "{engine}: {}: {found}", damage.words);
        }
    }
}

#[test]
fn damage_that_a_second_read_resolves_is_reported_apart_from_persistent_damage() {
    let Some(plugin) = modelled_disks() else { return };
    let dir = memory_dir();
    let source = dir.path().join("source");
    write_noise(&source, LEN, 52);
    let source_name = source.to_str().expect("paths of test directories are UTF-8");
    let block = |number: u64| (number * BLOCK, BLOCK);
    for engine in engines() {
        store(dir.path());
        let words = "damage_times=1 flip=1000000 drop=2M:512 misread=3500000";
        let Some(bed) = Bed::on(dir.path(), &plugin, words) else { return };
        let words =
            ["copy", "--yes", "--engine", engine, "--verify", "--manifest-block", "64K", source_name, bed.name()];
        let (found, status) = report(&words);
        let verified = &found["verified"];
        assert_eq!((status, &verified["right"]), (0, &true.into()), "{engine}: {found}");
        assert_eq!(extents(&verified["rewritten"]), [block(15), block(32)], "{engine}: {found}");
        assert_eq!(extents(&verified["misread"]), [block(53)], "{engine}: {found}");
        assert_eq!(extents(&verified["wrong"]), [], "{engine}: {found}");
        drop(bed);
        support::cmp(&source, dir.path().join("store"));
    }
}

/// Random damage, `count` of each kind, at offsets drawn by `seed`: the disk's parameters, and the wrong
/// sectors.
fn drawn(seed: u64, count: usize) -> (String, Vec<u64>) {
    let mut random = fastrand::Rng::with_seed(seed);
    // Eight sectors each, of which one in two is used, so that none are adjacent.
    let mut places: Vec<u64> = (0..LEN as u64 / 8192).map(|place| place * 8192).collect();
    random.shuffle(&mut places);
    let mut words = [Vec::new(), Vec::new(), Vec::new()];
    let mut wrong = Vec::new();
    for (number, place) in places.into_iter().take(4 * count).enumerate() {
        let sector = place / SECTOR as u64;
        match number % 4 {
            0 => {
                let byte = place + random.u64(..SECTOR as u64);
                words[0].push(byte.to_string());
                wrong.push(sector);
            }
            1 => {
                let sectors = random.u64(1..8);
                words[1].push(format!("{place}:{}", sectors * SECTOR as u64));
                wrong.extend(sector..sector + sectors);
            }
            // Pairs: two and three are adjacent.
            _ => {
                words[2].push(place.to_string());
                wrong.extend(sector..sector + 8);
            }
        }
    }
    wrong.sort_unstable();
    let pairs: Vec<String> = words[2].chunks(2).map(|pair| pair.join(":")).collect();
    (format!("flip={} drop={} swap={}", words[0].join(","), words[1].join(","), pairs.join(",")), wrong)
}

/// Every sector in a list of runs.
fn sectors(list: &Value) -> Vec<u64> {
    let sector = SECTOR as u64;
    extents(list).into_iter().flat_map(|(offset, len)| offset / sector..(offset + len) / sector).collect()
}

#[test]
fn every_damage_is_found_without_false_alarms() {
    let Some(plugin) = modelled_disks() else { return };
    let dir = memory_dir();
    let source = dir.path().join("source");
    write_noise(&source, LEN, 53);
    let source = source.to_str().expect("paths of test directories are UTF-8");
    for (seed, engine) in engines().into_iter().cycle().take(6).enumerate() {
        // A clean disk first: its store has the old data for stale sectors.
        for (words, wrong) in [(String::new(), Vec::new()), drawn(seed as u64, 40)] {
            store(dir.path());
            let Some(bed) = Bed::on(dir.path(), &plugin, &words) else { return };
            let status_wanted = i32::from(!wrong.is_empty());
            let (written, status) = report(&["pattern", "write", "--yes", "--engine", engine, bed.name()]);
            assert_eq!(status, 0, "{written}");
            let (found, status) = report(&["pattern", "check", "--engine", engine, bed.name()]);
            assert_eq!(
                (status, sectors(&found["damage"]["runs"])),
                (status_wanted, wrong.clone()),
                "{engine}: {words}"
            );

            let (copied, status) = report(&["copy", "--yes", "--engine", engine, source, bed.name()]);
            assert_eq!(status, 0, "{copied}");
            let (found, status) = report(&["verify", "--engine", engine, source, bed.name()]);
            assert_eq!((status, sectors(&found["differences"]["runs"])), (status_wanted, wrong.clone()), "{words}");

            let verify = ["--verify", "--manifest-block", "64K"];
            let (found, status) =
                report(&[&["copy", "--yes", "--engine", engine][..], &verify, &[source, bed.name()]].concat());
            let mut blocks: Vec<u64> = wrong.iter().map(|sector| sector * SECTOR as u64 / BLOCK).collect();
            blocks.dedup();
            let reported = extents(&found["verified"]["wrong"]);
            let reported: Vec<u64> =
                reported.into_iter().flat_map(|(at, len)| at / BLOCK..(at + len) / BLOCK).collect();
            assert_eq!((status, reported), (status_wanted, blocks), "{engine}: {words}");
        }
    }
}
