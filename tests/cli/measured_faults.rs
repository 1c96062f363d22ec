//! Disks that fail while `haul tune` and `haul profile` measure them: what is told, what is kept, what is put back.
use crate::support::{
    FailingDisk, Fails, Folder, LoopDevice, haul, haul_path, in_one_line, memory_dir, stderr, write_noise,
};
use serde_json::{Value, json as value};
use std::fs::{self, OpenOptions};
use std::ops::Range;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

const MIB: usize = 1 << 20;
/// Of the disk: small, so that all of it is met in little time.
const LEN: usize = 24 * MIB;
/// A bad place in the middle.
const BAD: Range<u64> = 9 * MIB as u64 + 8192..9 * MIB as u64 + 12_288;
/// The longest request that the kernel makes of several.
const MERGED_BYTES_MAX: u64 = 2 << 20;

/// A disk of noise that fails, and a folder for haul's state.
struct Scene {
    disk: LoopDevice,
    backing: PathBuf,
    /// As long as this file is there, what can fail does.
    gate: PathBuf,
    before: Vec<u8>,
    // Behind the loop device, which is above it.
    _beneath: FailingDisk,
    dir: Folder,
}

impl Scene {
    /// Requests of these kinds fail that touch `bad`; not before the gate is there.
    fn new(seed: u64, fails: &[Fails], bad: Range<u64>) -> Option<Self> {
        let dir = memory_dir();
        let (backing, gate) = (dir.path().join("backing"), dir.path().join("gate"));
        let before = write_noise(&backing, LEN, seed);
        let beneath = FailingDisk::while_there(dir.path(), &backing, fails, bad, &gate)?;
        let disk = LoopDevice::over(&beneath.path())?;
        Some(Scene { disk, backing, gate, before, _beneath: beneath, dir })
    }

    fn shut(&self) {
        fs::write(&self.gate, "").expect("scratch takes files");
    }

    fn open(&self) {
        fs::remove_file(&self.gate).expect("it is there");
    }

    fn path(&self) -> &str {
        self.disk.path().to_str().expect("device names are text")
    }

    fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    fn haul(&self, words: &[&str]) -> assert_cmd::Command {
        let mut command = haul();
        command.env("XDG_STATE_HOME", self.state()).args(words).arg(self.path());
        command
    }

    /// The same, running, and what it prints as it comes.
    fn start(&self, words: &[&str]) -> Child {
        let mut command = Command::new(haul_path());
        command.args(words).arg(self.path()).env("XDG_STATE_HOME", self.state());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs")
    }

    /// What a measurement reports, once it met a bad place: a busy machine may not come to that in a short time, and
    /// gets more.
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

    /// What is on the disk, as the disk itself has it.
    fn now(&self) -> Vec<u8> {
        fs::read(&self.backing).expect("it is there")
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
        let differs = self.now().iter().zip(&self.before).position(|(now, then)| now != then);
        assert_eq!(differs, None, "a byte of the disk is not as it was");
        assert!(!self.undo().exists(), "the undo journal is still there");
    }
}

fn json(output: &Output) -> Value {
    let said = in_one_line(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: no JSON; it said:\n{said}"))
}

/// Every failed request that is named touches the bad place, or one that the kernel may have sent along with it as one;
/// and there are some.
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
fn a_bad_place_is_counted_and_named_and_the_rest_is_measured() {
    // The first run of each of them begins there: however little a busy machine gets to, it is met.
    let bad = 0..4096;
    let Some(scene) = Scene::new(1, &[Fails::Reads], bad.clone()) else { return };
    scene.shut();
    for verb in [&TUNE[..], &PROFILE] {
        only_the_bad_place_is_named(&scene.report(verb), bad.clone());
    }
    let told = stderr(&scene.haul(&["profile", "--timing", "--time", "1"]).assert().code(1));
    for words in ["no measurement of", "3 requests failed, the first at byte 0", "→"] {
        assert!(told.contains(words), "{words}: {told}");
    }
}

#[test]
fn what_cannot_be_written_is_counted_and_named_and_everything_is_put_back() {
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
fn what_cannot_be_kept_is_not_written_over() {
    let Some(scene) = Scene::new(3, &[Fails::Reads], BAD) else { return };
    scene.shut();
    let report = scene.report(&[&TUNE[..], &WRITE].concat());
    only_the_bad_place_is_named(&report, BAD);
    assert!(report["written"]["bytes"].as_u64() < Some(LEN as u64), "{report:#}");
    scene.disk.wait_until_free();
    scene.is_as_it_was();
}

#[test]
fn a_disk_of_which_nothing_can_be_kept_is_left_alone() {
    let Some(scene) = Scene::new(4, &[Fails::Reads], 0..LEN as u64) else { return };
    scene.shut();
    let told = stderr(&scene.haul(&[&TUNE[..], &WRITE, &["--time", "2"]].concat()).assert().code(1));
    assert!(told.contains("at any of the places to measure") && told.contains('→'), "{told}");
    scene.is_as_it_was();
}

#[test]
fn a_place_that_fails_before_its_bytes_are_back_is_named_and_all_else_is_put_back() {
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
    let run = writing.expect("it wrote to the bad place");
    scene.shut();
    let output = run.wait_with_output().unwrap();
    let told = in_one_line(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    let undo = scene.undo();
    for words in ["Not restored: 4096 bytes at byte 9445376;", undo.to_str().unwrap(), "--restore", "at byte"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let written = &json(&output)["written"];
    assert_eq!(written["put_back_bytes"], Value::Null);
    assert_eq!(written["undo_journal"], undo.to_str().unwrap());
    assert_eq!(written["not_put_back"], value!([{ "offset_bytes": BAD.start, "len_bytes": BAD.end - BAD.start }]));
    scene.disk.wait_until_free();
    let (now, bad) = (scene.now(), BAD.start as usize..BAD.end as usize);
    assert!(now[..bad.start] == scene.before[..bad.start] && now[bad.end..] == scene.before[bad.end..]);
    assert!(scene.has_changed(BAD) && undo.exists());
    // As long as it fails, nothing else is written there.
    let told = stderr(&scene.haul(&["tune", "--write", "--yes", "--quick", "--time", "1"]).assert().code(1));
    assert!(told.contains("Not restored: 4096 bytes"), "{told}");
    scene.open();
    let told = stderr(&scene.haul(&["tune", "--restore"]).assert().success());
    assert!(told.contains("was interrupted"), "{told}");
    scene.disk.wait_until_free();
    scene.is_as_it_was();
}

#[test]
fn a_disk_that_answers_no_more_ends_it_with_what_was_found_and_its_bytes_come_back_later() {
    let Some(scene) = Scene::new(6, &[Fails::Reads, Fails::Writes], 0..LEN as u64) else { return };
    for verb in [&["tune", "--time", "60", "--json"][..], &["profile", "--sustained", "1T", "--json"]] {
        let mut run = scene.start(&[verb, &WRITE].concat());
        while !scene.has_changed(0..LEN as u64) {
            assert!(run.try_wait().unwrap().is_none(), "it ended by itself");
        }
        scene.shut();
        let output = run.wait_with_output().unwrap();
        let told = in_one_line(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{told}");
        for words in
            [&format!("cannot write destination {} any more", scene.path()), "Not restored:", ".undo", "--restore"]
        {
            assert!(told.contains(words), "{verb:?}: {words}: {told}");
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
    let told = in_one_line(&output.stderr);
    let found = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains(&format!("cannot read source {} any more", scene.path())) && told.contains('→'), "{told}");
    assert!(found.contains("direct   512 bytes") && found.contains("\npartial "), "{found}");
}

/// Waits until a process has read so much from disks that it has measured some points.
fn wait_for_points(run: &mut Child) {
    let read_bytes = |run: &Child| {
        let told = fs::read_to_string(format!("/proc/{}/io", run.id())).unwrap_or_default();
        let line = told.lines().find_map(|line| line.strip_prefix("read_bytes: ").map(str::to_owned));
        line.and_then(|bytes| bytes.parse::<usize>().ok()).unwrap_or(0)
    };
    while read_bytes(run) < 64 * MIB {
        assert!(run.try_wait().expect("it is ours").is_none(), "it ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// A disk that gets smaller while it is measured: what lay behind is gone.
fn shrunk(len: u64, words: &[&str], mut wait: impl FnMut(&mut Child)) -> Option<(Output, String)> {
    let dir = memory_dir();
    let image = dir.path().join("image");
    fs::File::create(&image).and_then(|file| file.set_len(len)).expect("scratch takes files");
    let disk = LoopDevice::over(&image)?;
    let path = disk.path().to_str().unwrap().to_owned();
    let mut command = Command::new(haul_path());
    command.args(words).arg(&path).env("XDG_STATE_HOME", dir.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut run = command.spawn().expect("the binary runs");
    wait(&mut run);
    OpenOptions::new().write(true).open(&image).and_then(|file| file.set_len(MIB as u64)).expect("it is ours");
    let told = Command::new("losetup").args(["--set-capacity", &path]).status().expect("it is there");
    assert!(told.success());
    Some((run.wait_with_output().unwrap(), path))
}

#[test]
fn a_device_that_is_gone_is_named_with_its_place_and_what_was_found_is_told() {
    let words = ["tune", "--time", "60"];
    let Some((output, path)) = shrunk(LEN as u64, &words, wait_for_points) else { return };
    let told = in_one_line(&output.stderr);
    let found = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains(&format!("source {path} has disappeared: cannot read it at byte")), "{told}");
    assert!(told.contains("→ The device disappeared") && found.contains("\npartial "), "{told}{found}");
    let begun = |_: &mut Child| std::thread::sleep(std::time::Duration::from_millis(700));
    for words in [&["profile", "--time", "60", "--json"][..], &["profile", "--timing", "--time", "20", "--json"]] {
        // So long that no run comes to its end before.
        let (output, path) = shrunk(1 << 40, words, begun).expect("the one before was there");
        let told = in_one_line(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {told}");
        assert!(told.contains(&format!("source {path} has disappeared: cannot read it at byte")), "{words:?}: {told}");
        let report = json(&output);
        assert_eq!(report["ended"], "failed", "{report:#}");
        assert!(report["failure"].as_str().is_some_and(|why| why.contains("has disappeared")), "{report:#}");
    }
}
