//! The power is cut during a copy, on a disk that loses unflushed data: what the journal claims is on the
//! medium.
//!
//! The disk is bench/modelled-disk with a volatile cache, which SIGKILL discards, mounted as a file by nbdfuse.
//! HAUL_POWER_CUTS sets the number of cuts, HAUL_POWER_SEED their moments and the data that each of them loses.
use crate::support;
use crate::support::{ModelledDisk, cmp, haul, haul_path, memory_dir, modelled_disks, wait_until, write_noise};
use haul::core::ExtentSet;
use haul::ledger::journal::read;
use std::fs::{self, File};
use std::io::BufReader;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Partial sectors, blocks and pages at the end.
const LEN: usize = (8 << 20) + 321;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Starts the disk in `dir`; `seed` determines what it loses when the power is cut.
fn powered(dir: &Path, plugin: &Path, seed: u64) -> ModelledDisk {
    ModelledDisk::on(dir, plugin, LEN, &["volatile_percent=60".to_owned(), format!("volatile_seed={seed}")])
}

struct Scene<'a> {
    dir: &'a Path,
    source: PathBuf,
    bytes: Vec<u8>,
    journal: PathBuf,
}

impl Scene<'_> {
    fn copy(&self, disk: &ModelledDisk, engine: &str, options: &[&str]) -> Child {
        let mut command = Command::new(haul_path());
        // With a range, so that the dest is not truncated first, which this disk does not support.
        command.args(["copy", "--engine", engine, "--seek", "0", "--progress", "none", "--journal"]).arg(&self.journal);
        command.args(options).args(self.journal.exists().then_some("--resume"));
        command.arg(&self.source).arg(disk.file()).stderr(Stdio::null());
        command.spawn().expect("the binary runs")
    }

    /// The claims of the journal, if there is one.
    fn claimed(&self) -> Option<ExtentSet> {
        let file = File::open(&self.journal).ok()?;
        Some(read(BufReader::new(file)).expect("the journal is not damaged").state.durable)
    }

    fn claimed_bytes(&self) -> u64 {
        self.claimed().map_or(0, |durable| durable.total_bytes())
    }

    /// Asserts that every claimed byte is on the medium.
    #[track_caller]
    fn claims_are_true(&self, cut: u64, seed: u64) {
        let durable = self.claimed().unwrap_or_default();
        let medium = fs::read(self.dir.join("store")).unwrap();
        for extent in durable.iter() {
            let asked = extent.offset as usize..extent.end() as usize;
            assert!(medium[asked.clone()] == self.bytes[asked], "cut {cut} of seed {seed}: {extent:?} is lost");
        }
    }
}

/// Copies with `engine` until `cuts` power cuts were made, and then to the end. A complete copy is restarted.
fn cut_again_and_again(plugin: &Path, engine: &str, cuts: u64, seed: u64) {
    let dir = memory_dir();
    let (source, journal) = (dir.path().join("source"), dir.path().join("journal"));
    let bytes = write_noise(&source, LEN, 71);
    let scene = Scene { dir: dir.path(), source, bytes, journal };
    let store = dir.path().join("store");
    let slow = ["--limit", "16M", "--block-size", "64K", "--checkpoint", "0.02"];
    let (mut random, mut with_claims) = (fastrand::Rng::with_seed(seed), 0);
    for cut in 0..cuts {
        if !scene.journal.exists() {
            File::create(&store).unwrap().set_len(LEN as u64).unwrap();
        }
        let before = scene.claimed_bytes();
        let mut disk = powered(dir.path(), plugin, random.u64(..));
        let mut copy = scene.copy(&disk, engine, &slow);
        // Usually after there is a new claim that may be false, even on a slow machine; sometimes at any time.
        if !random.u8(..).is_multiple_of(4) {
            wait_until(|| scene.claimed_bytes() > before || copy.try_wait().unwrap().is_some());
        }
        std::thread::sleep(Duration::from_millis(random.u64(..60)));
        // The machine loses power with the disk, or keeps running while the disk disappears.
        if random.bool() {
            copy.kill().expect("it is a child of this process");
        }
        disk.cut();
        wait_until(|| copy.try_wait().unwrap().is_some());
        drop(disk);
        scene.claims_are_true(cut, seed);
        if let Some(durable) = scene.claimed() {
            with_claims += u64::from(!durable.is_empty());
            assert!(durable.total_bytes() >= before, "{engine}: it claims less than before");
        }
    }
    let disk = powered(dir.path(), plugin, seed);
    assert!(scene.copy(&disk, engine, &[]).wait().unwrap().success(), "{engine}: the rest cannot be copied");
    drop(disk);
    cmp(&scene.source, &store);
    assert!(!scene.journal.exists() && with_claims > 0, "{engine}: {with_claims} of {cuts} cuts had claims");
}

#[test]
fn bytes_that_the_journal_claims_survive_a_power_cut_at_any_moment() {
    let Some(plugin) = modelled_disks() else { return };
    let (cuts, seed) = (number("HAUL_POWER_CUTS", 12), number("HAUL_POWER_SEED", 1));
    let engines = support::engines();
    for (round, engine) in engines.iter().enumerate() {
        cut_again_and_again(&plugin, engine, cuts.div_ceil(engines.len() as u64), seed + round as u64);
    }
}

#[test]
fn bytes_that_an_import_claims_survive_a_power_cut() {
    let Some(plugin) = modelled_disks() else { return };
    let dir = memory_dir();
    let (source, map, journal) = (dir.path().join("source"), dir.path().join("map"), dir.path().join("journal"));
    let bytes = write_noise(&source, LEN, 72);
    File::create(dir.path().join("store")).unwrap().set_len(LEN as u64).unwrap();
    let scene = Scene { dir: dir.path(), source, bytes, journal };
    let mut disk = powered(dir.path(), &plugin, 9);
    let dest = disk.file();
    // ddrescue was killed between two flushes, so its mapfile lists bytes that are not durable.
    fs::write(&map, format!("0 ? 1\n0 {} +\n{0} {} ?\n", 4 << 20, LEN - (4 << 20))).unwrap();
    let written = File::options().write(true).open(&dest).unwrap();
    written.write_all_at(&scene.bytes[..4 << 20], 0).unwrap();
    let mut import = haul();
    import.args(["journal", "import", "--seek", "0", "--journal"]).args([&scene.journal, &map, &scene.source, &dest]);
    import.assert().success();
    disk.cut();
    drop((disk, written));
    assert_eq!(scene.claimed_bytes(), 4 << 20);
    scene.claims_are_true(0, 9);
    let disk = powered(dir.path(), &plugin, 9);
    assert!(scene.copy(&disk, "threads", &[]).wait().unwrap().success());
    drop(disk);
    cmp(&scene.source, dir.path().join("store"));
}
