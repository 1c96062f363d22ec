//! Two haul processes with one file or device: the second is refused before it writes, under any name and by
//! any command.
//!
//! The first one reads a FIFO that the test feeds. It has read more than a pipe holds, so the copy has begun,
//! and it cannot end before the test lets it.
use crate::support::{
    LoopDevice, Running, ScratchDir, cmp, cmp_ranges, haul_path, in_one_line, memory_dir, name, noise, scratch, skip,
};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub(super) const MIB: usize = 1 << 20;
pub(super) const REFUSED: i32 = 3;

/// Bytes that are fed before the second process starts: more than any pipe holds.
const BEGUN: usize = 2 * MIB;

/// A haul process in the middle of its copy.
pub(super) struct Busy {
    haul: Running,
    feed: File,
    fed: Vec<u8>,
}

impl Busy {
    /// Starts `haul WORDS`, one of which names `fifo`, and feeds it until it has begun to write.
    pub(super) fn begin(fifo: &Path, words: &[&str]) -> Busy {
        if !fifo.exists() {
            assert!(Command::new("mkfifo").arg(fifo).status().expect("coreutils are installed").success());
        }
        let haul = Running::start(words, Stdio::null(), Stdio::null());
        let mut feed = OpenOptions::new().write(true).open(fifo).expect("it opens together with its reader");
        let fed = noise(BEGUN, 5);
        feed.write_all(&fed).expect("the copy reads");
        Busy { haul, feed, fed }
    }

    pub(super) fn pid(&mut self) -> u32 {
        self.haul.child().id()
    }

    /// Lets it complete, and returns the bytes that it was fed.
    #[track_caller]
    pub(super) fn end(self) -> Vec<u8> {
        let Busy { mut haul, mut feed, mut fed } = self;
        let rest = noise(MIB, 6);
        feed.write_all(&rest).expect("the copy reads");
        drop(feed);
        let (status, _) = haul.end();
        assert!(status.success(), "{status}: {}", haul.messages);
        fed.extend(rest);
        fed
    }
}

struct Files {
    dir: ScratchDir,
    fifo: PathBuf,
    source: PathBuf,
    dest: PathBuf,
}

impl Files {
    fn new() -> Files {
        let dir = scratch();
        let [fifo, source, dest] = ["fifo", "source", "dest"].map(|name| dir.path().join(name));
        fs::write(&source, noise(3 * MIB, 7)).expect("the file can be written");
        Files { dir, fifo, source, dest }
    }
}

fn run(words: &[&str]) -> (Output, String) {
    let output = Command::new(haul_path()).args(words).stdin(Stdio::null()).output().expect("it runs");
    let messages = in_one_line(&output.stderr);
    (output, messages)
}

/// Asserts that this command is refused, names the other process, and leaves `path` unchanged.
#[track_caller]
pub(super) fn refused_by(pid: u32, path: &Path, status: i32, words: &[&str]) {
    let before = fs::metadata(path).ok().map(|facts| facts.len());
    let (output, messages) = run(words);
    assert_eq!(output.status.code(), Some(status), "{words:?}: {messages}");
    assert!(messages.contains(&format!("haul (PID {pid})")) && messages.contains("Wait"), "{words:?}: {messages}");
    // The first process continues meanwhile, so the file may have grown.
    assert!(fs::metadata(path).ok().map(|facts| facts.len()) >= before, "{words:?}: it was cut");
}

#[track_caller]
pub(super) fn done(words: &[&str]) {
    let (output, messages) = run(words);
    assert!(output.status.success(), "{words:?}: {}: {messages}", output.status);
}

#[test]
fn a_file_that_is_being_written_is_refused_as_destination_by_every_command() {
    let files = Files::new();
    let (source, dest) = (name(&files.source), name(&files.dest));
    let link = files.dir.path().join("link");
    let hard = files.dir.path().join("hard");
    let elsewhere = files.dir.path().join("elsewhere");
    std::os::unix::fs::symlink(&files.dest, &link).expect("the test directory supports links");
    for before in [None, Some(noise(MIB, 8))] {
        let _ = fs::remove_file(&files.dest);
        let _ = fs::remove_file(&hard);
        if let Some(bytes) = &before {
            fs::write(&files.dest, bytes).expect("the file can be written");
        }
        let mut busy = Busy::begin(&files.fifo, &["copy", "--verify", "--progress", "none", name(&files.fifo), dest]);
        let pid = busy.pid();
        fs::hard_link(&files.dest, &hard).expect("the test directory supports links");
        let refused = |words: &[&str]| refused_by(pid, &files.dest, REFUSED, words);
        refused(&["copy", source, dest]);
        refused(&["copy", "--verify", source, name(&hard)]);
        refused(&["copy", source, name(&link)]);
        refused(&["copy", source, name(&elsewhere), "--also", name(&hard)]);
        assert!(!elsewhere.exists(), "a destination was made beside one that was refused");
        refused(&["copy", "--delta", source, dest]);
        refused(&["copy", "--seek", "1M", "--count", "4096", source, dest]);
        refused(&["copy", "--reflink", "auto", source, dest]);
        refused(&["pattern", "write", dest]);
        refused(&["dd", &format!("if={source}"), &format!("of={dest}")]);
        refused(&["dd", &format!("if={source}"), &format!("of={}", name(&hard)), "conv=notrunc", "count=1"]);
        refused(&["dd", &format!("if={source}"), &format!("of={dest}"), "seek=1"]);
        for front in ["sg_dd", "sgp_dd", "sgm_dd"] {
            let words = [front, "bs=512", &format!("if={source}"), &format!("of={dest}")];
            refused_by(pid, &files.dest, 90, &words);
        }
        let words = ["sg_dd", "bs=512", &format!("if={source}"), "of=/dev/null", &format!("of2={dest}")];
        refused_by(pid, &files.dest, 90, &words);
        let fed = busy.end();
        assert!(fs::read(&files.dest).expect("it exists") == fed, "something else is in it");
        done(&["copy", source, dest]);
    }
}

#[test]
fn standard_output_locks_the_file_behind_it() {
    let files = Files::new();
    let mut busy = Busy::begin(&files.fifo, &["copy", "--progress", "none", name(&files.fifo), name(&files.dest)]);
    let pid = busy.pid();
    for words in [["dd", "if=/dev/zero", "count=1"], ["copy", name(&files.source), "-"]] {
        let output = File::options().write(true).open(&files.dest).expect("it exists");
        let output = Command::new(haul_path()).args(words).stdout(output).output().expect("it runs");
        let messages = in_one_line(&output.stderr);
        assert_eq!(output.status.code(), Some(REFUSED), "{words:?}: {messages}");
        assert!(messages.contains(&format!("haul (PID {pid})")), "{messages}");
    }
    let fed = busy.end();
    assert!(fs::read(&files.dest).expect("it exists") == fed);
}

#[test]
fn a_file_that_a_front_writes_is_refused_as_destination() {
    let files = Files::new();
    let (source, dest) = (name(&files.source), name(&files.dest));
    let (from, to) = (format!("if={}", name(&files.fifo)), format!("of={dest}"));
    for words in [["dd", &from, &to, "bs=64K"], ["sg_dd", &from, &to, "bs=512"]] {
        // sg_dd and its variants need a block count for pipes.
        let count = format!("count={}", 3 * MIB / 512);
        let words = if words[0] == "dd" { words.to_vec() } else { [&words[..], &[&count]].concat() };
        let mut busy = Busy::begin(&files.fifo, &words);
        let pid = busy.pid();
        refused_by(pid, &files.dest, REFUSED, &["copy", source, dest]);
        refused_by(pid, &files.dest, REFUSED, &["dd", &format!("if={source}"), &to]);
        let fed = busy.end();
        assert!(fs::read(&files.dest).expect("it exists") == fed, "{words:?}");
    }
}

#[test]
fn disjoint_ranges_of_a_file_are_written_concurrently() {
    let files = Files::new();
    let (source, dest) = (name(&files.source), name(&files.dest));
    fs::write(&files.dest, vec![0; 16 * MIB]).expect("the file can be written");
    let (from, to) = (format!("if={}", name(&files.fifo)), format!("of={dest}"));
    let first = ["dd", &from, &to, "bs=64K", "iflag=fullblock", "count=48", "seek=64", "conv=notrunc"];
    let mut busy = Busy::begin(&files.fifo, &first);
    let pid = busy.pid();
    let from = format!("if={source}");
    // Before it, after it, and by other commands.
    done(&["dd", &from, &to, "bs=1M", "count=3", "conv=notrunc"]);
    done(&["dd", &from, &to, "bs=1M", "count=3", "seek=7", "conv=notrunc"]);
    done(&["copy", "--seek", "11M", "--count", "1M", source, dest]);
    // One byte of it, and anything that would truncate it.
    let overlaps = ["dd", &from, &to, "bs=1", "count=1", "conv=notrunc"];
    refused_by(pid, &files.dest, REFUSED, &[&overlaps[..], &["seek=4194304"]].concat());
    refused_by(pid, &files.dest, REFUSED, &[&overlaps[..], &["seek=7340031"]].concat());
    refused_by(pid, &files.dest, REFUSED, &["dd", &from, &to, "bs=1M", "count=1", "seek=3"]);
    refused_by(pid, &files.dest, REFUSED, &["copy", "--seek", "3M", "--count", "1048577", source, dest]);
    done(&[&overlaps[..], &["seek=7340032"]].concat());
    let fed = busy.end();
    fs::write(files.dir.path().join("fed"), fed).expect("the file can be written");
    cmp_ranges(files.dir.path().join("fed"), 0, &files.dest, 4 * MIB as u64, 3 * MIB as u64);
    cmp_ranges(&files.source, 0, &files.dest, 0, 3 * MIB as u64);
    cmp_ranges(&files.source, 0, &files.dest, 11 * MIB as u64, MIB as u64);
}

#[test]
fn a_file_that_is_being_written_is_refused_as_source_except_by_dd() {
    let files = Files::new();
    let (dest, other) = (name(&files.dest), files.dir.path().join("other"));
    let mut busy = Busy::begin(&files.fifo, &["copy", "--progress", "none", name(&files.fifo), dest]);
    let pid = busy.pid();
    refused_by(pid, &other, REFUSED, &["copy", dest, name(&other)]);
    refused_by(pid, &other, REFUSED, &["verify", dest, name(&files.source)]);
    refused_by(pid, &other, REFUSED, &["verify", name(&files.source), dest]);
    assert!(!other.exists());
    done(&["dd", &format!("if={dest}"), &format!("of={}", name(&other))]);
    busy.end();
    done(&["copy", dest, name(&other)]);
    cmp(&files.dest, &other);
}

#[test]
fn a_source_is_read_by_many_copies_and_written_by_none() {
    let files = Files::new();
    let (source, fifo) = (name(&files.source), name(&files.fifo));
    // It compares the FIFO with the source, and waits for more.
    let fed = fs::read(&files.source).expect("it exists");
    assert!(Command::new("mkfifo").arg(&files.fifo).status().expect("coreutils are installed").success());
    let mut reader = Running::start(&["verify", fifo, source], Stdio::null(), Stdio::null());
    let mut feed = OpenOptions::new().write(true).open(&files.fifo).expect("it opens together with its reader");
    feed.write_all(&fed[..2 * MIB]).expect("it reads");
    let pid = reader.child().id();
    done(&["verify", source, source]);
    done(&["copy", source, name(&files.dest)]);
    refused_by(pid, &files.source, REFUSED, &["copy", name(&files.dest), source]);
    refused_by(pid, &files.source, REFUSED, &["dd", "if=/dev/zero", &format!("of={source}"), "count=1"]);
    feed.write_all(&fed[2 * MIB..]).expect("it reads");
    drop(feed);
    let (status, _) = reader.end();
    assert!(status.success(), "{status}: {}", reader.messages);
}

#[test]
fn a_killed_copy_leaves_no_lock() {
    let files = Files::new();
    for _ in 0..20 {
        let mut busy = Busy::begin(&files.fifo, &["copy", "--progress", "none", name(&files.fifo), name(&files.dest)]);
        busy.haul.signal(rustix::process::Signal::KILL);
        busy.haul.child().wait().expect("it is a child of this process");
        done(&["copy", name(&files.source), name(&files.dest)]);
    }
}

#[test]
fn one_copy_opens_its_files_repeatedly_without_a_conflict() {
    let files = Files::new();
    let (source, dest) = (name(&files.source), name(&files.dest));
    let (also, odd) = (files.dir.path().join("also"), files.dir.path().join("odd"));
    fs::write(&odd, noise(5 * MIB + 777, 9)).expect("the file can be written");
    done(&["copy", "--verify", "--direct", "auto", name(&odd), dest]);
    done(&["copy", "--verify", "--also", name(&also), "--independent", source, dest]);
    done(&["copy", "--delta", "--verify", name(&odd), dest]);
    done(&["copy", "--skip", "0", "--seek", "1M", "--count", "2M", dest, dest]);
    done(&["dd", &format!("if={dest}"), &format!("of={dest}"), "conv=notrunc", "bs=64K"]);
    done(&["sg_dd", "bs=512", &format!("if={source}"), &format!("of={dest}"), &format!("of2={}", name(&also))]);
    done(&["tune", "--write", "--quick", "--time", "1s", name(files.dir.path())]);
}

#[test]
fn several_writers_append_to_one_file() {
    let files = Files::new();
    let (from, to) = (format!("if={}", name(&files.fifo)), format!("of={}", name(&files.dest)));
    let append = ["oflag=append", "conv=notrunc"];
    let mut busy = Busy::begin(&files.fifo, &[&["dd", &from, &to, "bs=64K"], &append[..]].concat());
    let source = format!("if={}", name(&files.source));
    done(&[&["dd", &source, &to, "bs=64K", "count=1"], &append[..]].concat());
    refused_by(busy.pid(), &files.dest, REFUSED, &["copy", name(&files.source), name(&files.dest)]);
    busy.end();
    assert_eq!(fs::metadata(&files.dest).expect("it exists").len() as usize, 3 * MIB + (64 << 10));
}

#[test]
fn a_copy_and_dd_write_disjoint_ranges_of_a_device() {
    let dir = memory_dir();
    let [fifo, backing, source] = ["fifo", "backing", "source"].map(|name| dir.path().join(name));
    fs::write(&backing, vec![0; 16 * MIB]).expect("the directory in memory is writable");
    fs::write(&source, noise(MIB, 10)).expect("the directory in memory is writable");
    let Some(disk) = LoopDevice::over(&backing) else { return skip("no loop device can be had") };
    let device = name(disk.path());
    let (from, to) = (format!("if={}", name(&source)), format!("of={device}"));
    let feed = format!("if={}", name(&fifo));
    let words = ["dd", &feed, &to, "bs=64K", "iflag=fullblock", "count=48", "seek=64"];
    let mut busy = Busy::begin(&fifo, &[&words[..], &["conv=notrunc"]].concat());
    let pid = busy.pid();
    done(&["dd", &from, &to, "bs=64K", "count=1", "conv=notrunc"]);
    refused_by(pid, &backing, REFUSED, &["dd", &from, &to, "bs=64K", "seek=64", "count=1", "conv=notrunc"]);
    refused_by(pid, &backing, REFUSED, &["dd", &from, &to]);
    refused_by(pid, &backing, REFUSED, &["copy", "--yes", "--seek", "4M", name(&source), device]);
    refused_by(pid, &backing, 90, &["sg_dd", &from, &to, "bs=512", "seek=8192"]);
    refused_by(pid, &backing, REFUSED, &["tune", "--write", "--destroy", "--yes", "--quick", "--time", "1s", device]);
    busy.end();
    // A copy locks all of it, by O_EXCL against other copies and by its lock against dd.
    let mut busy = Busy::begin(&fifo, &["copy", "--yes", "--progress", "none", name(&fifo), device]);
    let pid = busy.pid();
    refused_by(pid, &backing, REFUSED, &["dd", &from, &to, "bs=64K", "count=1"]);
    let (output, messages) = run(&["copy", "--yes", name(&source), device]);
    assert_eq!(output.status.code(), Some(REFUSED), "{messages}");
    busy.end();
}

/// A FIFO that is open at both ends, so that no open blocks.
fn fifo_with_both_ends(path: &Path) -> File {
    assert!(Command::new("mkfifo").arg(path).status().expect("coreutils are installed").success());
    OpenOptions::new().read(true).write(true).open(path).expect("it opens")
}

/// Asserts a refusal as one destination under two names, before a byte is written to `out`.
#[track_caller]
fn refused_as_one(words: &[&str], out: Stdio) {
    let output = Command::new(haul_path()).args(words).stdin(Stdio::null()).stdout(out).output().expect("it runs");
    let messages = in_one_line(&output.stderr);
    assert_eq!(output.status.code(), Some(REFUSED), "{words:?}: {messages}");
    assert!(output.stdout.is_empty(), "{words:?}: something was written");
    assert!(messages.contains("Name each dest"), "{words:?}: {messages}");
}

#[test]
fn one_stream_under_two_names_is_refused_as_two_destinations() {
    let files = Files::new();
    let source = name(&files.source);
    for other in ["-", "/dev/stdout", "/proc/self/fd/1", "/dev/fd/1"] {
        refused_as_one(&["copy", source, "-", "--also", other], Stdio::piped());
        refused_as_one(&["copy", source, name(&files.dest), "--also", other, "--also", "-"], Stdio::piped());
        assert!(!files.dest.exists());
    }
    let both = fifo_with_both_ends(&files.fifo);
    let link = files.dir.path().join("link");
    std::os::unix::fs::symlink(&files.fifo, &link).expect("the test directory supports links");
    let hard = files.dir.path().join("hard");
    fs::hard_link(&files.fifo, &hard).expect("the test directory supports links");
    for other in [&files.fifo, &link, &hard] {
        refused_as_one(&["copy", source, name(&files.fifo), "--also", name(other)], Stdio::null());
    }
    refused_as_one(&["copy", source, "-", "--also", name(&hard)], both.into());
    refused_as_one(&["copy", source, "/dev/full", "--also", "/dev/full"], Stdio::null());
    done(&["copy", source, "/dev/null", "--also", "/dev/null"]);
}

#[test]
fn one_file_under_two_names_is_refused_as_two_destinations() {
    let files = Files::new();
    let source = name(&files.source);
    let [link, hard, directory] = ["link", "hard", "folder"].map(|name| files.dir.path().join(name));
    std::os::unix::fs::symlink(&files.dest, &link).expect("the test directory supports links");
    std::os::unix::fs::symlink(files.dir.path(), &directory).expect("the test directory supports links");
    // A file to be created has several names, too.
    for other in
        [&files.dest, &link, &directory.join("dest"), &directory.join("../").join(files.dir.path()).join("dest")]
    {
        refused_as_one(&["copy", source, name(&files.dest), "--also", name(other)], Stdio::null());
        assert!(!files.dest.exists());
    }
    fs::write(&files.dest, "mine").expect("the file can be written");
    fs::hard_link(&files.dest, &hard).expect("the test directory supports links");
    for other in [&files.dest, &link, &hard, &directory.join("hard")] {
        refused_as_one(&["copy", source, name(&files.dest), "--also", name(other)], Stdio::null());
    }
    let redirected = || File::options().write(true).open(&hard).expect("it exists").into();
    refused_as_one(&["copy", source, name(&files.dest), "--also", "-"], redirected());
    refused_as_one(&["copy", source, name(&files.dest), "--also", "/dev/stdout"], redirected());
    assert_eq!(fs::read(&files.dest).expect("it exists"), b"mine");
}

#[test]
fn one_disk_under_two_names_is_refused_as_two_destinations() {
    let dir = memory_dir();
    let [backing, source] = ["backing", "source"].map(|name| dir.path().join(name));
    fs::write(&backing, vec![0; 4 * MIB]).expect("the directory in memory is writable");
    fs::write(&source, noise(MIB, 11)).expect("the directory in memory is writable");
    let (Some(one), Some(other)) = (LoopDevice::over(&backing), LoopDevice::over(&backing)) else {
        return skip("no loop device can be had");
    };
    let of_numbers =
        fs::read_to_string(format!("/sys/class/block/{}/dev", name(one.path()).trim_start_matches("/dev/")));
    let by_number = format!("/dev/block/{}", of_numbers.expect("it is a block device").trim());
    let mut names = vec![name(one.path()), name(other.path()), name(&backing)];
    if Path::new(&by_number).exists() {
        names.push(&by_number);
    }
    for other in names {
        refused_as_one(&["copy", "--yes", name(&source), name(one.path()), "--also", other], Stdio::null());
    }
    assert!(fs::read(&backing).expect("it exists") == vec![0; 4 * MIB]);
}
