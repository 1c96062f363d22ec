//! `haul journal list` and `remove`, and unfinished copies in `haul list`.
//!
//! Unfinished copies are made from mapfiles (`haul journal import`), so that no copy has to be stopped in time.
use crate::support::{LoopDevice, ScratchDir, Terminal, cmp, haul_path, in_one_line, memory_dir, name, noise, scratch};
use rustix::fs::{FlockOperation, flock};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const MIB: usize = 1 << 20;
const LEN: usize = 4 * MIB;
const USAGE: i32 = 2;
const REFUSED: i32 = 3;

/// A directory with a source, and the files made beside it.
struct Scene {
    dir: ScratchDir,
    source: PathBuf,
}

impl Scene {
    fn new(dir: ScratchDir) -> Scene {
        let source = dir.path().join("source");
        fs::write(&source, noise(LEN, 91)).expect("the file can be written");
        Scene { dir, source }
    }

    /// A scene with an unfinished copy to a file: the destination, and its journal.
    fn with_file() -> (Scene, PathBuf, PathBuf) {
        let scene = Scene::new(scratch());
        let [dest, journal] = ["dest", ".dest.haul-journal"].map(|name| scene.dir.path().join(name));
        fs::write(&dest, &noise(LEN, 91)[..LEN / 2]).expect("the file can be written");
        scene.begin(&dest, &[]);
        assert!(journal.exists());
        (scene, dest, journal)
    }

    /// Creates a journal in which the first half of a copy to `dest` is durable.
    fn begin(&self, dest: &Path, options: &[&str]) {
        let map = self.dir.path().join("map");
        let half = LEN / 2;
        fs::write(&map, format!("0 ? 1\n0 0x{half:x} +\n0x{half:x} 0x{half:x} ?\n")).expect("the file can be written");
        let words = ["journal", "import", name(&map), name(&self.source), name(dest)];
        let (status, messages) = self.run(&[&words, options].concat());
        assert_eq!(status, 0, "{messages}");
        fs::remove_file(map).expect("it was created");
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(haul_path());
        command.args(words).env("XDG_STATE_HOME", self.dir.path().join("state")).current_dir(self.dir.path());
        command
    }

    /// The status, and the messages on one line.
    fn run(&self, words: &[&str]) -> (i32, String) {
        let output = self.command(words).stdin(Stdio::null()).output().expect("it runs");
        let messages = in_one_line([&output.stderr[..], &output.stdout].concat());
        (output.status.code().expect("no signal ended it"), messages)
    }

    #[track_caller]
    fn json(&self, words: &[&str]) -> Value {
        let output = self.command(words).output().expect("it runs");
        serde_json::from_slice(&output.stdout).expect("it is JSON")
    }

    /// Runs a listed command in a shell.
    fn in_a_shell(&self, line: &str) -> i32 {
        let haul = haul_path();
        let line = line.replacen("haul", &format!("'{}'", name(&haul)), 1);
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).env("XDG_STATE_HOME", self.dir.path().join("state")).stdin(Stdio::null());
        shell.status().expect("it runs").code().expect("no signal ended it")
    }
}

#[test]
fn an_unfinished_copy_is_listed_with_its_resume_command() {
    let (scene, dest, journal) = Scene::with_file();
    let (status, messages) = scene.run(&["journal", "list"]);
    assert_eq!(status, 0, "{messages}");
    for wanted in [name(&scene.source), name(&dest), "(50 %)", ".dest.haul-journal", "haul copy --resume"] {
        assert!(messages.contains(wanted), "no '{wanted}' in: {messages}");
    }
    let list = scene.json(&["journal", "list", "--json"]);
    let [copy] = &list["copies"].as_array().expect("a list")[..] else { panic!("{list:#}") };
    assert_eq!((&copy["durable_bytes"], &copy["len_bytes"]), (&(LEN / 2).into(), &LEN.into()));
    assert_eq!((&copy["running"], copy["dest_now"].as_str()), (&false.into(), dest.to_str()));
    assert_eq!(scene.in_a_shell(copy["continue_command"].as_str().expect("there is one")), 0);
    cmp(&scene.source, &dest);
    assert!(!journal.exists());
    let (_, messages) = scene.run(&["journal", "list"]);
    assert!(messages.contains("No unfinished copies"), "{messages}");
}

#[test]
fn a_journal_is_listed_by_its_directory_its_destination_or_its_own_name() {
    let (scene, dest, journal) = Scene::with_file();
    let elsewhere = scratch();
    let directory = scene.dir.path().to_owned();
    for path in [&directory, &dest, &journal] {
        let mut command = scene.command(&["journal", "list", name(path)]);
        let output = command.current_dir(elsewhere.path()).output().expect("it runs");
        let messages = in_one_line(output.stdout);
        assert!(messages.contains("--resume") && messages.contains(name(&dest)), "{}: {messages}", path.display());
    }
    let (status, messages) = scene.run(&["journal", "list", name(&scene.source)]);
    assert_eq!(status, USAGE, "{messages}");
    assert!(messages.contains("no journal"), "{messages}");
}

#[test]
fn the_resume_command_has_the_range_and_the_path_of_the_journal() {
    let scene = Scene::new(scratch());
    let [dest, journal] = ["dest", "own journal"].map(|name| scene.dir.path().join(name));
    fs::write(&dest, [&vec![7; MIB][..], &noise(LEN, 91)].concat()).expect("the file can be written");
    scene.begin(&dest, &["--seek", "1M", "--count", "3M", "--journal", name(&journal)]);
    let list = scene.json(&["journal", "list", "--json", name(&journal)]);
    let command = list["copies"][0]["continue_command"].as_str().expect("there is one").to_owned();
    assert_eq!(scene.in_a_shell(&command), 0, "{command}");
    let (copied, wanted) = (fs::read(&dest).expect("it exists"), noise(LEN, 91));
    assert!(copied[MIB..4 * MIB] == wanted[..3 * MIB] && copied[..MIB] == vec![7; MIB], "{command}");
    assert_eq!(copied.len(), 5 * MIB, "the destination was cut: {command}");
}

#[test]
fn a_copy_of_a_range_is_resumed_as_a_copy_of_that_range() {
    let scene = Scene::new(scratch());
    let dest = scene.dir.path().join("dest");
    fs::write(&dest, &noise(LEN, 91)[MIB..2 * MIB]).expect("the file can be written");
    scene.begin(&dest, &["--skip", "1M", "--count", "2M"]);
    let list = scene.json(&["journal", "list", "--json"]);
    let command = list["copies"][0]["continue_command"].as_str().expect("there is one").to_owned();
    assert_eq!(scene.in_a_shell(&command), 0, "{command}");
    assert!(fs::read(&dest).expect("it exists") == noise(LEN, 91)[MIB..3 * MIB], "{command}");
}

#[test]
fn a_disk_is_listed_with_its_unfinished_copy() {
    let scene = Scene::new(memory_dir());
    let file = scene.dir.path().join("disk");
    fs::write(&file, noise(LEN, 91)).expect("the file can be written");
    let Some(disk) = LoopDevice::over(&file) else { return };
    scene.begin(disk.path(), &[]);
    let device = name(disk.path()).to_owned();
    let (_, messages) = scene.run(&["list", "--columns", "path,use"]);
    assert!(messages.contains(&format!("{device} unfinished copy, 50 % durable")), "{messages}");
    let (_, messages) = scene.run(&["list", "--all"]);
    // Another program may have added partitions.
    let messages = in_one_line(messages.replace('│', ""));
    assert!(messages.contains("UNFINISHED COPY") && messages.contains(&format!("{device} continues it")), "{messages}");
    let list = scene.json(&["list", "--json"]);
    let devices = list["devices"].as_array().expect("a list");
    let listed = devices.iter().find(|listed| listed["path"] == *device).expect("it exists");
    assert_eq!(listed["pending_copy"]["durable_bytes"], LEN / 2);
    let copies = scene.json(&["journal", "list", "--json"]);
    assert_eq!(copies["copies"][0], listed["pending_copy"], "{copies:#}");
    let (status, messages) = scene.run(&["journal", "remove", "--yes", &device]);
    assert_eq!(status, 0, "{messages}");
    let (_, messages) = scene.run(&["list", "--columns", "path,use"]);
    assert!(!messages.contains(&format!("{device} unfinished")), "{messages}");
}

#[test]
fn a_copy_to_a_removed_disk_is_listed_without_a_command() {
    // Another test may get the number of the removed device. The kernel counts that as another disk.
    for _ in 0..20 {
        let scene = Scene::new(memory_dir());
        let file = scene.dir.path().join("disk");
        fs::write(&file, noise(LEN, 91)).expect("the file can be written");
        let Some(disk) = LoopDevice::over(&file) else { return };
        scene.begin(disk.path(), &[]);
        let number = disk.path().file_name().expect("a loop device has a name").to_owned();
        let diskseq = || fs::read(Path::new("/sys/block").join(&number).join("diskseq")).expect("Linux 5.15 has it");
        drop(disk);
        let removed = diskseq();
        let (status, messages) = scene.run(&["journal", "list"]);
        assert_eq!(status, 0, "{messages}");
        let copies = scene.json(&["journal", "list", "--json"]);
        // Another test can also have taken it before its number was read.
        let is_taken = Path::new("/sys/block").join(&number).join("loop/backing_file").exists();
        if is_taken || diskseq() != removed {
            continue;
        }
        assert!(messages.contains("not connected") && !messages.contains("copy --resume"), "{messages}");
        assert_eq!(copies["copies"][0]["continue_command"], Value::Null);
        return;
    }
    panic!("the number of the removed loop device was taken in each of 20 attempts");
}

#[test]
fn a_journal_is_removed_only_with_yes() {
    let (scene, dest, journal) = Scene::with_file();
    let (status, messages) = scene.run(&["journal", "remove", name(&dest)]);
    assert_eq!(status, REFUSED, "{messages}");
    assert!(messages.contains("--yes") && journal.exists(), "{messages}");
    let (status, messages) = scene.run(&["journal", "remove", "--yes", name(&dest), name(&scene.source)]);
    assert_eq!(status, USAGE, "{messages}");
    assert!(journal.exists(), "one was removed although another could not be");
    let before = fs::read(&dest).expect("it exists");
    let (status, messages) = scene.run(&["journal", "remove", "-y", name(&journal)]);
    assert_eq!(status, 0, "{messages}");
    assert!(!journal.exists() && messages.contains("is removed"), "{messages}");
    assert!(fs::read(&dest).expect("it exists") == before, "the destination was changed");
    let (status, messages) = scene.run(&["journal", "remove", "-y", name(&dest)]);
    assert_eq!(status, USAGE, "{messages}");
}

#[test]
fn on_a_terminal_the_copy_is_shown_and_only_yes_removes_its_journal() {
    let (scene, dest, journal) = Scene::with_file();
    for (answer, wanted, is_left) in [("no", REFUSED, true), ("", REFUSED, true), ("yes", 0, false)] {
        let mut session = Terminal::sized(80, 24, scene.command(&["journal", "remove", name(&dest)]));
        let question = session.wait_for("Type \"yes\"").text;
        assert!(question.contains(name(&scene.source)) && question.contains("(50 %)"), "{question}");
        session.answer(answer);
        let (shown, status) = session.end();
        assert_eq!((status, journal.exists()), (wanted, is_left), "{answer:?}: {}", shown.text);
    }
}

#[test]
fn a_journal_that_a_running_copy_uses_is_listed_as_running_and_not_removed() {
    let (scene, _, journal) = Scene::with_file();
    let holder = fs::File::open(&journal).expect("it exists");
    flock(&holder, FlockOperation::LockExclusive).expect("no other process has it");
    let (status, messages) = scene.run(&["journal", "remove", "--yes", name(&journal)]);
    assert_eq!(status, REFUSED, "{messages}");
    assert!(messages.contains("the copy is running") && journal.exists(), "{messages}");
    let list = scene.json(&["journal", "list", "--json"]);
    assert_eq!(list["copies"][0]["running"], true, "{list:#}");
}

#[test]
fn only_journals_are_removed_damaged_ones_too() {
    let (scene, dest, journal) = Scene::with_file();
    let other = scene.dir.path().join(".other.haul-journal");
    fs::write(&other, "a letter\n").expect("the file can be written");
    let (status, messages) = scene.run(&["journal", "remove", "--yes", name(&other)]);
    assert_eq!(status, USAGE, "{messages}");
    assert!(other.exists(), "an unrelated file was removed");
    let lines = fs::read_to_string(&journal).expect("it is UTF-8");
    fs::write(&journal, lines.replacen("durable", "durably", 1)).expect("the file can be written");
    let (status, messages) = scene.run(&["journal", "list"]);
    assert_eq!(status, 0, "{messages}");
    assert!(messages.contains("damaged") || messages.contains("error"), "{messages}");
    let (status, messages) = scene.run(&["journal", "remove", "--yes", name(&journal)]);
    assert_eq!((status, journal.exists()), (0, false), "{messages}");
    assert!(dest.exists());
}
