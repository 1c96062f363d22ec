//! `haul journal list` and `remove`, and unfinished copies in `haul list`.
//!
//! Unfinished copies are made from mapfiles (`haul journal import`), so that no copy has to be stopped in time.
use crate::support::{Folder, LoopDevice, Terminal, cmp, haul_path, in_one_line, memory_dir, noise, scratch};
use rustix::fs::{FlockOperation, flock};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const MIB: usize = 1 << 20;
const LEN: usize = 4 * MIB;
const USAGE: i32 = 2;
const REFUSED: i32 = 3;

fn name(path: &Path) -> &str {
    path.to_str().expect("scratch names are text")
}

/// A folder with a source, and what is made beside it.
struct Scene {
    dir: Folder,
    source: PathBuf,
}

impl Scene {
    fn new(dir: Folder) -> Scene {
        let source = dir.path().join("source");
        fs::write(&source, noise(LEN, 91)).expect("scratch takes files");
        Scene { dir, source }
    }

    /// One with an unfinished copy to a file: the destination, and its journal.
    fn with_file() -> (Scene, PathBuf, PathBuf) {
        let scene = Scene::new(scratch());
        let [dest, journal] = ["dest", ".dest.haul-journal"].map(|name| scene.dir.path().join(name));
        fs::write(&dest, &noise(LEN, 91)[..LEN / 2]).expect("scratch takes files");
        scene.begin(&dest, &[]);
        assert!(journal.exists());
        (scene, dest, journal)
    }

    /// A journal that says that the first half of a copy to `dest` is durable.
    fn begin(&self, dest: &Path, options: &[&str]) {
        let map = self.dir.path().join("map");
        let half = LEN / 2;
        fs::write(&map, format!("0 ? 1\n0 0x{half:x} +\n0x{half:x} 0x{half:x} ?\n")).expect("scratch takes files");
        let words = ["journal", "import", name(&map), name(&self.source), name(dest)];
        let (status, said) = self.run(&[&words, options].concat());
        assert_eq!(status, 0, "{said}");
        fs::remove_file(map).expect("it was made");
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(haul_path());
        command.args(words).env("XDG_STATE_HOME", self.dir.path().join("state")).current_dir(self.dir.path());
        command
    }

    /// The status, and what was said, in one line.
    fn run(&self, words: &[&str]) -> (i32, String) {
        let output = self.command(words).stdin(Stdio::null()).output().expect("it runs");
        let said = in_one_line([&output.stderr[..], &output.stdout].concat());
        (output.status.code().expect("no signal ended it"), said)
    }

    #[track_caller]
    fn json(&self, words: &[&str]) -> Value {
        let output = self.command(words).output().expect("it runs");
        serde_json::from_slice(&output.stdout).expect("it is JSON")
    }

    /// Runs the command that a list names, in a shell.
    fn in_a_shell(&self, line: &str) -> i32 {
        let haul = haul_path();
        let line = line.replacen("haul", &format!("'{}'", name(&haul)), 1);
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).env("XDG_STATE_HOME", self.dir.path().join("state")).stdin(Stdio::null());
        shell.status().expect("it runs").code().expect("no signal ended it")
    }
}

#[test]
fn an_unfinished_copy_is_listed_with_a_command_that_continues_it() {
    let (scene, dest, journal) = Scene::with_file();
    let (status, said) = scene.run(&["journal", "list"]);
    assert_eq!(status, 0, "{said}");
    for wanted in [name(&scene.source), name(&dest), "(50 %)", ".dest.haul-journal", "haul copy --resume"] {
        assert!(said.contains(wanted), "no '{wanted}' in: {said}");
    }
    let list = scene.json(&["journal", "list", "--json"]);
    let [copy] = &list["copies"].as_array().expect("a list")[..] else { panic!("{list:#}") };
    assert_eq!((&copy["durable_bytes"], &copy["len_bytes"]), (&(LEN / 2).into(), &LEN.into()));
    assert_eq!((&copy["running"], copy["dest_now"].as_str()), (&false.into(), dest.to_str()));
    assert_eq!(scene.in_a_shell(copy["continue_command"].as_str().expect("there is one")), 0);
    cmp(&scene.source, &dest);
    assert!(!journal.exists());
    let (_, said) = scene.run(&["journal", "list"]);
    assert!(said.contains("No unfinished copies"), "{said}");
}

#[test]
fn a_journal_is_listed_by_its_folder_its_destination_or_its_own_name() {
    let (scene, dest, journal) = Scene::with_file();
    let elsewhere = scratch();
    let folder = scene.dir.path().to_owned();
    for path in [&folder, &dest, &journal] {
        let mut command = scene.command(&["journal", "list", name(path)]);
        let output = command.current_dir(elsewhere.path()).output().expect("it runs");
        let said = in_one_line(output.stdout);
        assert!(said.contains("--resume") && said.contains(name(&dest)), "{}: {said}", path.display());
    }
    let (status, said) = scene.run(&["journal", "list", name(&scene.source)]);
    assert_eq!(status, USAGE, "{said}");
    assert!(said.contains("no journal"), "{said}");
}

#[test]
fn the_command_has_what_another_range_and_another_place_of_the_journal_need() {
    let scene = Scene::new(scratch());
    let [dest, journal] = ["dest", "own journal"].map(|name| scene.dir.path().join(name));
    fs::write(&dest, [&vec![7; MIB][..], &noise(LEN, 91)].concat()).expect("scratch takes files");
    scene.begin(&dest, &["--seek", "1M", "--count", "3M", "--journal", name(&journal)]);
    let list = scene.json(&["journal", "list", "--json", name(&journal)]);
    let command = list["copies"][0]["continue_command"].as_str().expect("there is one").to_owned();
    assert_eq!(scene.in_a_shell(&command), 0, "{command}");
    let (copied, wanted) = (fs::read(&dest).expect("it is there"), noise(LEN, 91));
    assert!(copied[MIB..4 * MIB] == wanted[..3 * MIB] && copied[..MIB] == vec![7; MIB], "{command}");
    assert_eq!(copied.len(), 5 * MIB, "the destination was cut: {command}");
}

#[test]
fn a_copy_of_a_part_is_continued_as_a_copy_of_that_part() {
    let scene = Scene::new(scratch());
    let dest = scene.dir.path().join("dest");
    fs::write(&dest, &noise(LEN, 91)[MIB..2 * MIB]).expect("scratch takes files");
    scene.begin(&dest, &["--skip", "1M", "--count", "2M"]);
    let list = scene.json(&["journal", "list", "--json"]);
    let command = list["copies"][0]["continue_command"].as_str().expect("there is one").to_owned();
    assert_eq!(scene.in_a_shell(&command), 0, "{command}");
    assert!(fs::read(&dest).expect("it is there") == noise(LEN, 91)[MIB..3 * MIB], "{command}");
}

#[test]
fn a_disk_says_that_an_unfinished_copy_to_it_waits() {
    let scene = Scene::new(memory_dir());
    let file = scene.dir.path().join("disk");
    fs::write(&file, noise(LEN, 91)).expect("scratch takes files");
    let Some(disk) = LoopDevice::over(&file) else { return };
    scene.begin(disk.path(), &[]);
    let device = name(disk.path()).to_owned();
    let (_, said) = scene.run(&["list", "--columns", "path,use"]);
    assert!(said.contains(&format!("{device} unfinished copy, 50 % durable")), "{said}");
    let (_, said) = scene.run(&["list", "--all"]);
    // Somebody may have told the kernel of partitions.
    let said = in_one_line(said.replace('│', ""));
    assert!(said.contains("UNFINISHED COPY") && said.contains(&format!("{device} continues it")), "{said}");
    let list = scene.json(&["list", "--json"]);
    let devices = list["devices"].as_array().expect("a list");
    let listed = devices.iter().find(|listed| listed["path"] == *device).expect("it is there");
    assert_eq!(listed["pending_copy"]["durable_bytes"], LEN / 2);
    let copies = scene.json(&["journal", "list", "--json"]);
    assert_eq!(copies["copies"][0], listed["pending_copy"], "{copies:#}");
    let (status, said) = scene.run(&["journal", "remove", "--yes", &device]);
    assert_eq!(status, 0, "{said}");
    let (_, said) = scene.run(&["list", "--columns", "path,use"]);
    assert!(!said.contains(&format!("{device} unfinished")), "{said}");
}

#[test]
fn a_copy_to_a_disk_that_is_gone_is_listed_without_a_command() {
    let scene = Scene::new(memory_dir());
    let file = scene.dir.path().join("disk");
    fs::write(&file, noise(LEN, 91)).expect("scratch takes files");
    let Some(disk) = LoopDevice::over(&file) else { return };
    scene.begin(disk.path(), &[]);
    let number = disk.path().file_name().expect("a loop device has a name").to_owned();
    drop(disk);
    let (status, said) = scene.run(&["journal", "list"]);
    assert_eq!(status, 0, "{said}");
    // Another test may have been given the number meanwhile: then there is a disk again.
    if Path::new("/sys/block").join(number).join("loop").exists() {
        return;
    }
    assert!(said.contains("not connected") && !said.contains("copy --resume"), "{said}");
    let copies = scene.json(&["journal", "list", "--json"]);
    assert_eq!(copies["copies"][0]["continue_command"], Value::Null);
}

#[test]
fn a_journal_is_removed_with_yes_and_never_without_a_word() {
    let (scene, dest, journal) = Scene::with_file();
    let (status, said) = scene.run(&["journal", "remove", name(&dest)]);
    assert_eq!(status, REFUSED, "{said}");
    assert!(said.contains("--yes") && journal.exists(), "{said}");
    let (status, said) = scene.run(&["journal", "remove", "--yes", name(&dest), name(&scene.source)]);
    assert_eq!(status, USAGE, "{said}");
    assert!(journal.exists(), "one was removed although another could not be");
    let before = fs::read(&dest).expect("it is there");
    let (status, said) = scene.run(&["journal", "remove", "-y", name(&journal)]);
    assert_eq!(status, 0, "{said}");
    assert!(!journal.exists() && said.contains("is removed"), "{said}");
    assert!(fs::read(&dest).expect("it is there") == before, "the destination was changed");
    let (status, said) = scene.run(&["journal", "remove", "-y", name(&dest)]);
    assert_eq!(status, USAGE, "{said}");
}

#[test]
fn on_a_terminal_the_copy_is_shown_and_only_a_yes_removes_its_journal() {
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
    let holder = fs::File::open(&journal).expect("it is there");
    flock(&holder, FlockOperation::LockExclusive).expect("nobody else has it");
    let (status, said) = scene.run(&["journal", "remove", "--yes", name(&journal)]);
    assert_eq!(status, REFUSED, "{said}");
    assert!(said.contains("the copy is running") && journal.exists(), "{said}");
    let list = scene.json(&["journal", "list", "--json"]);
    assert_eq!(list["copies"][0]["running"], true, "{list:#}");
}

#[test]
fn what_is_no_journal_is_not_removed_and_a_damaged_one_is() {
    let (scene, dest, journal) = Scene::with_file();
    let other = scene.dir.path().join(".other.haul-journal");
    fs::write(&other, "a letter\n").expect("scratch takes files");
    let (status, said) = scene.run(&["journal", "remove", "--yes", name(&other)]);
    assert_eq!(status, USAGE, "{said}");
    assert!(other.exists(), "somebody's file was removed");
    let lines = fs::read_to_string(&journal).expect("it is text");
    fs::write(&journal, lines.replacen("durable", "durably", 1)).expect("scratch takes files");
    let (status, said) = scene.run(&["journal", "list"]);
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("damaged") || said.contains("error"), "{said}");
    let (status, said) = scene.run(&["journal", "remove", "--yes", name(&journal)]);
    assert_eq!((status, journal.exists()), (0, false), "{said}");
    assert!(dest.exists());
}
