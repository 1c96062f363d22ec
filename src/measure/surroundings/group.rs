//! A memory control group that limits the memory of the test file and a concurrent reader, for machines with much
//! memory.
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Prefix of the names of haul's groups; the process ID follows.
const NAME: &str = "haul-profile-";

/// A memory control group, of either version, removed on drop.
#[derive(Debug)]
pub(super) struct Group(PathBuf);

impl Group {
    /// Creates a group with a limit of `bytes`, at the top level, where limits are possible. Existing groups are not
    /// changed.
    pub(super) fn new(bytes: u64) -> io::Result<Group> {
        let (parent, limit) = hierarchy()?;
        sweep(&parent);
        let path = parent.join(format!("{NAME}{}", std::process::id()));
        fs::create_dir(&path)?;
        let group = Group(path);
        fs::write(group.0.join(limit), bytes.to_string())?;
        Ok(group)
    }

    /// The open file through which a process joins the group.
    pub(super) fn procs(&self) -> io::Result<File> {
        File::options().write(true).open(self.0.join("cgroup.procs"))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // EBUSY would mean that it still has processes; all of them were waited for.
        fs::remove_dir(&self.0).ok();
    }
}

/// The directory for groups, and the name of the file with the limit.
fn hierarchy() -> io::Result<(PathBuf, &'static str)> {
    let (first, second) = (Path::new("/sys/fs/cgroup/memory"), Path::new("/sys/fs/cgroup"));
    if first.join("memory.limit_in_bytes").exists() {
        return Ok((first.into(), "memory.limit_in_bytes"));
    }
    let controllers = fs::read_to_string(second.join("cgroup.subtree_control"))?;
    if !controllers.split_whitespace().any(|name| name == "memory") {
        return Err(io::Error::other("control groups here have no memory limit"));
    }
    Ok((second.into(), "memory.max"))
}

/// Removes groups that killed haul processes left.
fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let process = name.strip_prefix(NAME).filter(|process| !process.is_empty());
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            // Only an empty group can be removed.
            fs::remove_dir(&path).ok();
        }
    }
}
