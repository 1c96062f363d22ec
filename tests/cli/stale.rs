//! Each command that writes to the dest of an unfinished copy removes its journal: no journal has false claims.
use crate::support;
use crate::support::{
    LoopDevice, Running, ScratchDir, copied_bytes, filled, has, haul, haul_path, in_one_line, is_root, memory_dir,
    name, scratch, write_noise,
};
use rustix::process::Signal;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const LEN: usize = 12 << 20;

/// A copy that ended early, with its journal.
struct Unfinished {
    dir: ScratchDir,
    source: PathBuf,
    dest: PathBuf,
    journal: PathBuf,
}

fn interrupt(options: &[&str], source: &Path, dest: &Path) {
    let slow = ["copy", "--limit", "2M", "--block-size", "64K", "--progress", "json", "--yes"];
    let arguments = [&slow[..], options, &[name(source), name(dest)]].concat();
    let mut copy = Running::start(&arguments, Stdio::null(), Stdio::null());
    copy.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes > 0));
    copy.signal(Signal::INT);
    copy.end_by(2);
}

impl Unfinished {
    fn new() -> Self {
        let dir = scratch();
        let [source, dest, journal] = ["source", "dest", ".dest.haul-journal"].map(|name| dir.path().join(name));
        write_noise(&source, LEN, 71);
        interrupt(&[], &source, &dest);
        let unfinished = Unfinished { dir, source, dest, journal };
        assert!(unfinished.journal.exists(), "there is no journal to test with");
        unfinished
    }

    /// Asserts that this command reports and removes the journal, which is then restored for the next one.
    #[track_caller]
    fn ended_by(&self, command: &mut Command) {
        let kept = fs::read(&self.journal).expect("it exists");
        let output = command.stdin(Stdio::null()).output().expect("it runs");
        let messages = in_one_line(&output.stderr);
        assert!(output.status.success(), "{command:?}: {messages}");
        assert!(messages.contains("unfinished copy"), "{command:?}: {messages}");
        assert!(!self.journal.exists(), "{command:?} leaves a journal that claims what is no longer true");
        fs::write(&self.journal, kept).expect("the file can be written");
    }

    /// Asserts that this command keeps it without a message.
    #[track_caller]
    fn left_by(&self, command: &mut Command) {
        let output = command.stdin(Stdio::null()).output().expect("it runs");
        let messages = in_one_line(&output.stderr);
        assert!(self.journal.exists() && !messages.contains("unfinished"), "{command:?}: {messages}");
    }
}

fn verb(words: &[&str]) -> Command {
    let mut command = Command::new(haul_path());
    command.args(words);
    command
}

#[test]
fn every_command_that_writes_removes_the_journal_of_its_dest() {
    let copy = Unfinished::new();
    let (from, to) = (format!("if={}", name(&copy.source)), format!("of={}", name(&copy.dest)));
    let elsewhere = copy.dir.path().join("journal");
    copy.ended_by(&mut verb(&["dd", &from, &to, "count=1", "conv=notrunc"]));
    copy.ended_by(verb(&["dd", &from, "count=1"]).stdout(File::options().write(true).open(&copy.dest).unwrap()));
    copy.ended_by(&mut verb(&["sg_dd", &from, &to, "bs=512", "count=1"]));
    let second = format!("of2={}", name(&copy.dest));
    copy.ended_by(&mut verb(&["sg_dd", &from, "of=/dev/null", &second, "bs=512", "count=1"]));
    copy.ended_by(&mut verb(&["pattern", "write", name(&copy.dest)]));
    copy.ended_by(&mut verb(&["copy", "--restart", name(&copy.source), name(&copy.dest)]));
    let named = ["copy", "--restart", "--journal", name(&elsewhere), name(&copy.source), name(&copy.dest)];
    copy.ended_by(&mut verb(&named));
    // A FIFO of that name blocks no command.
    let other = copy.dir.path().join(".other.haul-journal");
    assert!(Command::new("mkfifo").arg(&other).status().unwrap().success());
    let to_other = format!("of={}", name(&copy.dir.path().join("other")));
    assert!(verb(&["dd", &from, &to_other, "count=1"]).output().unwrap().status.success());
    // The same file under another name.
    let link = copy.dir.path().join("link");
    std::os::unix::fs::symlink(&copy.dest, &link).unwrap();
    copy.ended_by(&mut verb(&["dd", &from, &format!("of={}", name(&link)), "count=1", "conv=notrunc"]));
}

#[test]
fn commands_that_write_nothing_keep_the_journal() {
    let copy = Unfinished::new();
    let to = format!("of={}", name(&copy.dest));
    copy.left_by(&mut verb(&["dd", &format!("if={}", name(&copy.dest)), "of=/dev/null"]));
    copy.left_by(&mut verb(&["dd", "if=/nowhere", &to]));
    copy.left_by(&mut verb(&["dd", "--explain", &format!("if={}", name(&copy.source)), &to]));
    copy.left_by(&mut verb(&["verify", name(&copy.source), name(&copy.dest)]));
    copy.left_by(&mut verb(&["copy", "--dry-run", "--no-journal", "/dev/null", name(&copy.dest)]));
    // Next to the dest there may be a file of that name from another program.
    fs::write(copy.dir.path().join(".other.haul-journal"), "mine").unwrap();
    let other = format!("of={}", name(&copy.dir.path().join("other")));
    copy.left_by(&mut verb(&["dd", &format!("if={}", name(&copy.source)), &other, "count=1"]));
    assert_eq!(fs::read(copy.dir.path().join(".other.haul-journal")).unwrap(), b"mine");
    haul().args(["copy", "--resume", name(&copy.source), name(&copy.dest)]).assert().success();
}

#[test]
fn a_journal_that_cannot_be_removed_keeps_dd_from_writing() {
    let copy = Unfinished::new();
    let before = fs::read(&copy.dest).unwrap();
    let (from, to) = (format!("if={}", name(&copy.source)), format!("of={}", name(&copy.dest)));
    // Root may remove everything that is not immutable.
    let chattr = |how| Command::new("chattr").arg(how).arg(&copy.journal).status();
    if !chattr("+i").is_ok_and(|status| status.success()) {
        return support::skip("chattr +i does not work here");
    }
    let dd = verb(&["dd", &from, &to, "count=1", "skip=3", "conv=notrunc"]).output();
    chattr("-i").unwrap();
    let dd = dd.unwrap();
    let messages = in_one_line(&dd.stderr);
    assert_eq!(dd.status.code(), Some(1), "{messages}");
    assert!(messages.contains("cannot remove journal"), "{messages}");
    assert!(fs::read(&copy.dest).unwrap() == before, "it wrote anyway");
}

#[test]
fn writing_a_disk_removes_journals_of_its_partitions_and_vice_versa() {
    let dir = memory_dir();
    let [source, backing, state] = ["source", "backing", "state"].map(|name| dir.path().join(name));
    write_noise(&source, LEN, 72);
    filled(&backing, 36 << 20, 0);
    if !is_root() || !has("sfdisk") {
        return support::skip("partitions need root and sfdisk");
    }
    let table = "printf '2048,26624\\n,26624\\n' | sfdisk --quiet --no-reread \"$0\"";
    assert!(Command::new("sh").args(["-c", table]).arg(&backing).status().unwrap().success());
    let Some(disk) = LoopDevice::with_partitions(&backing) else { return };
    if !disk.partition(2).exists() {
        return support::skip("this kernel or container makes no partitions of loop devices");
    }
    let journals = || -> Vec<String> {
        let files = fs::read_dir(state.join("haul")).into_iter().flatten().flatten();
        let mut names: Vec<String> = files.map(|file| file.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    let unfinished = |dest: &Path| {
        let mut copy = verb(&["copy", "--limit", "2M", "--block-size", "64K", "--checkpoint", "0.1", "--yes"]);
        let mut copy = copy
            .args(["--progress", "none"])
            .args([&source, &dest.to_path_buf()])
            .env("XDG_STATE_HOME", &state)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let before = journals().len();
        while journals().iter().filter(|name| name.ends_with(".journal")).count() == before {
            assert!(copy.try_wait().unwrap().is_none(), "it ended by itself");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        rustix::process::kill_process(rustix::process::Pid::from_child(&copy), Signal::INT).unwrap();
        copy.wait().unwrap();
    };
    let dd = |dest: &Path| {
        let to = format!("of={}", name(dest));
        let mut dd = verb(&["dd", "if=/dev/zero", &to, "bs=512", "seek=8", "count=1"]);
        let output = dd.env("XDG_STATE_HOME", &state).output().unwrap();
        assert!(output.status.success(), "{}", in_one_line(&output.stderr));
        in_one_line(&output.stderr)
    };
    unfinished(&disk.partition(1));
    unfinished(&disk.partition(2));
    let both = journals();
    assert_eq!(both.len(), 2, "{both:?}");
    assert!(dd(&disk.partition(2)).contains("warning"));
    assert_eq!(journals(), both[..1], "one partition is not the other");
    assert!(dd(disk.path()).contains("warning"));
    assert_eq!(journals(), [""; 0]);
    unfinished(disk.path());
    assert_eq!(journals().len(), 1);
    assert!(dd(&disk.partition(1)).contains("warning"));
    assert_eq!(journals(), [""; 0]);
    assert!(!dd(disk.path()).contains("warning"));
}

/// Files that must not be treated as a journal of this user at the default path.
#[test]
fn dd_ignores_a_planted_journal_and_keeps_it() {
    let dir = scratch();
    let [source, dest, journal, public] =
        ["source", "dst", ".dst.haul-journal", "public"].map(|name| dir.path().join(name));
    write_noise(&source, 1 << 20, 73);
    fs::write(&public, "public\n").unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o1777)).unwrap();
    let (from, to) = (format!("if={}", name(&source)), format!("of={}", name(&dest)));
    let elsewhere = dir.path().join("elsewhere");
    let with_journal = ["copy", "--journal", name(&elsewhere), name(&source), name(&dest)];
    let commands: [&[&str]; 4] = [
        &["dd", &from, &to, "status=none"],
        &["sg_dd", &from, &to, "bs=512"],
        &with_journal,
        &["copy", "--no-journal", name(&source), name(&dest)],
    ];
    let copies_past = || {
        for words in commands {
            fs::write(&dest, "old").unwrap();
            let output = verb(words).output().unwrap();
            let messages = in_one_line(&output.stderr);
            assert!(output.status.success(), "{words:?}: {messages}");
            assert!(!messages.contains("unfinished"), "{words:?}: {messages}");
            assert!(fs::read(&dest).unwrap() == fs::read(&source).unwrap(), "{words:?}: {messages}");
            assert!(journal.symlink_metadata().is_ok(), "{words:?} removed what it cannot know");
            assert_eq!(fs::read(&public).unwrap(), b"public\n");
        }
    };
    std::os::unix::fs::symlink("public", &journal).unwrap();
    copies_past();
    fs::remove_file(&journal).unwrap();
    if !is_root() {
        return support::skip("only root can give a file to another user");
    }
    // A genuine journal about this destination, owned by another user.
    interrupt(&[], &write_long(&source), &dest);
    fs::rename(&journal, dir.path().join("kept")).unwrap();
    fs::copy(dir.path().join("kept"), &journal).unwrap();
    std::os::unix::fs::chown(&journal, Some(65534), Some(65534)).unwrap();
    copies_past();
}

fn write_long(source: &Path) -> PathBuf {
    write_noise(source, LEN, 73);
    source.to_owned()
}

#[test]
fn dd_prints_why_it_refuses_and_truncates_nothing_first() {
    let copy = Unfinished::new();
    let before = fs::read(&copy.dest).unwrap();
    let holder = File::open(&copy.journal).unwrap();
    rustix::fs::flock(&holder, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let (from, to) = (format!("if={}", name(&copy.source)), format!("of={}", name(&copy.dest)));
    for words in [["dd", &from, &to, "status=none"], ["sg_dd", &from, &to, "bs=512"]] {
        let output = verb(&words).output().unwrap();
        let messages = in_one_line(&output.stderr);
        assert!(!output.status.success(), "{words:?}: {messages}");
        assert!(messages.contains("another copy is writing to the same bytes"), "{words:?}: {messages}");
        assert!(fs::read(&copy.dest).unwrap() == before, "{words:?} wrote anyway");
    }
}

#[test]
fn a_journal_of_another_dest_under_the_own_name_is_kept() {
    let dir = scratch();
    let [source, dest, other, journal] =
        ["source", "dest", "other", ".dest.haul-journal"].map(|name| dir.path().join(name));
    write_noise(&source, LEN, 74);
    interrupt(&["--journal", name(&journal)], &source, &other);
    fs::write(&dest, "old").unwrap();
    let copy = Unfinished { dir, source, dest, journal };
    let (from, to) = (format!("if={}", name(&copy.source)), format!("of={}", name(&copy.dest)));
    // Also while that copy is running.
    let holder = File::open(&copy.journal).unwrap();
    rustix::fs::flock(&holder, rustix::fs::FlockOperation::LockExclusive).unwrap();
    copy.left_by(&mut verb(&["dd", &from, &to, "count=1"]));
    assert_eq!(fs::metadata(&copy.dest).unwrap().len(), 512, "dd did not copy");
    // Closing it would not do: a child of another test has it open until it runs its program.
    rustix::fs::flock(&holder, rustix::fs::FlockOperation::Unlock).unwrap();
    copy.left_by(&mut verb(&["dd", &from, &to, "count=1"]));
    copy.left_by(&mut verb(&["sg_dd", &from, &to, "bs=512", "count=1"]));
    copy.left_by(&mut verb(&["pattern", "write", name(&copy.dest)]));
    copy.left_by(&mut verb(&["copy", "--no-journal", name(&copy.source), name(&copy.dest)]));
    for option in [&[][..], &["--restart"], &["--journal", name(&copy.journal)]] {
        let words = [&["copy"], option, &[name(&copy.source), name(&copy.dest)]].concat();
        let refused = verb(&words).output().unwrap();
        let messages = in_one_line(&refused.stderr);
        assert_eq!(refused.status.code(), Some(3), "{words:?}: {messages}");
        assert!(
            messages.contains(&format!("an unfinished copy to destination {}", name(&other))),
            "{words:?}: {messages}"
        );
        assert!(!messages.contains("waits"), "{words:?}: {messages}");
    }
    let resume = ["copy", "--resume", "--journal", name(&copy.journal), name(&copy.source), name(&other)];
    haul().args(resume).assert().success();
    assert!(fs::read(&other).unwrap() == fs::read(&copy.source).unwrap());
}

#[test]
fn a_dest_with_a_name_of_maximum_length_has_a_journal() {
    let dir = scratch();
    let source = dir.path().join("source");
    write_noise(&source, LEN, 75);
    let copied = |dest: &Path| {
        let done = haul().args(["copy", "--resume", name(&source), name(dest)]).assert().success();
        assert!(fs::read(dest).unwrap() == fs::read(&source).unwrap());
        support::stderr(&done)
    };
    // The last short one, the first long one, and two that differ only in their last bytes.
    let names = ["n".repeat(241), "n".repeat(242), "n".repeat(255), "ü".repeat(127), "n".repeat(254) + "m"];
    for (at, long) in names.iter().enumerate() {
        let dest = dir.path().join(long);
        let before = journals(dir.path());
        interrupt(&[], &source, &dest);
        let made: Vec<String> = journals(dir.path()).into_iter().filter(|name| !before.contains(name)).collect();
        assert_eq!(made.len(), 1, "{at}: {made:?}");
        assert_eq!(at == 0, made[0] == format!(".{long}.haul-journal"), "{made:?}");
        if at != 2 {
            copied(&dest);
        }
    }
    // The journal is that of the other file.
    copied(&dir.path().join(&names[2]));
    assert_eq!(journals(dir.path()), [""; 0]);
}

fn journals(directory: &Path) -> Vec<String> {
    let files = fs::read_dir(directory).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    files.filter(|name| name.ends_with(".haul-journal")).collect()
}
