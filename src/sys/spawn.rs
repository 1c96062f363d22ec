//! What a program does between fork and exec.
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Lets what `command` starts be killed when the thread that started it ends, and receive SIGINT even where haul
/// ignores it.
pub fn bind_to_parent(command: &mut Command) {
    // SAFETY: between fork and exec only signal(2) and prctl(2) are called, which are safe there and touch no memory.
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

/// Lets what `command` starts join a control group before it is another program; `procs` is its `cgroup.procs`, open to
/// be written.
pub fn join_group(command: &mut Command, mut procs: File) {
    // SAFETY: one write(2) of a constant to a descriptor that was opened before; "0" means the writer itself.
    unsafe {
        command.pre_exec(move || procs.write_all(b"0"));
    }
}
