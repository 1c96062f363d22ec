//! Directories for the files of a test. They are removed when they go out of scope; a test that prevents that fails.
use super::abilities::{admin, skip};
use rustix::fs::FlockOperation;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum time for which a directory may stay in use: by a killed program, or a mount that is being detached.
const IN_USE_AT_MOST: Duration = Duration::from_secs(20);

/// A directory that is removed with its contents when dropped. In a structure it is declared after mounts in it and
/// devices over its files, because fields are dropped in order.
///
/// Killed tests cannot remove theirs. Therefore a directory is locked while its process lives, and creating one
/// removes those next to it that are no longer locked.
pub struct ScratchDir {
    path: PathBuf,
    _lock: File,
}

/// The suffix of the names of such directories: one that is not locked may be removed.
const LOCKED: &str = ".locked";

impl ScratchDir {
    /// Creates a directory below `above`.
    pub fn below(above: impl AsRef<Path>) -> std::io::Result<Self> {
        static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
        let above = above.as_ref();
        if SWEPT.lock().unwrap_or_else(PoisonError::into_inner).insert(above.to_owned()) {
            remove_orphans(above);
        }
        // scripts/left-behind finds the directories of one test run by its number.
        let run = std::env::var("HAUL_TEST_RUN").map(|run| run + "-").unwrap_or_default();
        // Under another name until it is locked.
        let prefix = format!(".haul-{run}{}", "x".repeat(longer()));
        let unlocked = tempfile::Builder::new().prefix(&prefix).tempdir_in(above)?.keep();
        let lock = File::open(&unlocked)?;
        rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        let name = unlocked.file_name().and_then(|name| name.to_str()).expect("it was UTF-8");
        let path = above.join(format!("{}{LOCKED}", name.trim_start_matches('.')));
        fs::rename(&unlocked, &path)?;
        Ok(ScratchDir { path, _lock: lock })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Additional length of all names of directories, in characters. Messages of haul are wrapped, and contain paths: no
/// test may depend on line breaks.
fn longer() -> usize {
    std::env::var("HAUL_TEST_LONGER").ok().and_then(|number| number.parse().ok()).unwrap_or(0)
}

impl AsRef<Path> for ScratchDir {
    fn as_ref(&self) -> &Path {
        &self.path
    }
}

/// A directory on the file system of the build directory, usually on a disk.
pub fn scratch() -> ScratchDir {
    ScratchDir::below(env!("CARGO_TARGET_TMPDIR")).expect("the build directory exists")
}

/// A directory in memory if possible: for the files below loop devices.
pub fn memory_dir() -> ScratchDir {
    ScratchDir::below("/dev/shm").unwrap_or_else(|_| scratch())
}

/// Removes the directories in `above` whose tests were killed, after the mounts in them and devices over their
/// files.
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
                let _ = admin("umount", &["--lazy", &at]);
            }
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Detaches the loop devices over files below `dir`, which no other process uses any more.
fn detach_loop_devices(dir: &Path) {
    for device in fs::read_dir("/sys/block").into_iter().flatten().flatten() {
        let backing = fs::read_to_string(device.path().join("loop/backing_file")).unwrap_or_default();
        if Path::new(backing.trim_end()).starts_with(dir) {
            let _ = admin("losetup", &["--detach", &format!("/dev/{}", device.file_name().display())]);
        }
    }
}

/// The mount points below `dir`, the last first.
fn mounts_below(dir: &Path) -> Vec<String> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let places = mounts.lines().rev().filter_map(|line| line.split(' ').nth(1));
    places.filter(|at| Path::new(at).starts_with(dir)).map(str::to_owned).collect()
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        let until = Instant::now() + IN_USE_AT_MOST;
        let why = loop {
            // A mounted file system must not be emptied.
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
        let reported = format!("{} could not be removed: {why}", self.path.display());
        // A second panic would abort all tests.
        if thread::panicking() { skip(&reported) } else { panic!("{reported}") }
    }
}

/// The name of a file of a test as an argument.
pub fn name(path: &Path) -> &str {
    path.to_str().expect("paths of test directories are UTF-8")
}
