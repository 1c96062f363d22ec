//! A journal waits at the destination, or something else has its name: nobody's work is given up without a word.
//!
//! Unfinished copies are made from mapfiles (`haul journal import`), so that no copy has to be stopped in time.
use crate::support::{
    Folder, LoopDevice, Terminal, cmp, cmp_ranges, filled, has, haul_path, in_one_line, is_root, memory_dir, noise,
    scratch, skip,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const MIB: usize = 1 << 20;
const LEN: usize = 4 * MIB;
const REFUSED: i32 = 3;

fn name(path: &Path) -> &str {
    path.to_str().expect("scratch names are text")
}

/// A source, and a destination that has the first half of it, with the journal that says so.
struct Scene {
    dir: Folder,
    source: PathBuf,
    dest: PathBuf,
    journal: PathBuf,
}

impl Scene {
    fn new() -> Scene {
        let dir = scratch();
        let [source, dest, journal] = ["source", "dest", ".dest.haul-journal"].map(|name| dir.path().join(name));
        fs::write(&source, noise(LEN, 91)).expect("scratch takes files");
        let scene = Scene { dir, source, dest, journal };
        fs::write(&scene.dest, &noise(LEN, 91)[..LEN / 2]).expect("scratch takes files");
        scene.import(&scene.source, &scene.dest, LEN, &[]);
        assert!(scene.journal.exists());
        scene
    }

    /// A journal that says that the first half of `len` bytes is durable.
    fn import(&self, source: &Path, dest: &Path, len: usize, options: &[&str]) {
        let map = self.dir.path().join("map");
        let half = len / 2;
        fs::write(&map, format!("0 ? 1\n0 0x{half:x} +\n0x{half:x} 0x{half:x} ?\n")).expect("scratch takes files");
        let words = [&["journal", "import", name(&map), name(source), name(dest)], options].concat();
        let (status, said) = self.run(&words);
        assert_eq!(status, 0, "{said}");
        fs::remove_file(map).expect("it was made");
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(haul_path());
        command.args(words).env("XDG_STATE_HOME", self.dir.path().join("state"));
        command
    }

    /// The status, and what was said, in one line.
    fn run(&self, words: &[&str]) -> (i32, String) {
        let output = self.command(words).stdin(Stdio::null()).output().expect("it runs");
        let said = [&output.stderr[..], &output.stdout].concat();
        let said = in_one_line(said);
        (output.status.code().expect("no signal ended it"), said)
    }

    /// Refused with nothing changed, and all of `wanted` said.
    #[track_caller]
    fn refuses(&self, words: &[&str], wanted: &[&str]) {
        let before = self.files();
        let (status, said) = self.run(words);
        assert_eq!(status, REFUSED, "{words:?}: {said}");
        for wanted in wanted {
            assert!(said.contains(wanted), "{words:?}: no '{wanted}' in: {said}");
        }
        assert!(self.files() == before, "{words:?}: something was written");
    }

    #[track_caller]
    fn does(&self, words: &[&str]) -> String {
        let (status, said) = self.run(words);
        assert_eq!(status, 0, "{words:?}: {said}");
        said
    }

    /// Every regular file beside the destination with what is in it.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let entries = fs::read_dir(self.dir.path()).expect("it is there").flatten();
        let mut files: Vec<_> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
        files.sort();
        files.into_iter().map(|path| (path.clone(), fs::read(path).expect("it is there"))).collect()
    }

    fn on_a_terminal(&self, options: &[&str]) -> Terminal {
        let words = [&["copy"], options, &[name(&self.source), name(&self.dest)]].concat();
        Terminal::sized(80, 24, self.command(&words))
    }
}

#[test]
fn without_a_terminal_a_waiting_journal_is_refused_and_both_ways_are_named() {
    let scene = Scene::new();
    let (source, dest) = (name(&scene.source), name(&scene.dest));
    let both = ["2097152 bytes", ".dest.haul-journal", "--resume", "--restart"];
    scene.refuses(&["copy", source, dest], &both);
    scene.refuses(&["copy", "--yes", source, dest], &both);
    scene.refuses(&["copy", "--no-journal", source, dest], &both);
    scene.refuses(&["copy", "--delta", source, dest], &both);
    let elsewhere = scene.dir.path().join("elsewhere");
    scene.refuses(&["copy", "--journal", name(&elsewhere), source, dest], &both);
    let other = scene.dir.path().join("other");
    scene.refuses(&["copy", source, name(&other), "--also", dest], &both);
    scene.refuses(&["copy", "--seek", "1M", "--count", "1M", source, dest], &both);
}

#[test]
fn resume_goes_on_and_restart_begins_anew() {
    let scene = Scene::new();
    let (source, dest) = (name(&scene.source), name(&scene.dest));
    let said = scene.does(&["copy", "--resume", "--json", source, dest]);
    assert!(said.contains("\"already_bytes\": 2097152") || said.contains("\"already_bytes\":2097152"), "{said}");
    for words in [&["copy", "--restart"][..], &["copy", "--restart", "--no-journal"], &["copy", "--restart", "--delta"]]
    {
        let scene = Scene::new();
        let (source, dest) = (name(&scene.source), name(&scene.dest));
        // Nothing of it counts any more.
        fs::write(&scene.dest, noise(LEN / 2, 92)).expect("scratch takes files");
        let said = scene.does(&[words, &[source, dest]].concat());
        assert!(said.contains("removed its journal"), "{said}");
        assert!(!scene.journal.exists());
        cmp(&scene.source, &scene.dest);
    }
    let scene = Scene::new();
    let (status, said) = scene.run(&["copy", "--restart", "--resume", name(&scene.source), name(&scene.dest)]);
    assert_eq!(status, 2, "{said}");
    assert!(scene.journal.exists());
    // Where nothing waits it means nothing.
    let other = scene.dir.path().join("other");
    scene.does(&["copy", "--restart", name(&scene.source), name(&other)]);
    let also = ["copy", "--restart", name(&scene.source), name(&other), "--also", name(&scene.dest)];
    scene.does(&also);
    assert!(!scene.journal.exists());
    cmp(&scene.source, &scene.dest);
}

#[test]
fn on_a_terminal_it_is_asked_and_each_answer_is_done() {
    for yes in [&[][..], &["--yes"]] {
        let scene = Scene::new();
        let mut session = scene.on_a_terminal(yes);
        let question = session.wait_for("Type \"continue\"").text;
        assert!(question.contains("2097152 bytes"), "{question}");
        session.answer("continue");
        let (shown, status) = session.end();
        assert_eq!(status, 0, "{}", shown.text);
        cmp_ranges(&scene.source, 0, &scene.dest, 0, LEN as u64);
        assert!(!scene.journal.exists() && shown.text.contains("2097152 bytes"), "it did not go on: {}", shown.text);
    }
    let scene = Scene::new();
    fs::write(&scene.dest, noise(LEN / 2, 92)).expect("scratch takes files");
    let mut session = scene.on_a_terminal(&[]);
    session.wait_for("Type \"continue\"");
    session.answer("restart");
    let (shown, status) = session.end();
    assert_eq!(status, 0, "{}", shown.text);
    cmp(&scene.source, &scene.dest);
    for answer in ["", "yes", "no", "resume"] {
        let scene = Scene::new();
        let before = scene.files();
        let mut session = scene.on_a_terminal(&["--yes"]);
        session.wait_for("Type \"continue\"");
        session.answer(answer);
        let (shown, status) = session.end();
        assert_eq!(status, REFUSED, "{answer:?}: {}", shown.text);
        assert!(scene.files() == before, "{answer:?}: something was written");
    }
}

#[test]
fn a_dry_run_says_what_would_happen_and_a_journal_without_bytes_is_no_question() {
    let scene = Scene::new();
    let (source, dest) = (name(&scene.source), name(&scene.dest));
    let before = scene.files();
    let said = scene.does(&["copy", "-n", source, dest]);
    assert!(said.contains("is refused") && said.contains("--resume") && said.contains("--restart"), "{said}");
    let said = scene.does(&["copy", "-n", "--restart", source, dest]);
    assert!(said.contains("discarding") && said.contains("starts at the beginning"), "{said}");
    assert!(scene.files() == before, "something was written");
    // Its first line alone.
    let lines = fs::read_to_string(&scene.journal).expect("it is text");
    let first = lines.split_inclusive('\n').next().expect("it has one");
    fs::write(&scene.journal, first).expect("scratch takes files");
    scene.does(&["copy", source, dest]);
    cmp(&scene.source, &scene.dest);
}

#[test]
fn a_named_journal_waits_like_any_other() {
    let scene = Scene::new();
    let (source, dest) = (name(&scene.source), name(&scene.dest));
    let named = scene.dir.path().join("named");
    fs::rename(&scene.journal, &named).expect("scratch takes files");
    scene.refuses(&["copy", "--journal", name(&named), source, dest], &["named", "--resume", "--restart"]);
    scene.does(&["copy", "--restart", "--journal", name(&named), source, dest]);
    cmp(&scene.source, &scene.dest);
}

#[test]
fn verbs_that_never_go_on_with_a_copy_still_say_that_its_journal_goes() {
    for verb in [&["pattern", "write"][..], &["dd", "if=/dev/zero", "count=1"], &["sg_dd", "if=/dev/zero", "count=1"]] {
        let scene = Scene::new();
        let dest =
            if verb[0] == "pattern" { name(&scene.dest).to_owned() } else { format!("of={}", name(&scene.dest)) };
        let bs: &[&str] = if verb[0] == "sg_dd" { &["bs=512"] } else { &[] };
        let said = scene.does(&[verb, &[&dest], bs].concat());
        assert!(said.contains("unfinished copy"), "{said}");
        assert!(!scene.journal.exists());
    }
}

#[test]
fn a_disk_and_its_partitions_wait_for_each_other() {
    let scene = Scene::new();
    let dir = memory_dir();
    let [source, backing] = ["source", "backing"].map(|name| dir.path().join(name));
    fs::write(&source, noise(LEN, 93)).expect("memory takes files");
    filled(&backing, 12 * MIB, 0);
    if !is_root() || !has("sfdisk") {
        return skip("partitions need root and sfdisk");
    }
    let table = "printf '2048,8192\\n,8192\\n' | sfdisk --quiet --no-reread \"$0\"";
    assert!(Command::new("sh").args(["-c", table]).arg(&backing).status().expect("sh is there").success());
    let Some(disk) = LoopDevice::with_partitions(&backing) else { return skip("no loop device can be had") };
    let part = disk.partition(1);
    if !part.exists() {
        return skip("this kernel or container makes no partitions of loop devices");
    }
    let (from, whole, part) = (name(&source), name(disk.path()), name(&part));
    let write_half = |to: &str| {
        let half = scene.dir.path().join("half");
        fs::write(&half, &noise(LEN, 93)[..LEN / 2]).expect("scratch takes files");
        scene.does(&["dd", &format!("if={}", name(&half)), &format!("of={to}"), "conv=fsync", "bs=64K"]);
        fs::remove_file(half).expect("it was made");
    };
    write_half(part);
    scene.import(&source, Path::new(part), LEN, &[]);
    scene.refuses(&["copy", "--yes", from, whole], &["a partition or the disk of", "--resume", "--restart"]);
    scene.refuses(&["copy", "--yes", from, part], &["--resume", "--restart"]);
    scene.refuses(&["copy", "--yes", from, name(&scene.source), "--also", whole], &["--restart"]);
    // The other partition is another matter.
    scene.does(&["copy", "--yes", from, name(&disk.partition(2))]);
    scene.does(&["copy", "--yes", "--resume", from, part]);
    write_half(whole);
    scene.import(&source, Path::new(whole), LEN, &[]);
    scene.refuses(&["copy", "--yes", from, part], &["a partition or the disk of", "--resume", "--restart"]);
    let said = scene.does(&["copy", "--yes", "--restart", from, part]);
    assert!(said.contains("removed journal"), "{said}");
    scene.does(&["copy", "--yes", "--count", "512", from, whole]);
}

#[test]
fn a_journal_is_never_made_over_a_side_of_its_copy() {
    let scene = Scene::new();
    fs::remove_file(&scene.journal).expect("it was made");
    let (source, dest) = (name(&scene.source), name(&scene.dest));
    let [link, hard, folder] = ["link", "hard", "folder"].map(|name| scene.dir.path().join(name));
    std::os::unix::fs::symlink(scene.dir.path(), &folder).expect("scratch takes links");
    for (side, word) in [(&scene.source, "source"), (&scene.dest, "destination")] {
        std::os::unix::fs::symlink(side, &link).expect("scratch takes links");
        fs::hard_link(side, &hard).expect("scratch takes links");
        for journal in [side, &link, &hard, &folder.join(side.file_name().expect("it has one"))] {
            scene.refuses(&["copy", "--journal", name(journal), source, dest], &["of the copy", word]);
            scene.refuses(&["copy", "--resume", "--journal", name(journal), source, dest], &["of the copy"]);
        }
        fs::remove_file(&link).expect("it was made");
        fs::remove_file(&hard).expect("it was made");
    }
    // One that is to be made.
    let new = scene.dir.path().join("new");
    scene.refuses(&["copy", "--journal", name(&folder.join("new")), source, name(&new)], &["destination"]);
    std::os::unix::fs::symlink(&new, &link).expect("scratch takes links");
    scene.refuses(&["copy", "--journal", name(&link), source, name(&new)], &["destination"]);
    // With several destinations there is none.
    let (status, said) = scene.run(&["copy", "--journal", name(&new), source, dest, "--also", name(&new)]);
    assert_eq!(status, 2, "{said}");
    assert!(!new.exists());
    // A source that has the name of the destination's journal is not removed as one.
    let scene = Scene::new();
    let lines = fs::read(&scene.journal).expect("it is there");
    scene.refuses(&["copy", "--restart", name(&scene.journal), name(&scene.dest)], &["is the source"]);
    scene.does(&["copy", "--restart", "--no-journal", name(&scene.journal), name(&scene.dest)]);
    assert_eq!((fs::read(&scene.journal).unwrap(), fs::read(&scene.dest).unwrap()), (lines.clone(), lines));
}

#[test]
fn what_is_no_journal_is_left_alone_and_its_owner_is_named() {
    let scene = Scene::new();
    let (source, dest) = (name(&scene.source), name(&scene.dest));
    let owner = Command::new("stat").args(["-c", "%U"]).arg(&scene.source).output().expect("coreutils are there");
    let owner = format!("of user {}", String::from_utf8_lossy(&owner.stdout).trim());
    let named = scene.dir.path().join("named");
    for (text, what) in [("", "an empty file"), ("my notes\n", "a file of 9 bytes")] {
        fs::write(&scene.journal, text).expect("scratch takes files");
        fs::write(&named, text).expect("scratch takes files");
        let wanted = [what, &owner, ".dest.haul-journal", "Remove it", "--journal", "--no-journal"];
        scene.refuses(&["copy", source, dest], &wanted);
        scene.refuses(&["copy", "--restart", source, dest], &wanted);
        scene.refuses(&["copy", "--resume", source, dest], &wanted);
        scene.refuses(&["copy", "--journal", name(&named), source, dest], &["named", what, &owner]);
        // Each of the ways that it names.
        scene.does(&["copy", "--no-journal", source, dest]);
        let elsewhere = scene.dir.path().join("elsewhere");
        scene.does(&["copy", "--journal", name(&elsewhere), source, dest]);
        scene.does(&["copy", source, dest, "--also", name(&scene.dir.path().join("also"))]);
        assert_eq!(fs::read_to_string(&scene.journal).expect("it is there"), text);
    }
    fs::remove_file(&scene.journal).expect("it is there");
    fs::create_dir(&scene.journal).expect("scratch takes folders");
    scene.refuses(&["copy", source, dest], &["a directory", &owner]);
    fs::remove_dir(&scene.journal).expect("it is there");
    assert!(Command::new("mkfifo").arg(&scene.journal).status().expect("coreutils are there").success());
    scene.refuses(&["copy", source, dest], &["a FIFO", &owner]);
    scene.does(&["copy", "--no-journal", source, dest]);
}

#[test]
fn advice_names_only_ways_that_are_open() {
    let scene = Scene::new();
    let (source, dest) = (name(&scene.source), name(&scene.dest));
    // A stream cannot go on with it.
    let (status, said) = scene.run(&["copy", "-", dest]);
    assert_eq!(status, REFUSED, "{said}");
    assert!(said.contains("--restart") && !said.contains("--resume"), "{said}");
    let (status, said) = scene.run(&["copy", "--dry-run", "/dev/zero", dest, "--count", "1M"]);
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("--restart") && !said.contains("--resume"), "{said}");
    // Leaving --resume out would be refused.
    scene.refuses(&["copy", "--resume", "--seek", "1M", source, dest], &["does not match", "--restart"]);
    let (status, said) = scene.run(&["copy", "--resume", "--offload", source, dest]);
    assert!(status != 0 && said.contains("--restart instead of --resume"), "{said}");
}
