//! A journal exists for the destination, or another file has its name: no copied data is discarded silently.
//!
//! Unfinished copies are made from mapfiles (`haul journal import`), so that no copy has to be stopped in time.
use crate::support::{
    LoopDevice, ScratchDir, Terminal, cmp, cmp_ranges, filled, has, haul_path, in_one_line, is_root, memory_dir, name,
    noise, scratch, skip,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const MIB: usize = 1 << 20;
const LEN: usize = 4 * MIB;
const REFUSED: i32 = 3;

/// A source, and a destination with its first half, and the journal of that half.
struct Scene {
    dir: ScratchDir,
    source: PathBuf,
    dest: PathBuf,
    journal: PathBuf,
}

impl Scene {
    fn new() -> Scene {
        let dir = scratch();
        let [source, dest, journal] = ["source", "dest", ".dest.haul-journal"].map(|name| dir.path().join(name));
        fs::write(&source, noise(LEN, 91)).expect("the file can be written");
        let scene = Scene { dir, source, dest, journal };
        fs::write(&scene.dest, &noise(LEN, 91)[..LEN / 2]).expect("the file can be written");
        scene.import(&scene.source, &scene.dest, LEN, &[]);
        assert!(scene.journal.exists());
        scene
    }

    /// A journal in which the first half of `len` bytes is durable.
    fn import(&self, source: &Path, dest: &Path, len: usize, options: &[&str]) {
        let map = self.dir.path().join("map");
        let half = len / 2;
        fs::write(&map, format!("0 ? 1\n0 0x{half:x} +\n0x{half:x} 0x{half:x} ?\n")).expect("the file can be written");
        let words = [&["journal", "import", name(&map), name(source), name(dest)], options].concat();
        let (status, messages) = self.run(&words);
        assert_eq!(status, 0, "{messages}");
        fs::remove_file(map).expect("it was created");
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(haul_path());
        command.args(words).env("XDG_STATE_HOME", self.dir.path().join("state"));
        command
    }

    /// The status, and the messages on one line.
    fn run(&self, words: &[&str]) -> (i32, String) {
        let output = self.command(words).stdin(Stdio::null()).output().expect("it runs");
        let messages = [&output.stderr[..], &output.stdout].concat();
        let messages = in_one_line(messages);
        (output.status.code().expect("no signal ended it"), messages)
    }

    /// Asserts a refusal with nothing changed, and all of `wanted` printed.
    #[track_caller]
    fn refuses(&self, words: &[&str], wanted: &[&str]) {
        let before = self.files();
        let (status, messages) = self.run(words);
        assert_eq!(status, REFUSED, "{words:?}: {messages}");
        for wanted in wanted {
            assert!(messages.contains(wanted), "{words:?}: no '{wanted}' in: {messages}");
        }
        assert!(self.files() == before, "{words:?}: something was written");
    }

    #[track_caller]
    fn does(&self, words: &[&str]) -> String {
        let (status, messages) = self.run(words);
        assert_eq!(status, 0, "{words:?}: {messages}");
        messages
    }

    /// Every regular file next to the destination with its contents.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let entries = fs::read_dir(self.dir.path()).expect("it exists").flatten();
        let mut files: Vec<_> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
        files.sort();
        files.into_iter().map(|path| (path.clone(), fs::read(path).expect("it exists"))).collect()
    }

    fn on_a_terminal(&self, options: &[&str]) -> Terminal {
        let words = [&["copy"], options, &[name(&self.source), name(&self.dest)]].concat();
        Terminal::sized(80, 24, self.command(&words))
    }
}

#[test]
fn without_a_terminal_an_existing_journal_is_refused_naming_resume_and_restart() {
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
fn resume_continues_and_restart_begins_again() {
    let scene = Scene::new();
    let (source, dest) = (name(&scene.source), name(&scene.dest));
    let messages = scene.does(&["copy", "--resume", "--json", source, dest]);
    assert!(
        messages.contains("\"already_bytes\": 2097152") || messages.contains("\"already_bytes\":2097152"),
        "{messages}"
    );
    for words in [&["copy", "--restart"][..], &["copy", "--restart", "--no-journal"], &["copy", "--restart", "--delta"]]
    {
        let scene = Scene::new();
        let (source, dest) = (name(&scene.source), name(&scene.dest));
        // The journal no longer applies.
        fs::write(&scene.dest, noise(LEN / 2, 92)).expect("the file can be written");
        let messages = scene.does(&[words, &[source, dest]].concat());
        assert!(messages.contains("removed its journal"), "{messages}");
        assert!(!scene.journal.exists());
        cmp(&scene.source, &scene.dest);
    }
    let scene = Scene::new();
    let (status, messages) = scene.run(&["copy", "--restart", "--resume", name(&scene.source), name(&scene.dest)]);
    assert_eq!(status, 2, "{messages}");
    assert!(scene.journal.exists());
    // Without an unfinished copy it has no effect.
    let other = scene.dir.path().join("other");
    scene.does(&["copy", "--restart", name(&scene.source), name(&other)]);
    let also = ["copy", "--restart", name(&scene.source), name(&other), "--also", name(&scene.dest)];
    scene.does(&also);
    assert!(!scene.journal.exists());
    cmp(&scene.source, &scene.dest);
}

#[test]
fn on_a_terminal_a_prompt_offers_resume_and_restart() {
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
    fs::write(&scene.dest, noise(LEN / 2, 92)).expect("the file can be written");
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
fn a_dry_run_reports_the_existing_journal_and_an_empty_one_needs_no_prompt() {
    let scene = Scene::new();
    let (source, dest) = (name(&scene.source), name(&scene.dest));
    let before = scene.files();
    let messages = scene.does(&["copy", "-n", source, dest]);
    assert!(
        messages.contains("is refused") && messages.contains("--resume") && messages.contains("--restart"),
        "{messages}"
    );
    let messages = scene.does(&["copy", "-n", "--restart", source, dest]);
    assert!(messages.contains("discarding") && messages.contains("starts at the beginning"), "{messages}");
    assert!(scene.files() == before, "something was written");
    // Only its first line.
    let lines = fs::read_to_string(&scene.journal).expect("it is UTF-8");
    let first = lines.split_inclusive('\n').next().expect("it has one");
    fs::write(&scene.journal, first).expect("the file can be written");
    scene.does(&["copy", source, dest]);
    cmp(&scene.source, &scene.dest);
}

#[test]
fn a_named_journal_is_treated_like_the_default_one() {
    let scene = Scene::new();
    let (source, dest) = (name(&scene.source), name(&scene.dest));
    let named = scene.dir.path().join("named");
    fs::rename(&scene.journal, &named).expect("the file can be written");
    scene.refuses(&["copy", "--journal", name(&named), source, dest], &["named", "--resume", "--restart"]);
    scene.does(&["copy", "--restart", "--journal", name(&named), source, dest]);
    cmp(&scene.source, &scene.dest);
}

#[test]
fn commands_that_cannot_resume_report_the_removal_of_the_journal() {
    for verb in [&["pattern", "write"][..], &["dd", "if=/dev/zero", "count=1"], &["sg_dd", "if=/dev/zero", "count=1"]] {
        let scene = Scene::new();
        let dest =
            if verb[0] == "pattern" { name(&scene.dest).to_owned() } else { format!("of={}", name(&scene.dest)) };
        let bs: &[&str] = if verb[0] == "sg_dd" { &["bs=512"] } else { &[] };
        let messages = scene.does(&[verb, &[&dest], bs].concat());
        assert!(messages.contains("unfinished copy"), "{messages}");
        assert!(!scene.journal.exists());
    }
}

#[test]
fn unfinished_copies_of_a_disk_and_its_partitions_conflict() {
    let scene = Scene::new();
    let dir = memory_dir();
    let [source, backing] = ["source", "backing"].map(|name| dir.path().join(name));
    fs::write(&source, noise(LEN, 93)).expect("the directory in memory is writable");
    filled(&backing, 12 * MIB, 0);
    if !is_root() || !has("sfdisk") {
        return skip("partitions need root and sfdisk");
    }
    let table = "printf '2048,8192\\n,8192\\n' | sfdisk --quiet --no-reread \"$0\"";
    assert!(Command::new("sh").args(["-c", table]).arg(&backing).status().expect("sh is installed").success());
    let Some(disk) = LoopDevice::with_partitions(&backing) else { return skip("no loop device can be had") };
    let part = disk.partition(1);
    if !part.exists() {
        return skip("this kernel or container makes no partitions of loop devices");
    }
    let (from, whole, part) = (name(&source), name(disk.path()), name(&part));
    let write_half = |to: &str| {
        let half = scene.dir.path().join("half");
        fs::write(&half, &noise(LEN, 93)[..LEN / 2]).expect("the file can be written");
        scene.does(&["dd", &format!("if={}", name(&half)), &format!("of={to}"), "conv=fsync", "bs=64K"]);
        fs::remove_file(half).expect("it was created");
    };
    write_half(part);
    scene.import(&source, Path::new(part), LEN, &[]);
    scene.refuses(&["copy", "--yes", from, whole], &["a partition or the disk of", "--resume", "--restart"]);
    scene.refuses(&["copy", "--yes", from, part], &["--resume", "--restart"]);
    scene.refuses(&["copy", "--yes", from, name(&scene.source), "--also", whole], &["--restart"]);
    // The other partition is not affected.
    scene.does(&["copy", "--yes", from, name(&disk.partition(2))]);
    scene.does(&["copy", "--yes", "--resume", from, part]);
    write_half(whole);
    scene.import(&source, Path::new(whole), LEN, &[]);
    scene.refuses(&["copy", "--yes", from, part], &["a partition or the disk of", "--resume", "--restart"]);
    let messages = scene.does(&["copy", "--yes", "--restart", from, part]);
    assert!(messages.contains("removed journal"), "{messages}");
    scene.does(&["copy", "--yes", "--count", "512", from, whole]);
}

#[test]
fn a_journal_never_overwrites_a_side_of_its_copy() {
    let scene = Scene::new();
    fs::remove_file(&scene.journal).expect("it was created");
    let (source, dest) = (name(&scene.source), name(&scene.dest));
    let [link, hard, directory] = ["link", "hard", "folder"].map(|name| scene.dir.path().join(name));
    std::os::unix::fs::symlink(scene.dir.path(), &directory).expect("the test directory supports links");
    for (side, word) in [(&scene.source, "source"), (&scene.dest, "destination")] {
        std::os::unix::fs::symlink(side, &link).expect("the test directory supports links");
        fs::hard_link(side, &hard).expect("the test directory supports links");
        for journal in [side, &link, &hard, &directory.join(side.file_name().expect("it has one"))] {
            scene.refuses(&["copy", "--journal", name(journal), source, dest], &["of the copy", word]);
            scene.refuses(&["copy", "--resume", "--journal", name(journal), source, dest], &["of the copy"]);
        }
        fs::remove_file(&link).expect("it was created");
        fs::remove_file(&hard).expect("it was created");
    }
    // One that does not exist yet.
    let new = scene.dir.path().join("new");
    scene.refuses(&["copy", "--journal", name(&directory.join("new")), source, name(&new)], &["destination"]);
    std::os::unix::fs::symlink(&new, &link).expect("the test directory supports links");
    scene.refuses(&["copy", "--journal", name(&link), source, name(&new)], &["destination"]);
    // With several destinations there is no journal.
    let (status, messages) = scene.run(&["copy", "--journal", name(&new), source, dest, "--also", name(&new)]);
    assert_eq!(status, 2, "{messages}");
    assert!(!new.exists());
    // A source with the name of the destination's journal is not removed.
    let scene = Scene::new();
    let lines = fs::read(&scene.journal).expect("it exists");
    scene.refuses(&["copy", "--restart", name(&scene.journal), name(&scene.dest)], &["is the source"]);
    scene.does(&["copy", "--restart", "--no-journal", name(&scene.journal), name(&scene.dest)]);
    assert_eq!((fs::read(&scene.journal).unwrap(), fs::read(&scene.dest).unwrap()), (lines.clone(), lines));
}

#[test]
fn a_file_that_is_not_a_journal_is_kept_and_its_owner_is_named() {
    let scene = Scene::new();
    let (source, dest) = (name(&scene.source), name(&scene.dest));
    let owner = Command::new("stat").args(["-c", "%U"]).arg(&scene.source).output().expect("coreutils are installed");
    let owner = format!("owned by user {}", String::from_utf8_lossy(&owner.stdout).trim());
    let named = scene.dir.path().join("named");
    let notes = "my notes\n";
    for (text, what, flaw) in
        [("", "it is an empty file", " →"), (notes, "it is a file of 9 bytes", ", not a journal →")]
    {
        fs::write(&scene.journal, text).expect("the file can be written");
        fs::write(&named, text).expect("the file can be written");
        let end = format!("{owner}{flaw}");
        let wanted = [what, &end, ".dest.haul-journal as the journal: ", "Remove it", "--journal", "--no-journal"];
        scene.refuses(&["copy", source, dest], &wanted);
        scene.refuses(&["copy", "--restart", source, dest], &wanted);
        scene.refuses(&["copy", "--resume", source, dest], &wanted);
        scene.refuses(&["copy", "--journal", name(&named), source, dest], &["named", what, &owner]);
        // Each of the suggested commands.
        scene.does(&["copy", "--no-journal", source, dest]);
        let elsewhere = scene.dir.path().join("elsewhere");
        scene.does(&["copy", "--journal", name(&elsewhere), source, dest]);
        scene.does(&["copy", source, dest, "--also", name(&scene.dir.path().join("also"))]);
        assert_eq!(fs::read_to_string(&scene.journal).expect("it exists"), text);
    }
    fs::remove_file(&scene.journal).expect("it exists");
    fs::create_dir(&scene.journal).expect("the directory can be created");
    scene.refuses(&["copy", source, dest], &["a directory", &owner]);
    fs::remove_dir(&scene.journal).expect("it exists");
    assert!(Command::new("mkfifo").arg(&scene.journal).status().expect("coreutils are installed").success());
    scene.refuses(&["copy", source, dest], &["a FIFO", &owner]);
    scene.does(&["copy", "--no-journal", source, dest]);
}

#[test]
fn advice_names_only_available_options() {
    let scene = Scene::new();
    let (source, dest) = (name(&scene.source), name(&scene.dest));
    // A stream cannot be resumed.
    let (status, messages) = scene.run(&["copy", "-", dest]);
    assert_eq!(status, REFUSED, "{messages}");
    assert!(messages.contains("--restart") && !messages.contains("--resume"), "{messages}");
    let (status, messages) = scene.run(&["copy", "--dry-run", "/dev/zero", dest, "--count", "1M"]);
    assert_eq!(status, 0, "{messages}");
    assert!(messages.contains("--restart") && !messages.contains("--resume"), "{messages}");
    // Omitting --resume would be refused.
    scene.refuses(&["copy", "--resume", "--seek", "1M", source, dest], &["does not match", "--restart"]);
    let (status, messages) = scene.run(&["copy", "--resume", "--offload", source, dest]);
    assert!(status != 0 && messages.contains("--restart instead of --resume"), "{messages}");
}
