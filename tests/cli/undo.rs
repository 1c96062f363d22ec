//! A run of `haul tune --write` was killed: each command that opens the device reports that its data is not
//! restored, and data written there meanwhile is kept.
use crate::support::{
    LoopDevice, ScratchDir, filled, has, haul_path, in_one_line, is_root, memory_dir, name, skip, write_noise,
};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Size of the disk: small, so that all of it is saved and overwritten.
const LEN: usize = 24 << 20;

/// A directory for haul's state, and the disk to be measured.
struct Scene {
    image: PathBuf,
    disk: LoopDevice,
    dir: ScratchDir,
}

/// Both outputs, on one line.
fn messages(output: &Output) -> String {
    let both = [&output.stdout[..], &output.stderr[..]].concat();
    in_one_line(both)
}

impl Scene {
    /// A disk of noise.
    fn new(seed: u64) -> Option<Self> {
        let dir = memory_dir();
        let image = dir.path().join("image");
        write_noise(&image, LEN, seed);
        let disk = LoopDevice::over(&image)?;
        Some(Scene { dir, image, disk })
    }

    fn with_partitions() -> Option<Self> {
        if !is_root() || !has("sfdisk") {
            skip("partitions need root and sfdisk");
            return None;
        }
        let dir = memory_dir();
        let image = dir.path().join("image");
        filled(&image, 40 << 20, 0);
        let table = "printf '2048,36864\\n,36864\\n' | sfdisk --quiet --no-reread \"$0\"";
        assert!(Command::new("sh").args(["-c", table]).arg(&image).status().unwrap().success());
        let disk = LoopDevice::with_partitions(&image)?;
        if !disk.partition(2).exists() {
            skip("this kernel or container makes no partitions of loop devices");
            return None;
        }
        Some(Scene { dir, image, disk })
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(haul_path());
        command.env("XDG_STATE_HOME", self.dir.path().join("state")).args(words).stdin(Stdio::null());
        command
    }

    /// Its output, and its exit status.
    fn run(&self, words: &[&str]) -> (String, Option<i32>) {
        let output = self.command(words).output().expect("the binary runs");
        (messages(&output), output.status.code())
    }

    fn undo(&self, device: &Path) -> PathBuf {
        let file = format!("{}.undo", device.file_name().unwrap().to_string_lossy());
        self.dir.path().join("state/haul").join(file)
    }

    fn now(&self) -> Vec<u8> {
        fs::read(&self.image).unwrap()
    }

    /// Measures this device, and is killed as soon as test data was written.
    fn killed(&self, device: &Path) {
        let before = self.now();
        let mut measuring = self.command(&["tune", "--write", "--yes", "--time", "5", name(device)]);
        let mut measuring = measuring.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary runs");
        while self.now() == before {
            assert!(measuring.try_wait().unwrap().is_none(), "it ended by itself");
        }
        measuring.kill().unwrap();
        measuring.wait().unwrap();
        self.disk.wait_until_free();
    }

    fn listed(&self) -> Value {
        let output = self.command(&["list", "--json"]).output().unwrap();
        let all: Value = serde_json::from_slice(&output.stdout).unwrap();
        let devices = all["devices"].as_array().unwrap();
        devices.iter().find(|device| device["path"] == name(self.disk.path())).unwrap().clone()
    }
}

#[test]
fn the_list_marks_a_device_to_restore_and_shows_how() {
    let Some(scene) = Scene::new(1) else { return };
    assert_eq!(scene.listed()["undo"], Value::Null);
    scene.killed(scene.disk.path());
    let (device, undo) = (name(scene.disk.path()), scene.undo(scene.disk.path()));
    let listed = &scene.listed()["undo"];
    assert_eq!((&listed["path"], &listed["being_measured"]), (&name(&undo).into(), &false.into()));
    assert!(listed["kept_bytes"].as_u64() > Some(0), "{listed}");
    let (text, _) = scene.run(&["list", "--all"]);
    let text = text.replace('│', "");
    assert!(
        text.contains("DATA MODIFIED") && text.contains(&format!("haul tune --restore {device} restores")),
        "{text}"
    );
    assert_eq!(scene.run(&["tune", "--restore", device]).1, Some(0));
    assert_eq!(scene.listed()["undo"], Value::Null);
}

#[test]
fn a_dry_run_reports_what_the_run_would_restore_first() {
    let Some(scene) = Scene::new(2) else { return };
    let file = scene.dir.path().join("file");
    write_noise(&file, 4096, 3);
    scene.killed(scene.disk.path());
    let (undo, was) = (scene.undo(scene.disk.path()), scene.now());
    let (device, file) = (name(scene.disk.path()), name(&file));
    let other = format!("{file}.other");
    for words in [
        &["copy", "--dry-run", file, device][..],
        &["copy", "--dry-run", file, &other, "--also", device],
        &["pattern", "write", "--dry-run", device],
    ] {
        let (reported, status) = scene.run(words);
        assert_eq!(status, Some(0), "{words:?}: {reported}");
        assert!(reported.contains("restored before any other write"), "{words:?}: {reported}");
        assert!(reported.replace(' ', "").contains(name(&undo)), "{words:?} does not name {undo:?}: {reported}");
    }
    assert!(undo.exists() && scene.now() == was, "it was only looked at");
}

#[test]
fn the_fronts_warn_of_an_undo_journal_and_copy() {
    let Some(scene) = Scene::new(4) else { return };
    scene.killed(scene.disk.path());
    let device = name(scene.disk.path());
    let [from, to] = [format!("if={device}"), format!("of={device}")];
    for words in [
        &["dd", &from, "of=/dev/null", "count=1"][..],
        &["sg_dd", &from, "of=/dev/null", "bs=512", "count=1"],
        &["sgp_dd", &from, "of=/dev/null", "bs=512", "count=1"],
    ] {
        let (reported, status) = scene.run(words);
        assert_eq!(status, Some(0), "{reported}");
        assert!(
            reported.contains("warning: a write measurement") && reported.contains("--restore"),
            "{words:?}: {reported}"
        );
        assert!(!reported.contains("data written now"), "{words:?}: {reported}");
    }
    for words in [
        &["dd", "if=/dev/zero", &to, "bs=512", "count=1", "seek=9"][..],
        &["sg_dd", "if=/dev/zero", &to, "bs=512", "count=1", "seek=10"],
    ] {
        let (reported, status) = scene.run(words);
        assert_eq!(status, Some(0), "{reported}");
        assert!(reported.contains("--restore; data written now is kept"), "{words:?}: {reported}");
    }
    let (reported, _) = scene.run(&["dd", &from, "of=/dev/null", "count=1", "status=none"]);
    assert_eq!(reported, "");
    let (reported, _) = scene.run(&["dd", "if=/dev/zero", "of=/dev/null", "count=1"]);
    assert!(!reported.contains("warning"), "{reported}");
    assert!(scene.undo(scene.disk.path()).exists());
}

#[test]
fn bytes_written_by_dd_are_never_overwritten_by_a_restore() {
    let Some(scene) = Scene::new(5) else { return };
    let before = scene.now();
    let news = scene.dir.path().join("news");
    let written = write_noise(&news, 5 << 20, 6);
    let device = scene.disk.path();
    let [from, to] = [format!("if={}", name(&news)), format!("of={}", name(device))];
    let restore = ["tune", "--restore", name(device)];
    scene.killed(device);
    // A part of it, unaligned to any block size.
    assert_eq!(scene.run(&["dd", &from, &to, "bs=512", "seek=9001", "conv=fsync"]).1, Some(0));
    scene.disk.wait_until_free();
    let (reported, status) = scene.run(&restore);
    assert_eq!(status, Some(3), "{reported}");
    assert!(reported.contains("since the measurement"), "{reported}");
    let (start, now) = (9001 * 512, scene.now());
    let end = start + written.len();
    assert!(now[start..end] == written, "what dd wrote is not there any more");
    assert!(now[..start] == before[..start] && now[end..] == before[end..], "restored everything else");
    assert!(scene.undo(device).exists(), "what stood where dd wrote is still kept");
    // All of it, and nothing is restored.
    let all = write_noise(&news, LEN, 7);
    assert_eq!(scene.run(&["dd", &from, &to, "bs=1M", "conv=fsync"]).1, Some(0));
    scene.disk.wait_until_free();
    assert_eq!(scene.run(&restore).1, Some(3));
    assert!(scene.now() == all);
}

#[test]
fn undo_journals_of_a_disk_and_its_partitions_are_found_for_each_other() {
    let Some(scene) = Scene::with_partitions() else { return };
    let copy = scene.dir.path().join("copy");
    let (disk, copy) = (scene.disk.path(), name(&copy));
    let [one, two] = [1, 2].map(|number| scene.disk.partition(number));
    let before = scene.now();
    let reads = |device: &Path| scene.run(&["copy", "--progress", "none", "--dry-run", name(device), copy]).0;

    scene.killed(&one);
    let listed = scene.listed();
    assert_eq!((&listed["undo"], &listed["partitions"][1]["undo"]), (&Value::Null, &Value::Null));
    assert!(listed["partitions"][0]["undo"]["kept_bytes"].as_u64() > Some(0), "{listed}");
    let reported = reads(disk);
    assert!(
        reported.contains("shares bytes with") && reported.contains(&format!("haul tune {} --restore", name(&one))),
        "{reported}"
    );
    assert!(!reads(&two).contains("interrupted"));
    let (reported, _) = scene.run(&["dd", &format!("if={}", name(disk)), "of=/dev/null", "count=1"]);
    assert!(reported.contains("shares bytes with"), "{reported}");
    assert_eq!(scene.run(&["tune", "--restore", name(&one)]).1, Some(0));
    assert!(scene.now() == before);

    scene.killed(disk);
    assert!(scene.listed()["undo"]["kept_bytes"].as_u64() > Some(0));
    for part in [&one, &two] {
        assert!(reads(part).contains("shares bytes with"), "{}", reads(part));
    }
    // A copy to a partition restores nothing on the disk, and reports that.
    let (reported, status) =
        scene.run(&["copy", "--yes", "--progress", "none", "--count", "4K", "/dev/zero", name(&two)]);
    assert_eq!(status, Some(0), "{reported}");
    assert!(reported.contains("data written now is kept"), "{reported}");
}
