//! Capabilities of this machine, so that a test that it cannot run is skipped with a message instead of failing or
//! passing silently.
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

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
    let quiet = |command: &mut Command| command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    let there = quiet(Command::new("sh").args(["-c", "PATH=$PATH:/usr/sbin:/sbin command -v \"$0\"", tool]));
    let there = there.is_ok_and(|status| status.success());
    if !there {
        skip(&format!("{tool} is not installed"));
    }
    there
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
