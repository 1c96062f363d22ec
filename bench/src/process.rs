//! Runs a command, waits for it, and measures its cost. A signal to the bench ends the command.
//!
//! Independent of the command, and of its purpose.
use crate::error::{Doing, Error, Result};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use rustix::time::Timespec;
use std::fs::File;
use std::io::{Read, Seek};
use std::mem::MaybeUninit;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Set when a signal requests the end of the bench.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Set by SIGINT, SIGTERM and SIGHUP.
    ///
    /// # Errors
    /// A handler cannot be set.
    pub fn on_signals() -> Result<Self> {
        let interrupt = Self::default();
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
            signal_hook::flag::register(signal, interrupt.0.clone()).doing("register a signal handler")?;
        }
        Ok(interrupt)
    }

    /// Whether to end.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Ends the bench as a signal would.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The measurements of one run of a command.
#[derive(Debug)]
pub struct Ended {
    /// Time from just before its start until its end.
    pub wall: Duration,
    /// Processor time of it and of the children for which it waited.
    pub cpu: Duration,
    /// The maximum size of the largest of these processes, in bytes.
    pub resident_bytes: u64,
    /// How it ended.
    pub status: ExitStatus,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Ended {
    /// Its status and its last line of output, for a table.
    pub fn how(&self) -> String {
        let last = self.stderr.split(['\n', '\r']).rfind(|line| !line.trim().is_empty()).unwrap_or("").trim();
        let status = match (self.status.code(), self.status.signal()) {
            (Some(code), _) => format!("status {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "an unknown end".into(),
        };
        if last.is_empty() { status } else { format!("{status}: {last}") }
    }
}

/// A command line: words, or a pipeline for a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// Arguments that are executed directly.
    Words(Vec<String>),
    /// A pipeline for bash, which fails if any part of it fails.
    Shell(String),
}

impl Line {
    /// The words of `text`, separated by blanks, without quoting.
    pub fn words(text: &str) -> Self {
        Line::Words(text.split_whitespace().map(Into::into).collect())
    }

    /// A pipeline.
    pub fn shell(text: impl Into<String>) -> Self {
        Line::Shell(text.into())
    }

    /// As typed on a command line.
    pub fn text(&self) -> String {
        match self {
            Line::Words(words) => words.join(" "),
            Line::Shell(text) => text.clone(),
        }
    }

    fn command(&self) -> Command {
        match self {
            Line::Words(words) => {
                let mut command = Command::new(&words[0]);
                command.args(&words[1..]);
                command
            }
            Line::Shell(text) => {
                let mut command = Command::new("bash");
                command.args(["-o", "pipefail", "-c", text]);
                command
            }
        }
    }
}

/// Runs `line`. With `group`, in that memory control group (the path of its `cgroup.procs`).
///
/// # Errors
/// It cannot be started, or the bench was interrupted: then it and its children have been ended.
pub fn run(line: &Line, group: Option<&Path>, interrupt: &Interrupt) -> Result<Ended> {
    let mut stdout = tempfile::tempfile().doing("create a file for the output of a command")?;
    let mut stderr = tempfile::tempfile().doing("create a file for the output of a command")?;
    let mut command = line.command();
    command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?).process_group(0);
    die_with_parent(&mut command, libc::SIGKILL);
    if let Some(procs) = group {
        join_group(&mut command, procs)?;
    }
    let started = Instant::now();
    let child = command.spawn().doing(format_args!("run {}", line.text()))?;
    let (status, usage) = wait(&child, interrupt)?;
    let wall = started.elapsed();
    if interrupt.is_set() {
        return Err(Error(format!("interrupted in {}", line.text())));
    }
    let time = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000);
    Ok(Ended {
        wall,
        cpu: time(usage.ru_utime) + time(usage.ru_stime),
        // In KiB on Linux, getrusage(2).
        resident_bytes: usage.ru_maxrss as u64 * 1024,
        status,
        stdout: all_of(&mut stdout)?,
        stderr: all_of(&mut stderr)?,
    })
}

/// Runs `text` (words separated by blanks); returns its standard output.
///
/// # Errors
/// It cannot be run or fails; with its standard error.
pub fn output(text: &str) -> Result<String> {
    let ended = run(&Line::words(text), None, &Interrupt::default())?;
    if ended.status.success() { Ok(ended.stdout) } else { Err(Error(format!("`{text}` failed: {}", ended.how()))) }
}

/// Sends `signal` to `command` when the thread that starts it ends: processes of a killed bench end with it.
pub fn die_with_parent(command: &mut Command, signal: libc::c_int) {
    // SAFETY: between fork and exec only prctl(2) is called, which is safe there and touches no memory.
    unsafe {
        command.pre_exec(move || match libc::prctl(libc::PR_SET_PDEATHSIG, signal) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
}

fn join_group(command: &mut Command, procs: &Path) -> Result<()> {
    use std::io::Write;
    let mut procs = File::options().write(true).open(procs).doing("open a memory control group")?;
    // SAFETY: one write(2) of a constant to a descriptor opened before; "0" means the writer itself.
    unsafe {
        command.pre_exec(move || procs.write_all(b"0"));
    }
    Ok(())
}

/// Waits for `child`; ends its process group if the bench is to end.
fn wait(child: &Child, interrupt: &Interrupt) -> Result<(ExitStatus, libc::rusage)> {
    let pid = Pid::from_child(child);
    let pidfd = pidfd_open(pid, PidfdFlags::empty()).doing("watch a command")?;
    let mut signals = [Signal::TERM, Signal::KILL].into_iter();
    loop {
        // An interrupt is noticed within a fifth of a second; the end of the command is noticed at once.
        let patience = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
        let mut ready = [PollFd::new(&pidfd, PollFlags::IN)];
        match poll(&mut ready, Some(&patience)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return reap(pid),
            Err(error) => return Err(error).doing("wait for a command"),
        }
        if interrupt.is_set()
            && let Some(signal) = signals.next()
        {
            // ESRCH: it has just ended.
            let _ = kill_process_group(pid, signal);
        }
    }
}

fn reap(pid: Pid) -> Result<(ExitStatus, libc::rusage)> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: both pointers are valid for writing; a zeroed rusage is a valid one.
        let reaped = unsafe { libc::wait4(pid.as_raw_pid(), &mut status, 0, usage.as_mut_ptr()) };
        if reaped == pid.as_raw_pid() {
            // SAFETY: zeroed above, and written by the kernel since.
            return Ok((ExitStatus::from_raw(status), unsafe { usage.assume_init() }));
        }
        let error = std::io::Error::last_os_error();
        if error.kind() != std::io::ErrorKind::Interrupted {
            return Err(error).doing("wait for a command");
        }
    }
}

fn all_of(file: &mut File) -> Result<String> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
