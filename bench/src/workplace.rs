//! The directories of the beds: on a real file system and on a tmpfs, both removed afterwards.
//!
//! The bench first creates a mount namespace. Its mounts are visible only to it and its children, and disappear with
//! the last of them, however they ended. Loop devices are detached by the kernel when the bench's descriptor of them
//! is closed. A killed bench can only leave a directory with a file, which the next bench removes.
use crate::error::{Doing, Result};
use rustix::fs::{FlockOperation, flock};
use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_change, unmount};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Prefix of the directory's name, by which the next bench finds that of a killed one.
const PREFIX: &str = "haul-bench-";

/// Both directories; dropping it removes them.
#[derive(Debug)]
pub struct Workplace {
    /// Locked while the directory is in use.
    _lock: File,
    memory: PathBuf,
    disk: TempDir,
}

impl Workplace {
    /// Creates both; `parent` is on the file system for the file beds.
    ///
    /// # Errors
    /// It may not mount (root is required), or cannot write in `parent`.
    pub fn new(parent: &Path) -> Result<Self> {
        own_namespace()?;
        // Until the new directory is locked, another bench would consider it abandoned.
        let creating = File::open(parent)?;
        flock(&creating, FlockOperation::LockExclusive).doing(format_args!("lock {}", parent.display()))?;
        remove_abandoned(parent);
        let disk =
            TempDir::with_prefix_in(PREFIX, parent).doing(format_args!("make a directory in {}", parent.display()))?;
        let lock = File::create(disk.path().join("lock"))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).doing("lock the directory of the bench")?;
        drop(creating);
        let memory = disk.path().join("memory");
        fs::create_dir(&memory)?;
        // All of the free memory: the beds limit themselves, and the default of half of it may be too small.
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
        // Detached instead of unmounted: a loop device of a bed that was just dropped may still be detaching.
        let _ = unmount(&self.memory, UnmountFlags::DETACH);
    }
}

fn own_namespace() -> Result<()> {
    // SAFETY: of the things unshared, only the table of mounts changes, and no thread has been started yet.
    unsafe { unshare_unsafe(UnshareFlags::NEWNS) }.doing("create a mount namespace (root is needed)")?;
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).doing("keep its mounts to itself")
}

/// Removes the directories of killed benches in `parent`: those with its prefix that no process has locked.
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
