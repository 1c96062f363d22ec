//! Actions of a child process between fork and exec.
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Makes the child of `command` be killed when the thread that started it ends, and receive SIGINT even if haul ignores
/// it.
pub fn bind_to_parent(command: &mut Command) {
    // SAFETY: between fork and exec only signal(2) and prctl(2) are called, which are async-signal-safe and access no
    // memory.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            }
        });
    }
}

/// Makes the child of `command` join a control group before exec; `procs` is its `cgroup.procs`, open for writing.
pub fn join_group(command: &mut Command, mut procs: File) {
    // SAFETY: one write(2) of a constant to a descriptor that was opened before; "0" stands for the writing process.
    unsafe {
        command.pre_exec(move || procs.write_all(b"0"));
    }
}
