//! Folders for what a test makes. They are gone when they go out of scope, and a test fails that keeps one from going.
use super::abilities::skip;
use rustix::fs::FlockOperation;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a folder may stay in use: by a program that was killed, or a mount that lets go.
const IN_USE_AT_MOST: Duration = Duration::from_secs(20);

/// A folder, removed with all that is in it when this is dropped. In a structure it comes after what is mounted in it
/// or made of its files: fields are dropped in their order.
///
/// Tests that are killed cannot remove theirs. So a folder is locked for as long as its process lives, and whoever
/// makes one removes those beside it that are locked no more.
pub struct Folder {
    path: PathBuf,
    _lock: File,
}

/// What the names of such folders end with: one that may be removed once it is not locked.
const LOCKED: &str = ".locked";

impl Folder {
    /// A new one below `above`.
    pub fn below(above: impl AsRef<Path>) -> std::io::Result<Self> {
        static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
        let above = above.as_ref();
        if SWEPT.lock().unwrap_or_else(PoisonError::into_inner).insert(above.to_owned()) {
            remove_orphans(above);
        }
        // scripts/left-behind tells by its number what one run of the tests has made.
        let run = std::env::var("HAUL_TEST_RUN").map(|run| run + "-").unwrap_or_default();
        // Under another name until it is locked.
        let prefix = format!(".haul-{run}{}", "x".repeat(longer()));
        let unlocked = tempfile::Builder::new().prefix(&prefix).tempdir_in(above)?.keep();
        let lock = File::open(&unlocked)?;
        rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        let name = unlocked.file_name().and_then(|name| name.to_str()).expect("it was made of text");
        let path = above.join(format!("{}{LOCKED}", name.trim_start_matches('.')));
        fs::rename(&unlocked, &path)?;
        Ok(Folder { path, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// By how many characters all names of folders are longer than they need be. What haul says is wrapped, and paths are
/// part of it: no test may depend on where its lines break.
fn longer() -> usize {
    std::env::var("HAUL_TEST_LONGER").ok().and_then(|number| number.parse().ok()).unwrap_or(0)
}

impl AsRef<Path> for Folder {
    fn as_ref(&self) -> &Path {
        &self.path
    }
}

/// A directory on the file system of the build directory, usually a real disk's.
pub fn scratch() -> Folder {
    Folder::below(env!("CARGO_TARGET_TMPDIR")).expect("the build directory is there")
}

/// A directory in memory where there is one: for what lies under loop devices.
pub fn memory_dir() -> Folder {
    Folder::below("/dev/shm").unwrap_or_else(|_| scratch())
}

/// Removes the folders in `above` whose tests were killed, and first what is mounted in them or made of their files.
fn remove_orphans(above: &Path) {
    for entry in fs::read_dir(above).into_iter().flatten().flatten() {
        let name = entry.file_name().into_string().unwrap_or_default();
        if !name.starts_with("haul-") || !name.ends_with(LOCKED) {
            continue;
        }
        let Ok(orphan) = File::open(entry.path()) else { continue };
        if rustix::fs::flock(&orphan, FlockOperation::NonBlockingLockExclusive).is_ok() {
            detach_loop_devices(&entry.path());
            for at in mounts_below(&entry.path()) {
                admin("umount", &["--lazy", &at]);
            }
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Detaches the loop devices over files below `dir`, of which nothing else is in use any more.
fn detach_loop_devices(dir: &Path) {
    for device in fs::read_dir("/sys/block").into_iter().flatten().flatten() {
        let backing = fs::read_to_string(device.path().join("loop/backing_file")).unwrap_or_default();
        if Path::new(backing.trim_end()).starts_with(dir) {
            admin("losetup", &["--detach", &format!("/dev/{}", device.file_name().display())]);
        }
    }
}

/// Runs an administration tool, which may fail.
fn admin(tool: &str, arguments: &[&str]) {
    let mut command = Command::new(tool);
    let _ = command.args(arguments).env("PATH", "/usr/sbin:/sbin:/usr/bin:/bin").stderr(Stdio::null()).status();
}

/// What is mounted on directories below `dir`, the last first.
fn mounts_below(dir: &Path) -> Vec<String> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let places = mounts.lines().rev().filter_map(|line| line.split(' ').nth(1));
    places.filter(|at| Path::new(at).starts_with(dir)).map(str::to_owned).collect()
}

impl Drop for Folder {
    fn drop(&mut self) {
        let until = Instant::now() + IN_USE_AT_MOST;
        let why = loop {
            // What is mounted here is not to be emptied.
            let removed = if mounts_below(&self.path).is_empty() {
                fs::remove_dir_all(&self.path)
            } else {
                Err(ErrorKind::ResourceBusy.into())
            };
            let why = match removed {
                Ok(()) => return,
                Err(error) if error.kind() == ErrorKind::NotFound => return,
                Err(error) => error,
            };
            if Instant::now() > until {
                break why;
            }
            thread::sleep(Duration::from_millis(10));
        };
        let told = format!("{} could not be removed: {why}", self.path.display());
        // A second panic would end all tests.
        if thread::panicking() { skip(&told) } else { panic!("{told}") }
    }
}
