//! A memory control group: little memory for a file and a concurrent reader, on a machine that has much.
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The groups of haul begin with this; the rest is the process.
const NAME: &str = "haul-profile-";

/// A memory control group, of either version. Dropping it removes it.
#[derive(Debug)]
pub(super) struct Group(PathBuf);

impl Group {
    /// Makes one of so many bytes, at the top, where groups may have limits. Nothing that is there is changed.
    pub(super) fn new(bytes: u64) -> io::Result<Group> {
        let (parent, limit) = hierarchy()?;
        sweep(&parent);
        let path = parent.join(format!("{NAME}{}", std::process::id()));
        fs::create_dir(&path)?;
        let group = Group(path);
        fs::write(group.0.join(limit), bytes.to_string())?;
        Ok(group)
    }

    /// The file by which a process joins it, open.
    pub(super) fn procs(&self) -> io::Result<File> {
        File::options().write(true).open(self.0.join("cgroup.procs"))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // EBUSY would mean that a process is in it still: they were all waited for.
        fs::remove_dir(&self.0).ok();
    }
}

/// Where groups are made, and the file that limits one.
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

/// Removes what a killed haul left here.
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
