//! A copy that is repeatedly killed at any moment and resumed: what the journal claims is on the dest.
//!
//! HAUL_CRASH_KILLS sets the number of kills, HAUL_CRASH_SEED their moments.
use crate::support;
use crate::support::{cmp, haul, haul_path, noise, scratch, wait_until};
use haul::core::ExtentSet;
use haul::ledger::journal::read;
use std::fs::{self, File};
use std::io::BufReader;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const MIB: usize = 1 << 20;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// The claims of the journal, if there is one.
fn claimed(journal: &Path) -> Option<ExtentSet> {
    let file = File::open(journal).ok()?;
    Some(read(BufReader::new(file)).expect("a kill does not damage a journal").state.durable)
}

/// Asserts that every claimed byte of the dest equals the source.
#[track_caller]
fn claims_are_true(source: &[u8], dest: &Path, durable: &ExtentSet) {
    let dest = File::open(dest).expect("claimed data exists");
    for extent in durable.iter() {
        let mut written = vec![0; extent.len as usize];
        dest.read_exact_at(&mut written, extent.offset).expect("the dest contains the claimed bytes");
        let asked = extent.offset as usize..extent.end() as usize;
        assert!(written == source[asked], "{extent:?} is claimed and not there");
    }
}

struct Scene {
    source: PathBuf,
    dest: PathBuf,
    bytes: Vec<u8>,
    journal: PathBuf,
}

impl Scene {
    /// `holes`: every third MiB of the source is a hole.
    fn new(dir: &Path, len: usize, holes: bool) -> Self {
        let (source, dest) = (dir.join("source"), dir.join("dest"));
        let mut bytes = noise(len, 91);
        let file = File::create(&source).unwrap();
        for (number, mib) in bytes.chunks_mut(MIB).enumerate() {
            if holes && number % 3 == 1 {
                mib.fill(0);
            } else {
                file.write_all_at(mib, (number * MIB) as u64).unwrap();
            }
        }
        file.set_len(len as u64).unwrap();
        Scene { source, dest, bytes, journal: dir.join(".dest.haul-journal") }
    }

    fn start(&self, engine: &str, resume: bool) -> Child {
        let mut command = Command::new(haul_path());
        command.args(["copy", "--engine", engine, "--limit", "24M", "--block-size", "64K", "--progress", "none"]);
        command.args(["--checkpoint", "0.02"]).args(resume.then_some("--resume"));
        command.arg(&self.source).arg(&self.dest).stderr(Stdio::null());
        command.spawn().expect("the binary runs")
    }
}

/// Kills copies with `engine` `kills` times, and lets the last one end. A complete copy is restarted.
fn kill_again_and_again(engine: &str, holes: bool, kills: u64, seed: u64) {
    let dir = scratch();
    let scene = Scene::new(dir.path(), 20 * MIB + 321, holes);
    let (mut random, mut resumed) = (fastrand::Rng::with_seed(seed), 0);
    for kill in 0..kills {
        let before = claimed(&scene.journal);
        let last = before.as_ref().map_or(0, ExtentSet::total_bytes);
        let mut copy = scene.start(engine, before.is_some());
        // Usually after there is a new claim that may be false, even on a slow machine; sometimes at any time.
        if !random.u8(..).is_multiple_of(4) {
            let more = || claimed(&scene.journal).is_some_and(|durable| durable.total_bytes() > last);
            wait_until(|| more() || copy.try_wait().unwrap().is_some());
        }
        std::thread::sleep(Duration::from_millis(random.u64(..60)));
        copy.kill().expect("it is a child of this process");
        let completed = copy.wait().expect("it is a child of this process").success();
        resumed += u64::from(before.is_some());
        let Some(durable) = claimed(&scene.journal) else {
            // A journal is removed only after all data is durable, just before the program ends.
            if completed || before.is_some() {
                cmp(&scene.source, &scene.dest);
            }
            continue;
        };
        claims_are_true(&scene.bytes, &scene.dest, &durable);
        assert!(durable.total_bytes() >= last, "{engine}: kill {kill} of {seed}: it claims less than before");
    }
    let rest = ["copy", "--engine", engine, "--progress", "none"];
    let mut command = haul();
    command.args(rest).args(scene.journal.exists().then_some("--resume"));
    command.arg(&scene.source).arg(&scene.dest).assert().success();
    cmp(&scene.source, &scene.dest);
    assert!(!scene.journal.exists(), "{engine}: a complete copy needs no journal");
    assert!(resumed > 0, "{engine}: nothing was ever resumed");
    println!("{engine}: {kills} kills, {resumed} of copies that went on with what was there");
}

#[test]
fn a_copy_killed_at_any_moment_and_resumed_has_the_same_bytes() {
    let (kills, seed) = (number("HAUL_CRASH_KILLS", 24), number("HAUL_CRASH_SEED", 1));
    let engines = support::engines();
    for (round, engine) in engines.iter().enumerate() {
        kill_again_and_again(engine, round % 2 == 0, kills.div_ceil(engines.len() as u64), seed + round as u64);
    }
}

#[test]
fn a_full_disk_leaves_a_valid_journal() {
    let dir = scratch();
    let scene = Scene::new(dir.path(), 8 * MIB, false);
    // A limit of the file size simulates a full disk: the journal is far smaller.
    let line = format!(
        "ulimit -f 5000; trap '' XFSZ; exec '{}' copy --checkpoint 0 --block-size 64K --sparse never '{}' '{}'",
        haul_path().display(),
        scene.source.display(),
        scene.dest.display()
    );
    let mut shell = Command::new("bash");
    shell.args(["-c", &line]).stderr(Stdio::null()).env("LLVM_PROFILE_FILE", "/dev/null");
    let ended = shell.status().expect("a shell is installed");
    assert_eq!(ended.code(), Some(1));
    if let Some(durable) = claimed(&scene.journal) {
        claims_are_true(&scene.bytes, &scene.dest, &durable);
        haul().args(["copy", "--resume"]).arg(&scene.source).arg(&scene.dest).assert().success();
        cmp(&scene.source, &scene.dest);
    }
    assert!(fs::metadata(&scene.dest).is_ok());
}
