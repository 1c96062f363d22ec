//! A disk with a bad place, or one that stalls: nbdkit serves a file and fails there, nbdfuse shows it as a file.
use super::abilities::{has, is_root, skip};
use rustix::process::{Pid, Signal};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Which requests fail.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fails {
    Reads,
    Writes,
}

/// A file of which a range cannot be read or written: EIO. What lies beneath is an ordinary file.
pub struct FailingDisk {
    mounted_at: PathBuf,
    server: Child,
}

impl FailingDisk {
    /// Serves `backing` below `dir`. `None`, said aloud, where the tools are missing.
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

    /// The same, only that writes to `lost` are acknowledged and never done.
    pub fn losing(dir: &Path, backing: &Path, lost: Range<u64>) -> Option<Self> {
        let Range { start, end } = lost;
        let lost = format!("[ $4 -lt {end} ] && [ $(($4 + $3)) -gt {start} ]");
        Self::serve(dir, backing, ":", &format!("if {lost}; then cat >/dev/null; exit 0; fi"))
    }

    /// Serves `backing` below `dir`; reads that reach behind `from` wait as long as `gate` is there.
    pub fn stalling(dir: &Path, backing: &Path, from: u64, gate: &Path) -> Option<Self> {
        let wait = format!("while [ $(($4 + $3)) -gt {from} ] && [ -e '{}' ]; do sleep 0.02; done", gate.display());
        Self::serve(dir, backing, &wait, ":")
    }

    /// Serves `backing` below `dir`; each write takes half a second as long as `gate` is there.
    pub fn slow(dir: &Path, backing: &Path, gate: &Path) -> Option<Self> {
        Self::serve(dir, backing, ":", &format!("if [ -e '{}' ]; then sleep 0.5; fi", gate.display()))
    }

    /// Serves `backing` below `dir`; requests of these kinds that touch `bad` fail as long as `gate` is there.
    pub fn while_there(dir: &Path, backing: &Path, fails: &[Fails], bad: Range<u64>, gate: &Path) -> Option<Self> {
        let Range { start, end } = bad;
        let check = format!(
            "if [ -e '{}' ] && [ $4 -lt {end} ] && [ $(($4 + $3)) -gt {start} ]; then echo EIO bad >&2; exit 1; fi",
            gate.display()
        );
        let check = |wanted| if fails.contains(&wanted) { check.as_str() } else { ":" };
        Self::serve(dir, backing, check(Fails::Reads), check(Fails::Writes))
    }

    /// `before_read` and `before_write` are done by a shell before each request is.
    fn serve(dir: &Path, backing: &Path, before_read: &str, before_write: &str) -> Option<Self> {
        if !has("nbdkit") || !has("nbdfuse") || !has("fusermount3") {
            return None;
        }
        if !is_root() || !Path::new("/dev/fuse").exists() {
            skip("a failing disk needs root and /dev/fuse");
            return None;
        }
        let mounted_at = dir.join("failing");
        std::fs::create_dir_all(&mounted_at).expect("scratch takes directories");
        let size = std::fs::metadata(backing).expect("it is there").len();
        let file = backing.display();
        let read = format!("dd if='{file}' iflag=skip_bytes,count_bytes skip=$4 count=$3 bs=1M status=none");
        let write = format!("dd of='{file}' oflag=seek_bytes seek=$4 bs=1M iflag=fullblock conv=notrunc status=none");
        let mut command = Command::new("nbdfuse");
        command.arg(mounted_at.join("disk")).args(["[", "nbdkit", "--exit-with-parent", "eval"]);
        command.arg(format!("get_size=echo {size}"));
        command.arg(format!("pread={before_read}; exec {read}"));
        command.arg(format!("pwrite={before_write}; exec {write}"));
        // Without a flush method nbdkit takes a disk for one that needs none, and fdatasync would fail.
        command.args(["can_flush=exit 0", "flush=exit 0", "]"]);
        let server = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
        let mut disk = FailingDisk { mounted_at, server };
        disk.wait_until_there().then_some(disk)
    }

    /// The file to copy from or to.
    pub fn path(&self) -> PathBuf {
        self.mounted_at.join("disk")
    }

    fn ends_within(&mut self, patience: Duration) -> bool {
        let give_up = Instant::now() + patience;
        while self.server.try_wait().is_ok_and(|ended| ended.is_none()) {
            if Instant::now() > give_up {
                return false;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        true
    }

    fn wait_until_there(&mut self) -> bool {
        let give_up = Instant::now() + Duration::from_secs(30);
        while !self.path().exists() {
            let ended = self.server.try_wait().expect("it is our child").is_some();
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
        // The server ends by itself when the last user of the mount is gone.
        let unmounted = Command::new("fusermount3").arg("-u").arg(&self.mounted_at).status();
        if !unmounted.is_ok_and(|status| status.success()) {
            // Not killed: libnbd would leave its folder in /tmp.
            let _ = Command::new("fusermount3").args(["-u", "-z"]).arg(&self.mounted_at).status();
        }
        // Whoever made a mount namespace meanwhile, a container or haul-bench, has the mount still, and may have it for
        // hours. At a signal the server ends in good order.
        if !self.ends_within(Duration::from_secs(5)) {
            let _ = rustix::process::kill_process(Pid::from_child(&self.server), Signal::TERM);
            if !self.ends_within(Duration::from_secs(30)) {
                let _ = self.server.kill();
            }
        }
        let _ = self.server.wait();
    }
}
