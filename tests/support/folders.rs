//! Folders for what a test makes. They are gone when they go out of scope, and a test fails that keeps one from going.
use super::abilities::skip;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// How long a folder may stay in use: by a program that was killed, or a mount that lets go.
const IN_USE_AT_MOST: Duration = Duration::from_secs(20);

/// A folder, removed with all that is in it when this is dropped. In a structure it comes after what is mounted in it
/// or made of its files: fields are dropped in their order.
pub struct Folder(PathBuf);

impl Folder {
    /// A new one below `above`.
    pub fn below(above: impl AsRef<Path>) -> std::io::Result<Self> {
        // scripts/left-behind tells by its number what one run of the tests has made.
        let run = std::env::var("HAUL_TEST_RUN").map(|run| run + "-").unwrap_or_default();
        Ok(Folder(tempfile::Builder::new().prefix(&format!("haul-{run}")).tempdir_in(above)?.keep()))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for Folder {
    fn as_ref(&self) -> &Path {
        &self.0
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

/// Something is mounted on a directory below `dir`.
fn has_mounts(dir: &Path) -> bool {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    mounts.lines().filter_map(|line| line.split(' ').nth(1)).any(|at| Path::new(at).starts_with(dir))
}

impl Drop for Folder {
    fn drop(&mut self) {
        let until = Instant::now() + IN_USE_AT_MOST;
        let why = loop {
            // What is mounted here is not to be emptied.
            let removed =
                if has_mounts(&self.0) { Err(ErrorKind::ResourceBusy.into()) } else { fs::remove_dir_all(&self.0) };
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
        let told = format!("{} could not be removed: {why}", self.0.display());
        // A second panic would end all tests.
        if thread::panicking() { skip(&told) } else { panic!("{told}") }
    }
}
