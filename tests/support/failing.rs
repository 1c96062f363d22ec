//! A disk with bad sectors, or one that stalls: nbdkit serves a file with failures, nbdfuse mounts it as a file.
use super::abilities::{has, is_root, skip};
use super::running::{ends_within, terminate};
use std::fs::File;
use std::io::{Read, Seek};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The kind of requests that fail.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fails {
    Reads,
    Writes,
}

/// A file with a range that cannot be read or written: EIO. It is backed by an ordinary file.
pub struct FailingDisk {
    mounted_at: PathBuf,
    server: Child,
    /// What nbdkit and nbdfuse complained about: a file without a name, since tests list the folder.
    complaints: File,
}

impl FailingDisk {
    /// Serves `backing` below `dir`. `None`, with a message, if the tools are missing.
    pub fn over(dir: &Path, backing: &Path, fails: Fails, bad: Range<u64>) -> Option<Self> {
        Self::with(dir, backing, fails, &[bad])
    }

    /// The same with any number of bad ranges.
    pub fn with(dir: &Path, backing: &Path, fails: Fails, bad: &[Range<u64>]) -> Option<Self> {
        // nbdkit calls these as: pread HANDLE COUNT OFFSET, pwrite HANDLE COUNT OFFSET FLAGS.
        let check = |bad: &Range<u64>| {
            let (start, end) = (bad.start, bad.end);
            format!("if [ $4 -lt {end} ] && [ $(($4 + $3)) -gt {start} ]; then echo EIO bad >&2; exit 1; fi; ")
        };
        let check = bad.iter().map(check).collect::<String>() + ":";
        let check = |wanted| if fails == wanted { check.as_str() } else { ":" };
        Self::serve(dir, backing, check(Fails::Reads), check(Fails::Writes))
    }

    /// The same, but writes to `lost` are acknowledged and discarded.
    pub fn losing(dir: &Path, backing: &Path, lost: Range<u64>) -> Option<Self> {
        let Range { start, end } = lost;
        let lost = format!("[ $4 -lt {end} ] && [ $(($4 + $3)) -gt {start} ]");
        Self::serve(dir, backing, ":", &format!("if {lost}; then cat >/dev/null; exit 0; fi"))
    }

    /// Serves `backing` below `dir`; reads that extend beyond `from` wait while `gate` exists.
    pub fn stalling(dir: &Path, backing: &Path, from: u64, gate: &Path) -> Option<Self> {
        let wait = format!("while [ $(($4 + $3)) -gt {from} ] && [ -e '{}' ]; do sleep 0.02; done", gate.display());
        Self::serve(dir, backing, &wait, ":")
    }

    /// Serves `backing` below `dir`; each write takes half a second while `gate` exists.
    pub fn slow(dir: &Path, backing: &Path, gate: &Path) -> Option<Self> {
        Self::serve(dir, backing, ":", &format!("if [ -e '{}' ]; then sleep 0.5; fi", gate.display()))
    }

    /// Serves `backing` below `dir`; requests of these kinds that touch `bad` fail while `gate` exists.
    pub fn while_gate_exists(
        dir: &Path,
        backing: &Path,
        fails: &[Fails],
        bad: Range<u64>,
        gate: &Path,
    ) -> Option<Self> {
        let Range { start, end } = bad;
        let check = format!(
            "if [ -e '{}' ] && [ $4 -lt {end} ] && [ $(($4 + $3)) -gt {start} ]; then echo EIO bad >&2; exit 1; fi",
            gate.display()
        );
        let check = |wanted| if fails.contains(&wanted) { check.as_str() } else { ":" };
        Self::serve(dir, backing, check(Fails::Reads), check(Fails::Writes))
    }

    /// `before_read` and `before_write` are shell commands that run before each request.
    fn serve(dir: &Path, backing: &Path, before_read: &str, before_write: &str) -> Option<Self> {
        if !has("nbdkit") || !has("nbdfuse") || !has("fusermount3") {
            return None;
        }
        if !is_root() || !Path::new("/dev/fuse").exists() {
            skip("a failing disk needs root and /dev/fuse");
            return None;
        }
        let mounted_at = dir.join("failing");
        std::fs::create_dir_all(&mounted_at).expect("the test directory is writable");
        let size = std::fs::metadata(backing).expect("it exists").len();
        let file = backing.display();
        let read = format!("dd if='{file}' iflag=skip_bytes,count_bytes skip=$4 count=$3 bs=1M status=none");
        let write = format!("dd of='{file}' oflag=seek_bytes seek=$4 bs=1M iflag=fullblock conv=notrunc status=none");
        let mut command = Command::new("nbdfuse");
        command.arg(mounted_at.join("disk")).args(["[", "nbdkit", "--exit-with-parent", "eval"]);
        command.arg(format!("get_size=echo {size}"));
        command.arg(format!("pread={before_read}; exec {read}"));
        command.arg(format!("pwrite={before_write}; exec {write}"));
        // Without a flush method nbdkit assumes that the disk needs none, and fdatasync would fail.
        command.args(["can_flush=exit 0", "flush=exit 0", "]"]);
        let complaints = tempfile::tempfile().expect("the temporary directory is writable");
        let stderr = complaints.try_clone().expect("a descriptor can be copied");
        let server = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr).spawn().ok()?;
        let mut disk = FailingDisk { mounted_at, server, complaints };
        disk.wait_until_exists().then_some(disk)
    }

    /// The file to copy from or to.
    pub fn path(&self) -> PathBuf {
        self.mounted_at.join("disk")
    }

    /// Prints what the server complained about, without the failures that it was asked for: a test that failed since
    /// more failed than that shows why.
    fn print_unwanted_complaints(&mut self) {
        let mut complaints = String::new();
        let _ = self.complaints.rewind().and_then(|()| self.complaints.read_to_string(&mut complaints));
        let wanted = |line: &&str| line.ends_with(": bad") || line.starts_with("nbd_aio_command_completed: read: ");
        let unwanted: Vec<_> = complaints.lines().filter(|line| !wanted(line)).collect();
        println!("the server of the failing disk wrote {} lines, {unwanted:#?}", complaints.lines().count());
    }

    fn wait_until_exists(&mut self) -> bool {
        let give_up = Instant::now() + Duration::from_secs(30);
        while !self.path().exists() {
            let ended = self.server.try_wait().expect("it is a child of this process").is_some();
            if ended || Instant::now() > give_up {
                skip("nbdfuse could not show a disk here");
                return false;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        true
    }
}

impl Drop for FailingDisk {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.print_unwanted_complaints();
        }
        // The server ends after the last use of the mount.
        let unmounted = Command::new("fusermount3").arg("-u").arg(&self.mounted_at).status();
        if !unmounted.is_ok_and(|status| status.success()) {
            // Not killed, because libnbd would leave its directory in /tmp.
            let _ = Command::new("fusermount3").args(["-u", "-z"]).arg(&self.mounted_at).status();
        }
        // Another mount namespace that was created meanwhile, of a container or haul-bench, still has the mount,
        // possibly for hours. On a signal the server ends in an orderly way.
        if !ends_within(&mut self.server, Duration::from_secs(5)) {
            terminate(&mut self.server);
        }
    }
}
