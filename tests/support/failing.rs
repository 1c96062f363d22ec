//! A disk with bad sectors, or one that stalls: a server in this process fails requests, nbdfuse mounts it as a file.
use super::abilities::{has, is_root, skip};
use super::nbd_export::{self, Access, Rule, Verdict};
use super::running::{ends_within, terminate};
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
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
}

/// Whether two ranges have a byte in common.
fn meet(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start < other.end && one.end > other.start
}

/// Fails those requests that one of `fails` names and `applies` accepts.
fn failing(fails: &[Fails], applies: impl Fn(&Range<u64>) -> bool + Send + Sync + 'static) -> Rule {
    let (reads, writes) = (fails.contains(&Fails::Reads), fails.contains(&Fails::Writes));
    Box::new(move |access, range| {
        let wanted = if access == Access::Read { reads } else { writes };
        if wanted && applies(&range) { Verdict::Fail } else { Verdict::Serve }
    })
}

impl FailingDisk {
    /// Serves `backing` below `dir`. `None`, with a message, if the tools are missing.
    pub fn over(dir: &Path, backing: &Path, fails: Fails, bad: Range<u64>) -> Option<Self> {
        Self::with(dir, backing, fails, &[bad])
    }

    /// The same with any number of bad ranges.
    pub fn with(dir: &Path, backing: &Path, fails: Fails, bad: &[Range<u64>]) -> Option<Self> {
        let bad = bad.to_vec();
        Self::serve(dir, backing, failing(&[fails], move |range| bad.iter().any(|bad| meet(bad, range))))
    }

    /// The same, but writes to `lost` are acknowledged and discarded.
    pub fn losing(dir: &Path, backing: &Path, lost: Range<u64>) -> Option<Self> {
        let is_lost = move |access, range| access == Access::Write && meet(&range, &lost);
        let rule = move |access, range| if is_lost(access, range) { Verdict::Lose } else { Verdict::Serve };
        Self::serve(dir, backing, Box::new(rule))
    }

    /// Serves `backing` below `dir`; reads that extend beyond `from` wait while `gate` exists.
    pub fn stalling(dir: &Path, backing: &Path, from: u64, gate: &Path) -> Option<Self> {
        let gate = gate.to_owned();
        let rule = move |access, range: Range<u64>| {
            while access == Access::Read && range.end > from && gate.exists() {
                thread::sleep(Duration::from_millis(2));
            }
            Verdict::Serve
        };
        Self::serve(dir, backing, Box::new(rule))
    }

    /// Serves `backing` below `dir`; each write takes half a second while `gate` exists.
    pub fn slow(dir: &Path, backing: &Path, gate: &Path) -> Option<Self> {
        let gate = gate.to_owned();
        let rule = move |access, _| {
            if access == Access::Write && gate.exists() {
                thread::sleep(Duration::from_millis(500));
            }
            Verdict::Serve
        };
        Self::serve(dir, backing, Box::new(rule))
    }

    /// Serves `backing` below `dir`; requests of these kinds that touch `bad` fail while `gate` exists.
    pub fn while_gate_exists(
        dir: &Path,
        backing: &Path,
        fails: &[Fails],
        bad: Range<u64>,
        gate: &Path,
    ) -> Option<Self> {
        let gate = gate.to_owned();
        Self::serve(dir, backing, failing(fails, move |range| meet(&bad, range) && gate.exists()))
    }

    /// Serves `backing` in this process, and mounts it by nbdfuse, whose standard input is the connection.
    fn serve(dir: &Path, backing: &Path, rule: Rule) -> Option<Self> {
        if !has("nbdfuse") || !has("fusermount3") {
            return None;
        }
        if !is_root() || !Path::new("/dev/fuse").exists() {
            skip("a failing disk needs root and /dev/fuse");
            return None;
        }
        let mounted_at = dir.join("failing");
        std::fs::create_dir_all(&mounted_at).expect("the test directory is writable");
        let client = nbd_export::serve(backing, rule).expect("it exists, and sockets can be made");
        let mut command = Command::new("nbdfuse");
        command.arg(mounted_at.join("disk")).args(["--fd", "0"]).stdin(OwnedFd::from(client));
        // It complains about each request that fails.
        let server = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
        let mut disk = FailingDisk { mounted_at, server };
        disk.wait_until_exists().then_some(disk)
    }

    /// The file to copy from or to.
    pub fn path(&self) -> PathBuf {
        self.mounted_at.join("disk")
    }

    fn wait_until_exists(&mut self) -> bool {
        let give_up = Instant::now() + Duration::from_secs(30);
        while !self.path().exists() {
            let ended = self.server.try_wait().expect("it is a child of this process").is_some();
            if ended || Instant::now() > give_up {
                skip("nbdfuse could not show a disk here");
                return false;
            }
            thread::sleep(Duration::from_millis(2));
        }
        true
    }
}

impl Drop for FailingDisk {
    fn drop(&mut self) {
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
