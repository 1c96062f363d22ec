//! Capabilities of this machine, so that a test that it cannot run is skipped with a message instead of failing or
//! passing silently.
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Prints that the current test, or a part of it, did not run, and why. Bypasses the test harness, which would
/// discard the output of a passing test.
pub fn skip(reason: &str) {
    let thread = std::thread::current();
    let line = format!("skipped: {}: {reason}\n", thread.name().unwrap_or("a test"));
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Whether this process is root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether `tool` is installed; if not, prints a message.
pub fn has(tool: &str) -> bool {
    let there = found(tool).is_some();
    if !there {
        skip(&format!("{tool} is not installed"));
    }
    there
}

/// The search path with the directories of administration tools, which are not in every user's.
fn search_path() -> String {
    format!("/usr/sbin:/sbin:/usr/bin:/bin:{}", std::env::var("PATH").unwrap_or_default())
}

/// The first file that can be executed by this name.
pub fn found(tool: &str) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| {
        fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(&search_path()).map(|directory| directory.join(tool)).find(is_program)
}

/// Runs an administration tool. By an absolute path: to find a name in a PATH that was set, std::process forks this
/// process, whose memory is large.
pub fn admin(tool: &str, arguments: &[&str]) -> std::io::Result<Output> {
    let path = found(tool).ok_or(std::io::ErrorKind::NotFound)?;
    Command::new(path).args(arguments).env("PATH", search_path()).output()
}

/// The engines that this kernel supports; prints missing ones.
pub fn engines() -> Vec<&'static str> {
    let mut engines = vec!["threads", "sync"];
    match io_uring::IoUring::new(4) {
        Ok(_) => engines.push("ring"),
        Err(error) => skip(&format!("engine ring: io_uring is not to be had here: {error}")),
    }
    engines
}

/// Whether the file system at `dir` supports direct I/O.
pub fn direct_works(dir: &Path) -> bool {
    let probe = dir.join("direct-probe");
    let opened = OpenOptions::new().create(true).write(true).custom_flags(libc::O_DIRECT).open(&probe);
    let _ = fs::remove_file(&probe);
    if opened.is_err() {
        skip("--direct always: the file system of the scratch directory cannot");
    }
    opened.is_ok()
}
