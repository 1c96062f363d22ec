//! `haul copy SRC` without a destination: the user chooses a disk on the terminal, and haul writes to that
//! disk.
//!
//! Loop devices are not removable, so they are offered only with all disks. Those of other tests are offered
//! too: each test chooses the number of its own disk.
use crate::support::{
    LoopDevice, Mount, ScratchDir, Shown, Terminal, filled, has, haul, memory_dir, on_a_terminal, stderr, write_noise,
};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

const MIB: usize = 1 << 20;
const USAGE: i32 = 2;
const REFUSED: i32 = 3;

/// A source, and a larger disk filled with 0xAA. The device is the first field, so that it is dropped first.
struct Scene {
    disk: LoopDevice,
    source: PathBuf,
    dir: ScratchDir,
}

impl Scene {
    fn new() -> Option<Scene> {
        let dir = memory_dir();
        let (source, disk) = (dir.path().join("source"), dir.path().join("disk"));
        write_noise(&source, MIB, 141);
        filled(&disk, 2 * MIB, 0xAA);
        Some(Scene { disk: LoopDevice::over(&disk)?, source, dir })
    }

    fn ask(&self, options: &[&str]) -> (Terminal, Shown) {
        let source = self.source.to_str().expect("paths of test directories are UTF-8");
        let mut session = on_a_terminal(&[&["copy", "--choose", "all"], options, &[source]].concat());
        let shown = session.wait_for("anything else to stop:");
        (session, shown)
    }

    /// The number of the disk; `None`: it is not offered.
    fn number(&self, shown: &Shown) -> Option<String> {
        let lines = shown.lines();
        let words = lines.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let mut own = words.filter(|words| words.get(1) == self.disk.path().to_str().as_ref());
        own.next().map(|words| words[0].to_owned())
    }

    #[track_caller]
    fn is_untouched(&self) {
        let bytes = fs::read(self.dir.path().join("disk")).expect("it exists");
        assert!(bytes == vec![0xAA; 2 * MIB], "the disk was written");
    }
}

#[test]
fn the_chosen_and_confirmed_disk_is_written() {
    for options in [&[][..], &["--yes"]] {
        let Some(scene) = Scene::new() else { return };
        let (mut session, shown) = scene.ask(options);
        let number = scene.number(&shown).unwrap_or_else(|| panic!("it is not offered: {}", shown.text));
        session.answer(&number);
        let question = session.wait_for("Type \"yes\"").text;
        assert!(question.contains(scene.disk.path().to_str().expect("it is UTF-8")), "{question}");
        scene.is_untouched();
        session.answer("yes");
        let (shown, status) = session.end();
        assert_eq!(status, 0, "{}", shown.text);
        let bytes = fs::read(&scene.disk).expect("it exists");
        assert!(bytes[..MIB] == fs::read(&scene.source).expect("it exists"), "{options:?}");
    }
}

#[test]
fn an_answer_that_is_not_a_listed_number_stops_the_copy() {
    let Some(scene) = Scene::new() else { return };
    for answer in ["", "0", "-1", "999", "yes", scene.disk.path().to_str().expect("it is UTF-8")] {
        let (mut session, _) = scene.ask(&[]);
        session.answer(answer);
        let (shown, status) = session.end();
        assert_eq!(status, REFUSED, "{answer:?}: {}", shown.text);
        assert!(shown.text.contains("no disk was chosen"), "{answer:?}: {}", shown.text);
    }
    let (mut session, shown) = scene.ask(&[]);
    session.answer(&scene.number(&shown).expect("it is offered"));
    session.wait_for("Type \"yes\"");
    session.answer("no");
    assert_eq!(session.end().1, REFUSED);
    scene.is_untouched();
}

#[test]
fn a_disk_that_is_replaced_after_the_choice_is_not_written() {
    let Some(mut scene) = Scene::new() else { return };
    let other = scene.dir.path().join("other");
    filled(&other, 2 * MIB, 0xBB);
    let (mut session, shown) = scene.ask(&[]);
    let number = scene.number(&shown).expect("it is offered");
    if scene.disk.replace(&other).is_none() {
        return;
    }
    session.answer(&number);
    let (shown, status) = session.end();
    assert_eq!(status, REFUSED, "{}", shown.text);
    assert!(shown.text.contains("is not the disk that was chosen"), "{}", shown.text);
    scene.is_untouched();
    assert!(fs::read(&other).expect("it exists") == vec![0xBB; 2 * MIB], "the other disk was written");
}

#[test]
fn a_disk_that_is_in_use_too_large_too_small_or_the_source_is_not_offered() {
    let Some(scene) = Scene::new() else { return };
    // At least one other disk is offered.
    let beside = [("small", MIB / 2), ("large", 4 * MIB)].map(|(name, bytes)| {
        let file = scene.dir.path().join(name);
        filled(&file, bytes, 0);
        LoopDevice::over(&file)
    });
    assert!(beside.iter().all(Option::is_some));
    let not_offered = |options: &[&str], why: &str| {
        let (mut session, shown) = scene.ask(options);
        assert_eq!(scene.number(&shown), None, "{why}: {}", shown.text);
        let wanted = format!("Not offered: {}", scene.disk.path().display());
        assert!(shown.text.contains(&wanted) && shown.text.contains(why), "{why}: {}", shown.text);
        session.answer("");
        assert_eq!(session.end().1, REFUSED);
    };
    not_offered(&["--count", "1K", "--choose-max", "1M"], "(--choose-max)");
    not_offered(&["--count", "256K", "--seek", "2M", "--choose-max", "100G"], "needed");
    let at = scene.dir.path().join("at");
    fs::create_dir(&at).expect("the directory can be created");
    if !has("mkfs.ext4") {
        return;
    }
    let path = format!("/usr/sbin:/sbin:{}", std::env::var("PATH").unwrap_or_default());
    let made = Command::new("mkfs.ext4").args(["-q", "-F"]).arg(scene.disk.path()).env("PATH", path).status();
    assert!(made.is_ok_and(|status| status.success()));
    if let Some(_mount) = Mount::device(&at, scene.disk.path()) {
        not_offered(&["--count", "256K"], "is mounted at");
    }
}

#[test]
fn without_a_terminal_the_destination_is_required() {
    let dir = memory_dir();
    let source = dir.path().join("source");
    write_noise(&source, MIB, 142);
    for options in [&[][..], &["--yes"], &["--choose", "all", "--yes"]] {
        let assert = haul().arg("copy").args(options).arg(&source).assert().code(USAGE);
        let messages = stderr(&assert);
        assert!(messages.contains("no destination is given") && messages.contains("haul list"), "{messages}");
    }
    let assert = haul().args(["copy", "-"]).assert().code(USAGE);
    assert!(stderr(&assert).contains("standard input is the source"));
    let report = haul().args(["copy", "--json"]).arg(&source).assert().code(USAGE).get_output().stdout.clone();
    let report: serde_json::Value = serde_json::from_slice(&report).expect("it is JSON");
    assert_eq!(report["report"], "copy", "{report:#}");
}

#[test]
fn options_of_the_chooser_are_refused_with_a_named_destination() {
    for words in [&["--choose", "all", "a", "b"][..], &["--choose-max", "1G", "a", "b"], &["a", "--also", "b"]] {
        haul().arg("copy").args(words).assert().code(USAGE);
    }
}
