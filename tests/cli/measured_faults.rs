//! Disks that fail while `haul tune` and `haul profile` measure them: what is reported, saved and restored.
use crate::support::{
    FailingDisk, Fails, LoopDevice, ScratchDir, first_difference, haul, haul_path, in_one_line, memory_dir, stderr,
    write_noise,
};
use serde_json::{Value, json as value};
use std::fs::{self, OpenOptions};
use std::ops::Range;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

const MIB: usize = 1 << 20;
/// Size of the disk: small, so that a measurement covers all of it quickly.
const LEN: usize = 24 * MIB;
/// A bad range in the middle.
const BAD: Range<u64> = 9 * MIB as u64 + 8192..9 * MIB as u64 + 12_288;
/// The longest request into which the kernel merges others.
const MERGED_BYTES_MAX: u64 = 2 << 20;

/// A disk of noise that fails, and a directory for haul's state.
struct Scene {
    disk: LoopDevice,
    backing: PathBuf,
    /// Requests fail only while this file exists.
    gate: PathBuf,
    before: Vec<u8>,
    // After the loop device, which is on top of it.
    _beneath: FailingDisk,
    dir: ScratchDir,
}

impl Scene {
    /// Requests of these kinds that touch `bad` fail, but only while the gate exists.
    fn new(seed: u64, fails: &[Fails], bad: Range<u64>) -> Option<Self> {
        let dir = memory_dir();
        let (backing, gate) = (dir.path().join("backing"), dir.path().join("gate"));
        let before = write_noise(&backing, LEN, seed);
        let beneath = FailingDisk::while_gate_exists(dir.path(), &backing, fails, bad, &gate)?;
        let disk = LoopDevice::over(&beneath.path())?;
        Some(Scene { disk, backing, gate, before, _beneath: beneath, dir })
    }

    fn shut(&self) {
        fs::write(&self.gate, "").expect("the file can be written");
    }

    fn open(&self) {
        fs::remove_file(&self.gate).expect("it exists");
    }

    fn path(&self) -> &str {
        self.disk.path().to_str().expect("device names are UTF-8")
    }

    fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    fn haul(&self, words: &[&str]) -> assert_cmd::Command {
        let mut command = haul();
        command.env("XDG_STATE_HOME", self.state()).args(words).arg(self.path());
        command
    }

    /// The same in the background, with its output in a pipe.
    fn start(&self, words: &[&str]) -> Child {
        let mut command = Command::new(haul_path());
        command.args(words).arg(self.path()).env("XDG_STATE_HOME", self.state());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs")
    }

    /// The report of a measurement that has reached the bad range: on a busy machine it may need more time.
    #[track_caller]
    fn report(&self, words: &[&str]) -> Value {
        let with_time = |seconds| if words.contains(&"--sustained") { vec![] } else { vec!["--time", seconds] };
        let mut report = Value::Null;
        for seconds in ["2", "10", "60"] {
            let run = self.haul(&[words, &with_time(seconds)].concat()).assert().success();
            report = json(run.get_output());
            assert_eq!((&report["ended"], &report["failure"]), (&"complete".into(), &Value::Null), "{words:?}");
            if report["failed_requests"].as_u64() >= Some(1) {
                break;
            }
        }
        report
    }

    /// The contents of the disk, read from its backing file.
    fn now(&self) -> Vec<u8> {
        fs::read(&self.backing).expect("it exists")
    }

    fn has_changed(&self, place: Range<u64>) -> bool {
        let place = place.start as usize..place.end as usize;
        self.now()[place.clone()] != self.before[place]
    }

    fn undo(&self) -> PathBuf {
        let name = self.disk.path().file_name().expect("it has one").to_string_lossy().into_owned();
        self.state().join("haul").join(name + ".undo")
    }

    #[track_caller]
    fn is_as_it_was(&self) {
        let differs = first_difference(&self.now(), &self.before);
        assert_eq!(differs, None, "a byte of the disk is not as it was");
        assert!(!self.undo().exists(), "the undo journal is still there");
    }
}

fn json(output: &Output) -> Value {
    let messages = in_one_line(&output.stderr);
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: no JSON; standard error:\n{messages}"))
}

/// Asserts that every reported failure touches the bad range, or a request that the kernel may have merged with
/// it, and that there is at least one.
#[track_caller]
fn only_the_bad_place_is_named(report: &Value, bad: Range<u64>) {
    let named = report["bad"].as_array().expect("it is a list");
    assert!(report["failed_requests"].as_u64() >= Some(1) && !named.is_empty(), "{report:#}");
    for one in named {
        let (offset, len) = (one["offset_bytes"].as_u64().unwrap(), one["len_bytes"].as_u64().unwrap());
        let (near, far) = (bad.start.saturating_sub(MERGED_BYTES_MAX), bad.end + MERGED_BYTES_MAX);
        assert!(offset < far && offset + len > near, "byte {offset} is not bad: {one}");
        assert!(one["error"].as_str().is_some_and(|words| words.contains("Input/output error")), "{one}");
    }
}

const TUNE: [&str; 3] = ["tune", "--quick", "--json"];
const PROFILE: [&str; 4] = ["profile", "--positions", "6", "--json"];
const SUSTAINED: [&str; 4] = ["profile", "--sustained", "64M", "--json"];
const WRITE: [&str; 2] = ["--write", "--yes"];

#[test]
fn unreadable_sectors_are_counted_and_the_rest_is_measured() {
    // The first run of each point begins there, so that even a busy machine reaches it.
    let bad = 0..4096;
    let Some(scene) = Scene::new(1, &[Fails::Reads], bad.clone()) else { return };
    scene.shut();
    for verb in [&TUNE[..], &PROFILE] {
        only_the_bad_place_is_named(&scene.report(verb), bad.clone());
    }
    let reported = stderr(&scene.haul(&["profile", "--timing", "--time", "1"]).assert().code(1));
    for words in ["no measurement of", "3 requests failed, the first at byte 0", "→"] {
        assert!(reported.contains(words), "{words}: {reported}");
    }
}

#[test]
fn write_errors_are_counted_with_offsets_and_all_originals_are_restored() {
    let Some(scene) = Scene::new(2, &[Fails::Writes], BAD) else { return };
    scene.shut();
    for verb in [&TUNE[..], &PROFILE, &SUSTAINED] {
        let report = scene.report(&[verb, &WRITE].concat());
        only_the_bad_place_is_named(&report, BAD);
        assert!(report["written"]["put_back_bytes"].as_u64() > Some(0), "{report:#}");
        assert_eq!(
            (&report["written"]["undo_journal"], &report["written"]["not_put_back"]),
            (&Value::Null, &value!([]))
        );
        scene.disk.wait_until_free();
        scene.is_as_it_was();
    }
}

#[test]
fn bytes_that_cannot_be_saved_are_not_overwritten() {
    let Some(scene) = Scene::new(3, &[Fails::Reads], BAD) else { return };
    scene.shut();
    let report = scene.report(&[&TUNE[..], &WRITE].concat());
    only_the_bad_place_is_named(&report, BAD);
    assert!(report["written"]["bytes"].as_u64() < Some(LEN as u64), "{report:#}");
    scene.disk.wait_until_free();
    scene.is_as_it_was();
}

#[test]
fn a_disk_whose_bytes_cannot_be_saved_is_not_written() {
    let Some(scene) = Scene::new(4, &[Fails::Reads], 0..LEN as u64) else { return };
    scene.shut();
    let reported = stderr(&scene.haul(&[&TUNE[..], &WRITE, &["--time", "2"]].concat()).assert().code(1));
    assert!(reported.contains("at any of the places to measure") && reported.contains('→'), "{reported}");
    scene.is_as_it_was();
}

#[test]
fn an_extent_that_cannot_be_restored_is_named_and_the_rest_is_restored() {
    let Some(scene) = Scene::new(5, &[Fails::Writes], BAD) else { return };
    // On a busy machine a short run may end before it has written there; then it gets more time.
    let writing = ["4", "20", "100"].into_iter().find_map(|seconds| {
        let mut run = scene.start(&["tune", "--quick", "--time", seconds, "--json", "--write", "--yes"]);
        while !BAD.step_by(512).all(|at| scene.has_changed(at..at + 512)) {
            if let Some(status) = run.try_wait().unwrap() {
                assert!(status.success(), "{status}");
                return None;
            }
        }
        Some(run)
    });
    let run = writing.expect("it wrote to the bad sector");
    scene.shut();
    let output = run.wait_with_output().unwrap();
    let reported = in_one_line(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{reported}");
    let undo = scene.undo();
    for words in ["Not restored: 4096 bytes at byte 9445376;", undo.to_str().unwrap(), "--restore", "at byte"] {
        assert!(reported.contains(words), "{words}: {reported}");
    }
    let written = &json(&output)["written"];
    assert_eq!(written["put_back_bytes"], Value::Null);
    assert_eq!(written["undo_journal"], undo.to_str().unwrap());
    assert_eq!(written["not_put_back"], value!([{ "offset_bytes": BAD.start, "len_bytes": BAD.end - BAD.start }]));
    scene.disk.wait_until_free();
    let (now, bad) = (scene.now(), BAD.start as usize..BAD.end as usize);
    assert!(now[..bad.start] == scene.before[..bad.start] && now[bad.end..] == scene.before[bad.end..]);
    assert!(scene.has_changed(BAD) && undo.exists());
    // While it fails, no other data is written there.
    let reported = stderr(&scene.haul(&["tune", "--write", "--yes", "--quick", "--time", "1"]).assert().code(1));
    assert!(reported.contains("Not restored: 4096 bytes"), "{reported}");
    scene.open();
    let reported = stderr(&scene.haul(&["tune", "--restore"]).assert().success());
    assert!(reported.contains("was interrupted"), "{reported}");
    scene.disk.wait_until_free();
    scene.is_as_it_was();
}

#[test]
fn a_disk_that_stops_responding_ends_the_measurement_and_is_restored_later() {
    let Some(scene) = Scene::new(6, &[Fails::Reads, Fails::Writes], 0..LEN as u64) else { return };
    for verb in [&["tune", "--time", "60", "--json"][..], &["profile", "--sustained", "1T", "--json"]] {
        let mut run = scene.start(&[verb, &WRITE].concat());
        while !scene.has_changed(0..LEN as u64) {
            assert!(run.try_wait().unwrap().is_none(), "it ended by itself");
        }
        scene.shut();
        let output = run.wait_with_output().unwrap();
        let reported = in_one_line(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{reported}");
        for words in
            [&format!("cannot write destination {} any more", scene.path()), "Not restored:", ".undo", "--restore"]
        {
            assert!(reported.contains(words), "{verb:?}: {words}: {reported}");
        }
        let report = json(&output);
        assert_eq!(report["ended"], "failed");
        assert!(report["failure"].as_str().is_some_and(|why| why.contains("any more")), "{report:#}");
        assert!(!report["written"]["not_put_back"].as_array().unwrap().is_empty(), "{report:#}");
        assert!(scene.undo().exists());
        scene.open();
        scene.disk.wait_until_free();
        scene.haul(&["tune", "--restore"]).assert().success();
        scene.disk.wait_until_free();
        scene.is_as_it_was();
    }
    let mut run = scene.start(&["tune", "--time", "60"]);
    wait_for_points(&mut run);
    scene.shut();
    let output = run.wait_with_output().unwrap();
    let reported = in_one_line(&output.stderr);
    let found = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{reported}");
    assert!(
        reported.contains(&format!("cannot read source {} any more", scene.path())) && reported.contains('→'),
        "{reported}"
    );
    assert!(found.contains("direct   512 bytes") && found.contains("\npartial "), "{found}");
}

/// Waits until a process has read enough from disks to have measured some points.
fn wait_for_points(run: &mut Child) {
    let read_bytes = |run: &Child| {
        let reported = fs::read_to_string(format!("/proc/{}/io", run.id())).unwrap_or_default();
        let line = reported.lines().find_map(|line| line.strip_prefix("read_bytes: ").map(str::to_owned));
        line.and_then(|bytes| bytes.parse::<usize>().ok()).unwrap_or(0)
    };
    while read_bytes(run) < 64 * MIB {
        assert!(run.try_wait().expect("this test created it").is_none(), "it ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// A disk that shrinks while it is measured: the bytes after its new end no longer exist.
fn shrunk(len: u64, words: &[&str], mut wait: impl FnMut(&mut Child)) -> Option<(Output, String)> {
    let dir = memory_dir();
    let image = dir.path().join("image");
    fs::File::create(&image).and_then(|file| file.set_len(len)).expect("the file can be written");
    let disk = LoopDevice::over(&image)?;
    let path = disk.path().to_str().unwrap().to_owned();
    let mut command = Command::new(haul_path());
    command.args(words).arg(&path).env("XDG_STATE_HOME", dir.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut run = command.spawn().expect("the binary runs");
    wait(&mut run);
    OpenOptions::new()
        .write(true)
        .open(&image)
        .and_then(|file| file.set_len(MIB as u64))
        .expect("this test created it");
    let reported = Command::new("losetup").args(["--set-capacity", &path]).status().expect("it exists");
    assert!(reported.success());
    Some((run.wait_with_output().unwrap(), path))
}

#[test]
fn a_removed_device_is_named_with_its_offset_and_partial_results_are_reported() {
    let words = ["tune", "--time", "60"];
    let Some((output, path)) = shrunk(LEN as u64, &words, wait_for_points) else { return };
    let reported = in_one_line(&output.stderr);
    let found = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{reported}");
    assert!(reported.contains(&format!("source {path} has disappeared: cannot read it at byte")), "{reported}");
    assert!(reported.contains("→ The device disappeared") && found.contains("\npartial "), "{reported}{found}");
    let begun = |_: &mut Child| std::thread::sleep(std::time::Duration::from_millis(700));
    for words in [&["profile", "--time", "60", "--json"][..], &["profile", "--timing", "--time", "20", "--json"]] {
        // Long enough that no run completes before.
        let (output, path) = shrunk(1 << 40, words, begun).expect("the previous device was available");
        let reported = in_one_line(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {reported}");
        assert!(
            reported.contains(&format!("source {path} has disappeared: cannot read it at byte")),
            "{words:?}: {reported}"
        );
        let report = json(&output);
        assert_eq!(report["ended"], "failed", "{report:#}");
        assert!(report["failure"].as_str().is_some_and(|why| why.contains("has disappeared")), "{report:#}");
    }
}
