//! Where the beds are made: a directory on a real file system and a tmpfs, both gone afterwards.
//!
//! The bench goes into a mount namespace of its own first. Whatever it mounts is seen by it and its children only, and
//! is gone when the last of them is, however they ended. Loop devices are detached by the kernel when the bench's
//! descriptor of them is closed. What can be left behind by a kill is a directory with a file, and the next bench
//! removes it.
use crate::error::{Doing, Result};
use rustix::fs::{FlockOperation, flock};
use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_change, unmount};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Prefix of the directory's name, by which the next bench knows what a killed one left.
const PREFIX: &str = "haul-bench-";

/// The two places; dropping it removes them.
#[derive(Debug)]
pub struct Workplace {
    /// Held locked as long as the directory is in use.
    _lock: File,
    memory: PathBuf,
    disk: TempDir,
}

impl Workplace {
    /// Makes both; `parent` is on the file system that the file beds are to measure.
    ///
    /// # Errors
    /// When it may not mount (root is needed), or cannot write in `parent`.
    pub fn new(parent: &Path) -> Result<Self> {
        own_namespace()?;
        remove_abandoned(parent);
        let disk =
            TempDir::with_prefix_in(PREFIX, parent).doing(format_args!("make a directory in {}", parent.display()))?;
        let lock = File::create(disk.path().join("lock"))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).doing("lock the directory of the bench")?;
        let memory = disk.path().join("memory");
        fs::create_dir(&memory)?;
        // All of the memory that is free: the beds say how much they need, and the default of half of it may be less.
        mount("haul-bench", &memory, "tmpfs", MountFlags::empty(), Some(c"size=90%,mode=700"))
            .doing("mount a tmpfs")?;
        Ok(Self { _lock: lock, memory, disk })
    }

    /// A directory in memory.
    pub fn memory(&self) -> &Path {
        &self.memory
    }

    /// A directory on the file system of `parent`.
    pub fn disk(&self) -> &Path {
        self.disk.path()
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        // Detached, not just unmounted: a loop device of a bed that has just gone may be on its way out.
        let _ = unmount(&self.memory, UnmountFlags::DETACH);
    }
}

fn own_namespace() -> Result<()> {
    // SAFETY: of the things unshared, only the table of mounts changes, and no thread has been started yet.
    unsafe { unshare_unsafe(UnshareFlags::NEWNS) }.doing("have mounts of its own (root is needed)")?;
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).doing("keep its mounts to itself")
}

/// Removes what benches that were killed left in `parent`: directories with its prefix that nobody holds locked.
fn remove_abandoned(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let ours = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
        let lock = File::open(path.join("lock"));
        if ours && lock.is_ok_and(|lock| flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok()) {
            let _ = fs::remove_dir_all(&path);
        }
    }
}
