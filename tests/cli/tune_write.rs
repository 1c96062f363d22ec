//! `haul tune --write` as users run it: where it writes, that it restores all data, and what it refuses.
use crate::support;
use crate::support::{
    LoopDevice, Mount, ScratchDir, Terminal, first_difference, haul, haul_path, in_one_line, is_root, memory_dir,
    scratch, skip, stderr, write_noise,
};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Size of the disk: small, so that a measurement covers all of it, and all extents of the undo journal.
const LEN: usize = 24 << 20;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// A disk of noise, and a directory for haul's state.
struct Scene {
    disk: LoopDevice,
    image: PathBuf,
    bytes: Vec<u8>,
    dir: ScratchDir,
}

impl Scene {
    fn new(seed: u64) -> Option<Self> {
        let dir = memory_dir();
        let image = dir.path().join("image");
        let bytes = write_noise(&image, LEN, seed);
        let disk = LoopDevice::over(&image)?;
        Some(Scene { dir, disk, image, bytes })
    }

    fn path(&self) -> &str {
        self.disk.path().to_str().unwrap()
    }

    fn haul(&self, arguments: &[&str]) -> assert_cmd::Command {
        let mut command = haul();
        command.env("XDG_STATE_HOME", self.dir.path().join("state")).args(arguments);
        command
    }

    /// The path of the undo journal, existing or not.
    fn undo(&self) -> PathBuf {
        let name = self.disk.path().file_name().unwrap().to_string_lossy().into_owned();
        self.dir.path().join("state/haul").join(name + ".undo")
    }

    /// The contents of the disk, read from its backing file.
    fn now(&self) -> Vec<u8> {
        fs::read(&self.image).unwrap()
    }

    #[track_caller]
    fn is_as_it_was(&self) {
        let differs = first_difference(&self.now(), &self.bytes);
        assert_eq!(differs, None, "a byte of the disk is not as it was");
        assert!(!self.undo().exists(), "the undo journal is still there");
    }

    /// A run that is killed after the undo journal exists and test data was written, or after `moment`.
    fn killed(&self, verb: &[&str], moment: Option<Duration>) {
        let mut command = Command::new(haul_path());
        command.args(verb).args(["--write", "--yes", "--time", "5", self.path()]);
        command.env("XDG_STATE_HOME", self.dir.path().join("state")).stdout(Stdio::null()).stderr(Stdio::null());
        let mut run = command.spawn().expect("the binary runs");
        match moment {
            Some(moment) => std::thread::sleep(moment),
            None => while run.try_wait().unwrap().is_none() && self.now() == self.bytes {},
        }
        run.kill().unwrap();
        run.wait().unwrap();
        self.disk.wait_until_free();
    }
}

#[test]
fn a_device_is_measured_and_restored() {
    let Some(scene) = Scene::new(1) else { return };
    let run = scene.haul(&["tune", "--write", "--yes", "--quick", "--time", "2", "--json", scene.path()]).assert();
    let report: Value = serde_json::from_slice(&run.success().get_output().stdout).unwrap();
    assert_eq!((&report["operation"], &report["ended"]), (&"write".into(), &"complete".into()));
    let written = &report["written"];
    assert_eq!(written["ground"], "kept");
    assert!(written["put_back_bytes"].as_u64() > Some(0) && report["failed_requests"] == 0, "{written}");
    assert!(report["answer"]["bytes_per_s"].as_f64() > Some(0.0));
    scene.is_as_it_was();
}

#[test]
fn the_next_writing_command_restores_the_bytes_of_a_killed_run() {
    let Some(scene) = Scene::new(2) else { return };
    let source = scene.dir.path().join("source");
    write_noise(&source, 4096, 3);
    let copy = ["copy", "--yes", "--progress", "none", "--seek", "0", source.to_str().unwrap(), scene.path()];
    let tune = ["tune", "--write", "--yes", "--quick", "--time", "1", scene.path()];
    let profile = ["profile", "--write", "--yes", "--time", "1", scene.path()];
    let restore = ["tune", "--restore", scene.path()];
    for next in [&tune[..], &profile, &restore, &copy] {
        scene.killed(&["tune"], None);
        assert!(scene.undo().exists() && scene.now() != scene.bytes);
        let reported = stderr(&scene.haul(next).assert().success());
        assert!(
            reported.contains("measurement") && reported.contains("was interrupted; of the"),
            "{next:?}: {reported}"
        );
        if next[0] == "copy" {
            // It has restored the data after its own bytes, and then copied.
            scene.disk.wait_until_free();
            let (now, source) = (scene.now(), fs::read(&source).unwrap());
            assert!(now[..4096] == source && now[4096..] == scene.bytes[4096..] && !scene.undo().exists());
        } else {
            scene.is_as_it_was();
        }
    }
}

#[test]
fn a_copy_is_resumed_after_a_killed_measurement_overwrote_copied_bytes() {
    let Some(scene) = Scene::new(13) else { return };
    let source = scene.dir.path().join("source");
    let wanted = write_noise(&source, LEN, 14);
    let start = |arguments: &[&str]| {
        let mut command = Command::new(haul_path());
        command.args(arguments).env("XDG_STATE_HOME", scene.dir.path().join("state"));
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary runs")
    };
    let source = source.to_str().unwrap();
    let mut copy = start(&["copy", "--yes", "--limit", "6M", "--progress", "none", source, scene.path()]);
    while scene.now()[..2 << 20] != wanted[..2 << 20] {
        assert!(copy.try_wait().unwrap().is_none(), "it ended by itself");
    }
    rustix::process::kill_process(rustix::process::Pid::from_child(&copy), rustix::process::Signal::INT).unwrap();
    copy.wait().unwrap();
    scene.disk.wait_until_free();
    let copied = scene.now();
    // From the first byte to the last, so that every sample of the journal was overwritten.
    let mut measuring = start(&["profile", "--write", "--yes", "--sustained", "1T", scene.path()]);
    while scene.now().chunks(1 << 20).zip(copied.chunks(1 << 20)).any(|(now, then)| now == then) {
        assert!(measuring.try_wait().unwrap().is_none(), "it ended by itself");
    }
    measuring.kill().unwrap();
    measuring.wait().unwrap();
    scene.disk.wait_until_free();
    let resume = ["copy", "--resume", "--yes", "--progress", "none", source, scene.path()];
    // A dry run restores nothing.
    let reported = stderr(&scene.haul(&[&resume[..], &["--dry-run"]].concat()).assert().code(3));
    assert!(
        reported.contains("It may match anyway") && reported.contains(scene.undo().to_str().unwrap()),
        "{reported}"
    );
    assert!(scene.undo().exists());
    let reported = stderr(&scene.haul(&resume).assert().success());
    assert!(reported.contains("was interrupted; of the"), "{reported}");
    scene.disk.wait_until_free();
    assert!(scene.now() == wanted && !scene.undo().exists());
}

#[test]
fn a_run_killed_at_any_moment_is_restored_by_the_next() {
    let Some(scene) = Scene::new(4) else { return };
    let (kills, seed) = (number("HAUL_TUNE_KILLS", 8), number("HAUL_TUNE_SEED", 5));
    let (mut random, mut with_journal) = (fastrand::Rng::with_seed(seed), 0);
    for kill in 0..kills {
        let verb = if kill % 4 == 3 { "profile" } else { "tune" };
        // Usually after it has begun to write, even on a slow machine; sometimes at any moment.
        let moment = (kill % 3 == 0).then(|| Duration::from_millis(random.u64(0..400)));
        scene.killed(&[verb], moment);
        with_journal += u64::from(scene.undo().exists());
        if scene.now() != scene.bytes {
            assert!(scene.undo().exists(), "kill {kill} of seed {seed}: written without a saved original");
        }
        if kill % 2 == 0 && scene.undo().exists() {
            // Restoring may be killed, too.
            let mut command = Command::new(haul_path());
            command.args(["tune", "--restore", scene.path()]).stderr(Stdio::null());
            let mut run = command.env("XDG_STATE_HOME", scene.dir.path().join("state")).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(random.u64(0..120)));
            run.kill().unwrap();
            run.wait().unwrap();
            scene.disk.wait_until_free();
        }
        scene.haul(&["tune", "--restore", scene.path()]).assert().success();
        scene.is_as_it_was();
    }
    assert!(with_journal >= kills / 2, "{with_journal} of {kills} kills met a journal: this tests nothing");
}

#[test]
fn bytes_of_another_writer_are_kept_and_so_is_the_undo_journal() {
    let Some(scene) = Scene::new(6) else { return };
    scene.killed(&["tune"], None);
    fs::OpenOptions::new().write(true).open(&scene.image).unwrap().write_all_at(b"mine", 12 << 20).unwrap();
    // The kernel's cache of the disk has the original data.
    Command::new("blockdev").args(["--flushbufs", scene.path()]).status().unwrap();
    let reported = stderr(&scene.haul(&["tune", "--restore", scene.path()]).assert().code(3));
    let sector = format!("512 bytes at byte {}", 12 << 20);
    assert!(
        reported.contains(&sector) && reported.contains(".undo") && reported.contains("another program"),
        "{reported}"
    );
    let now = scene.now();
    assert!(now[12 << 20..].starts_with(b"mine"));
    let differing: Vec<usize> =
        (0..LEN / 512).filter(|at| now[at * 512..][..512] != scene.bytes[at * 512..][..512]).collect();
    assert_eq!(differing, [(12 << 20) / 512], "restored everything else");
    // Nothing is written there while the user's data may be lost.
    let source = scene.dir.path().join("source");
    write_noise(&source, 512, 3);
    for next in
        [&["copy", "--yes", source.to_str().unwrap(), scene.path()][..], &["tune", "--write", "--yes", scene.path()]]
    {
        scene.haul(next).assert().code(3);
    }
    assert!(scene.now() == now && scene.undo().exists());
    fs::remove_file(scene.undo()).unwrap();
    scene.haul(&["copy", "--yes", "--progress", "none", source.to_str().unwrap(), scene.path()]).assert().success();
}

#[test]
fn commands_that_only_read_warn_of_bytes_not_yet_restored() {
    let Some(scene) = Scene::new(7) else { return };
    scene.killed(&["tune"], None);
    let copy = scene.dir.path().join("copy");
    let (path, copy) = (scene.path(), copy.to_str().unwrap());
    for reads in [
        &["copy", "--progress", "none", path, copy][..],
        &["verify", "--progress", "none", copy, path],
        &["tune", "--quick", "--time", "1", path],
        &["profile", "--timing", "--time", "1", path],
        &["copy", "--dry-run", copy, path],
    ] {
        let reported = scene.haul(reads).assert().success();
        let messages = in_one_line(&reported.get_output().stdout) + &stderr(&reported);
        assert!(messages.contains("was interrupted"), "{reads:?}: {messages}");
    }
    assert!(scene.undo().exists() && scene.now() != scene.bytes, "it was only warned");
    scene.haul(&["tune", "--restore", path]).assert().success();
    scene.is_as_it_was();
}

#[test]
fn a_signal_ends_the_measurement_with_partial_results_and_all_bytes_restored() {
    let Some(scene) = Scene::new(8) else { return };
    let mut command = Command::new(haul_path());
    command.args(["tune", "--write", "--yes", "--time", "60", "--json", scene.path()]);
    let mut run = command.env("XDG_STATE_HOME", scene.dir.path().join("state")).stdout(Stdio::piped()).spawn().unwrap();
    while scene.now() == scene.bytes {
        assert!(run.try_wait().unwrap().is_none(), "it ended by itself");
    }
    rustix::process::kill_process(rustix::process::Pid::from_child(&run), rustix::process::Signal::INT).unwrap();
    let output = run.wait_with_output().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&output.status), Some(2));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["ended"], "interrupted");
    assert!(report["written"]["put_back_bytes"].as_u64() > Some(0));
    scene.disk.wait_until_free();
    scene.is_as_it_was();
}

#[test]
fn a_file_is_created_measured_and_removed_and_an_existing_one_is_never_written() {
    let dir = scratch();
    let existing = dir.path().join("there");
    let bytes = write_noise(&existing, 2 << 20, 9);
    for path in [dir.path().to_owned(), dir.path().join("new")] {
        let run = haul().args(["tune", "--write", "--quick", "--time", "2", "--json"]).arg(&path).assert().success();
        let report: Value = serde_json::from_slice(&run.get_output().stdout).unwrap();
        assert_eq!(report["written"]["ground"], "new file");
        assert!(report["answer"]["bytes_per_s"].as_f64() > Some(0.0));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "{path:?}");
    }
    let reported = stderr(&haul().args(["tune", "--write"]).arg(&existing).assert().code(3));
    assert!(reported.contains("an existing file") && fs::read(&existing).unwrap() == bytes, "{reported}");
}

#[test]
fn the_measuring_file_is_removed_even_after_a_kill() {
    let dir = scratch();
    let mut run = Command::new(haul_path());
    run.args(["tune", "--write", "--time", "60"]).arg(dir.path()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut run = run.spawn().unwrap();
    let made = format!("/proc/{}/fd", run.id());
    let is_open = |name: PathBuf| fs::read_link(name).is_ok_and(|link| link.to_string_lossy().contains("(deleted)"));
    while !fs::read_dir(&made).unwrap().flatten().any(|fd| is_open(fd.path())) {
        assert!(run.try_wait().unwrap().is_none(), "it ended by itself");
    }
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn destinations_that_must_not_be_written_are_refused() {
    let Some(scene) = Scene::new(10) else { return };
    let dir = memory_dir();
    let write = ["tune", "--write", "--quick", "--time", "1"];
    let refused = |arguments: &[&str], status: i32, words: &str| {
        let reported = stderr(&scene.haul(&[&write, arguments].concat()).assert().code(status));
        assert!(reported.contains(words) && reported.contains('→'), "{arguments:?}: {reported}");
    };
    refused(&[scene.path()], 3, "no terminal to confirm");
    refused(&["--yes", "--expect", "size=1M", scene.path()], 3, "is not the expected device");
    refused(&["--yes", "/dev/there-is-no-such-disk"], 3, "no such device");
    refused(&["--yes", "/dev/null"], 2, "neither a disk nor a file");
    let small = dir.path().join("small");
    fs::write(&small, [0; 4096]).unwrap();
    if let Some(small) = LoopDevice::over(&small) {
        refused(&["--yes", small.path().to_str().unwrap()], 3, "too small to measure");
    }
    let locked = dir.path().join("locked");
    fs::write(&locked, vec![0; 4 << 20]).unwrap();
    if let Some(locked) = LoopDevice::read_only(&locked) {
        refused(&["--yes", locked.path().to_str().unwrap()], 1, "no permission to write to");
        // An error about the device precedes one about the path of the undo journal.
        let mut nowhere = haul();
        nowhere.env("XDG_STATE_HOME", "/proc/none").args(write).arg("--yes").arg(locked.path());
        assert!(stderr(&nowhere.assert().code(1)).contains("no permission to write to"));
    }
    scene.is_as_it_was();
    let new = dir.path().join("new");
    for (path, words) in [(new.to_str().unwrap(), "does not exist"), (small.to_str().unwrap(), "is not a device")] {
        let reported = stderr(&haul().args(["tune", "--restore", path]).assert().failure());
        assert!(reported.contains(words) && reported.contains('→'), "{reported}");
    }
    refused(&["--save", new.to_str().unwrap()], 2, "do not apply to copies");
    assert!(!new.exists());
    for both in [["--destroy", "--quick"], ["--restore", "--write"], ["--restore", "--save"]] {
        haul().arg("tune").args(both).arg(scene.path()).assert().code(2);
    }
}

#[test]
fn a_mounted_device_and_a_full_state_directory_are_refused() {
    let dir = memory_dir();
    let image = dir.path().join("image");
    fs::File::create(&image).unwrap().set_len(64 << 20).unwrap();
    if !is_root() || !support::has("mkfs.ext4") {
        return skip("mounting needs root and mkfs.ext4");
    }
    assert!(Command::new("mkfs.ext4").args(["-q", image.to_str().unwrap()]).status().unwrap().success());
    let Some(disk) = LoopDevice::over(&image) else { return };
    let at = dir.path().join("mnt");
    fs::create_dir(&at).unwrap();
    let Some(mounted) = Mount::device(&at, disk.path()) else { return };
    let tune = |state: &Path| {
        let mut command = haul();
        command.env("XDG_STATE_HOME", state).args(["tune", "--write", "--yes", "--quick", "--time", "1"]);
        command.arg(disk.path()).assert()
    };
    let reported = stderr(&tune(dir.path()).code(3));
    assert!(reported.contains("is mounted at"), "{reported}");
    drop(mounted);
    disk.wait_until_free();
    let small = dir.path().join("small");
    fs::create_dir(&small).unwrap();
    let Some(_small) = Mount::tmpfs(&small, 20 << 20) else { return };
    let before = fs::read(&image).unwrap();
    let reported = stderr(&tune(&small).code(1));
    assert!(
        reported.contains("not enough space to save the original data of") && reported.contains("XDG_STATE_HOME"),
        "{reported}"
    );
    assert!(fs::read(&image).unwrap() == before);
}

#[test]
fn with_destroy_no_undo_journal_is_written() {
    let Some(scene) = Scene::new(11) else { return };
    let mut run =
        scene.haul(&["tune", "--write", "--destroy", "--yes", "--quick", "--time", "1", "--json", scene.path()]);
    let report: Value = serde_json::from_slice(&run.assert().success().get_output().stdout).unwrap();
    assert_eq!((&report["written"]["ground"], &report["written"]["put_back_bytes"]), (&"all".into(), &Value::Null));
    assert!(scene.now() != scene.bytes && !scene.undo().exists());
}

#[test]
fn the_prompt_shows_the_overwritten_bytes_and_the_undo_journal() {
    let Some(scene) = Scene::new(12) else { return };
    let mut command = Command::new(haul_path());
    command.args(["tune", "--write", "--quick", "--time", "1", scene.path()]);
    command.env("XDG_STATE_HOME", scene.dir.path().join("state"));
    let mut session = Terminal::sized(80, 24, command);
    let shown = session.wait_for("Type \"yes\" to continue").text;
    assert!(shown.contains("25.2 MB") && shown.contains("and then restored"), "{shown}");
    session.answer("no");
    session.wait_for("not confirmed");
    session.end();
    scene.is_as_it_was();
}
