//! The holder of a conflicting lock.
use super::usage::Use;
use crate::core::{Error, Kind, Side};
use crate::sys::OtherLock;
use std::fs;

/// The holder of a conflicting lock, as far as it can be determined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The process ID; `None` if the process is not visible.
    pub pid: Option<u32>,
    /// The name of its command.
    pub name: Option<String>,
    /// Whether it writes, as opposed to only reading.
    pub writes: bool,
    /// Whether it is a lock of haul, as opposed to one of another program.
    pub is_haul: bool,
}

impl Holder {
    /// The holder of `lock` on the file with this inode number.
    pub(super) fn of(lock: OtherLock, inode: u64, is_haul: bool) -> Holder {
        let pid = lock.pid.and_then(|pid| u32::try_from(pid).ok()).or_else(|| search(lock, inode));
        let name = pid.and_then(|pid| fs::read_to_string(format!("/proc/{pid}/comm")).ok());
        let name = name.map(|name| name.trim_end().to_owned());
        Holder { pid, name, writes: lock.exclusive, is_haul }
    }

    /// An unknown process.
    pub(super) fn unknown(writes: bool) -> Holder {
        Holder { pid: None, name: None, writes, is_haul: true }
    }

    /// The holder as the subject of a sentence.
    fn subject(&self) -> String {
        match (self.pid, &self.name) {
            (Some(pid), Some(name)) => format!("{name} (PID {pid})"),
            (Some(pid), None) => format!("process {pid}"),
            (None, _) => {
                let whose = "of another user or container";
                format!("a process {whose}")
            }
        }
    }
}

/// Searches the open files of all processes for a lock of an open file description: `F_OFD_GETLK` and /proc/locks
/// report no process, but /proc/PID/fdinfo lists the locks of each descriptor.
fn search(lock: OtherLock, inode: u64) -> Option<u32> {
    let own = std::process::id();
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|&pid| pid != own).find(|pid| has_lock(*pid, lock, inode))
}

fn has_lock(pid: u32, lock: OtherLock, inode: u64) -> bool {
    let files = fs::read_dir(format!("/proc/{pid}/fdinfo")).into_iter().flatten().flatten();
    let mut lines = files.filter_map(|file| fs::read_to_string(file.path()).ok());
    lines.any(|lines| lines.lines().any(|line| is_that(line, lock, inode)))
}

/// Whether a line describes the lock: `lock: 1: OFDLCK ADVISORY  WRITE -1 fe:01:1234 4611686018427387904 EOF`.
fn is_that(line: &str, lock: OtherLock, inode: u64) -> bool {
    let Some(line) = line.strip_prefix("lock:") else { return false };
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, "OFDLCK", _, kind, _, file, start, _] = words[..] else { return false };
    let found = file.rsplit(':').next().and_then(|number| number.parse::<u64>().ok());
    found == Some(inode) && start.parse() == Ok(lock.start) && (kind == "WRITE") == lock.exclusive
}

/// The error for a file or device that `holder` uses: nothing was written to it.
pub fn refused(side: Side, path: &str, wanted: Use, holder: &Holder) -> Error {
    let name = match side {
        Side::Source => "source",
        Side::Dest => "destination",
    };
    let verb = match wanted {
        Use::Read => "read",
        Use::Write => "write to",
    };
    let does = match (holder.is_haul, holder.writes) {
        (true, true) => "is writing to it",
        (true, false) => "is reading it",
        (false, _) => "has locked it",
    };
    let what = format!("cannot {verb} {name} {path}: {} {does}", holder.subject());
    let end = holder.pid.map_or_else(|| "ends".to_owned(), |pid| format!("ends, or stop it (kill {pid})"));
    let advice = format!("Nothing was written. Wait until that process {end}, then run the command again.");
    Error::new(Kind::Refused, what).on(side).advise(advice)
}
