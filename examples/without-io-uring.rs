//! Runs a command for which io_uring_setup(2) fails with EPERM, as under `kernel.io_uring_disabled=2` (Linux 6.6) or
//! the seccomp profile of a container: `without-io-uring COMMAND [ARGUMENT]...`. Its status is that of the command;
//! 2 without a command, 126 if the filter or the command is not available.
//!
//! For tests: haul must select another engine automatically, on the host and in the lab.
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// Forbids io_uring for this process and the program that it executes.
fn forbid_io_uring() -> std::io::Result<()> {
    let jump = |code: u32, yes, no, k| libc::sock_filter { code: code as u16, jt: yes, jf: no, k };
    let refuse = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    let mut filter = [
        // The number of the system call is the first field of struct seccomp_data.
        jump(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        jump(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, libc::SYS_io_uring_setup as u32),
        jump(libc::BPF_RET | libc::BPF_K, 0, 0, refuse),
        jump(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: `program` and the filter it points to live until both calls have returned; the kernel copies them.
    let failed = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) != 0
    };
    if failed { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let Some(command) = words.next() else {
        eprintln!("without-io-uring: no command; usage: without-io-uring COMMAND [ARGUMENT]...");
        return ExitCode::from(2);
    };
    if let Err(error) = forbid_io_uring() {
        eprintln!("without-io-uring: io_uring cannot be forbidden here: {error}; is seccomp in the kernel?");
        return ExitCode::from(126);
    }
    let error = Command::new(&command).args(words).exec();
    eprintln!("without-io-uring: cannot run {}: {error}", command.display());
    ExitCode::from(126)
}
