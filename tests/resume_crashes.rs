//! A copy that is killed at any moment, and gone on with, again and again: what the journal claims is on the dest.
//!
//! HAUL_CRASH_KILLS sets how many kills there are; each comes at a moment of its own.
mod support;

use haul::contract::ExtentSet;
use haul::ledger::journal::read;
use std::fs::{self, File};
use std::io::BufReader;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use support::{cmp, haul, haul_path, noise, scratch};

const MIB: usize = 1 << 20;

fn kills() -> u64 {
    std::env::var("HAUL_CRASH_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(16)
}

/// What the journal claims, if there is one.
fn claimed(journal: &Path) -> Option<ExtentSet> {
    let file = File::open(journal).ok()?;
    Some(read(BufReader::new(file)).expect("no kill damages a journal").state.durable)
}

/// Every claimed byte of the dest is that of the source.
#[track_caller]
fn claims_are_true(source: &[u8], dest: &Path, durable: &ExtentSet) {
    let dest = File::open(dest).expect("what is claimed is there");
    for extent in durable.iter() {
        let mut there = vec![0; extent.len as usize];
        dest.read_exact_at(&mut there, extent.offset).expect("the dest is as long as what is claimed");
        let asked = extent.offset as usize..extent.end() as usize;
        assert!(there == source[asked], "{extent:?} is claimed and not there");
    }
}

struct Scene {
    source: PathBuf,
    dest: PathBuf,
    bytes: Vec<u8>,
    journal: PathBuf,
}

impl Scene {
    /// `holes`: every third MiB of the source is one.
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

#[test]
fn killed_at_any_moment_and_resumed_it_ends_with_the_same_bytes() {
    for (round, engine) in support::engines().into_iter().enumerate() {
        let dir = scratch();
        let scene = Scene::new(dir.path(), 20 * MIB + 321, round % 2 == 0);
        let (mut last, mut resumed) = (0, 0);
        for kill in 0..kills() / 2 {
            let before = claimed(&scene.journal);
            let mut copy = scene.start(engine, before.is_some());
            // No moment is like another; whether the kernel keeps to it is of no concern.
            std::thread::sleep(Duration::from_millis(5 + kill * 37 % 160));
            copy.kill().expect("it is our child");
            let completed = copy.wait().expect("it is our child").success();
            resumed += u64::from(before.is_some());
            let Some(durable) = claimed(&scene.journal) else {
                assert!(completed || last == 0, "{engine}: what was claimed is forgotten");
                if completed {
                    break;
                }
                continue;
            };
            claims_are_true(&scene.bytes, &scene.dest, &durable);
            assert!(durable.total_bytes() >= last, "{engine}: it claims less than before");
            last = durable.total_bytes();
        }
        let rest = ["copy", "--engine", engine, "--progress", "none"];
        let mut command = haul();
        command.args(rest).args(scene.journal.exists().then_some("--resume"));
        command.arg(&scene.source).arg(&scene.dest).assert().success();
        cmp(&scene.source, &scene.dest);
        assert!(!scene.journal.exists(), "{engine}: a complete copy needs no journal");
        assert!(resumed > 0 && last > 0, "{engine}: nothing was ever resumed");
    }
}

#[test]
fn a_full_disk_leaves_a_journal_that_is_true() {
    let dir = scratch();
    let scene = Scene::new(dir.path(), 8 * MIB, false);
    // The limit on the size of a file stands for a full disk: the journal is far below it.
    let line = format!(
        "ulimit -f 5000; trap '' XFSZ; exec '{}' copy --checkpoint 0 --block-size 64K --sparse never '{}' '{}'",
        haul_path().display(),
        scene.source.display(),
        scene.dest.display()
    );
    let ended = Command::new("bash").args(["-c", &line]).stderr(Stdio::null()).status().expect("there is a shell");
    assert_eq!(ended.code(), Some(1));
    if let Some(durable) = claimed(&scene.journal) {
        claims_are_true(&scene.bytes, &scene.dest, &durable);
        haul().args(["copy", "--resume"]).arg(&scene.source).arg(&scene.dest).assert().success();
        cmp(&scene.source, &scene.dest);
    }
    assert!(fs::metadata(&scene.dest).is_ok());
}
