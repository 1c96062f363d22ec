//! Runs one command in its directory: feeds it, reads its output, sends signals, and waits for it.
use super::case::{Case, Dest, Fault, Sent, Source};
use super::scene::Scene;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

/// A case takes a second; a command that takes this long hangs, even on a busy machine.
const HANGS_AFTER: Duration = Duration::from_secs(180);

/// Sizes of the pieces written into a pipe: none is a block, a page or a sector.
const PIECES: [usize; 8] = [1, 4095, 70_001, 512, 65_536, 17, 131_071, 1 << 20];

/// How a command ended, and its output.
pub struct Ended {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// It had to be killed.
    pub hung: bool,
    pub stdout: Vec<u8>,
    /// The data that it wrote to a FIFO.
    pub fifo: Vec<u8>,
    pub stderr: String,
    /// Signals that were sent before it had ended.
    pub sent: Vec<i32>,
}

/// How to run a command.
pub struct Asked<'a> {
    /// The program, and leading arguments.
    pub program: &'a [PathBuf],
    pub words: &'a [String],
    pub fault: Option<&'a Fault>,
    /// The pipe delivers everything, even if that of the case stalls.
    pub feed_all: bool,
}

/// Runs it to its end.
pub fn run(asked: &Asked<'_>, scene: &Scene, case: &Case) -> Ended {
    let mut command = Command::new(&asked.program[0]);
    command.args(&asked.program[1..]).args(asked.words).current_dir(&scene.place).env_remove("RUST_BACKTRACE");
    command.env("XDG_STATE_HOME", &scene.state).env("TMPDIR", &scene.temporary).env("HOME", &scene.temporary);
    command.stderr(Stdio::piped()).stdout(Stdio::piped()).stdin(Stdio::null());
    match case.source {
        Source::Pipe { .. } => drop(command.stdin(Stdio::piped())),
        Source::Redirected => {
            let file = File::open(scene.place.join("src")).expect("it exists");
            command.stdin(file);
        }
        _ => {}
    }
    if let Some(at) = case.dests.iter().position(|dest| *dest == Dest::Redirected) {
        let file = scene.dests[at].file.as_ref().expect("it is a file");
        command.stdout(OpenOptions::new().write(true).open(file).expect("this test created it"));
    }
    if let Some(Fault::FileSize(most)) = asked.fault {
        limit_file_size(&mut command, *most);
    }
    catch_signals(&mut command);
    let mut child = command.spawn().expect("the program runs");
    let process = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).expect("it is a child of this process");
    let over = AtomicBool::new(false);
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let mut stderr = child.stderr.take().expect("it is piped");
    let closes_after = case.dests.iter().find_map(|dest| match dest {
        Dest::Pipe { closes_after } => *closes_after,
        _ => None,
    });
    thread::scope(|scope| {
        let over = &over;
        let stalls_at = match case.source {
            Source::Pipe { stalls_at } if !asked.feed_all => stalls_at,
            _ => None,
        };
        scope.spawn(move || stdin.map(|pipe| feed(pipe, &scene.bytes, stalls_at, over)));
        if case.source == Source::Fifo {
            scope.spawn(move || feed_fifo(&scene.place.join("src-fifo"), &scene.bytes, over));
        }
        let stdout = scope.spawn(move || stdout.map_or_else(Vec::new, |pipe| take(pipe, closes_after)));
        let has_fifo = case.dests.contains(&Dest::Fifo);
        let fifo = scope.spawn(move || if has_fifo { empty_fifo(&scene.place.join("dst-fifo"), over) } else { vec![] });
        let messages = scope.spawn(move || {
            let mut messages = Vec::new();
            stderr.read_to_end(&mut messages).expect("a pipe can be read");
            String::from_utf8_lossy(&messages).into_owned()
        });
        let sent = match asked.fault {
            Some(Fault::Signals(signals)) => send(&mut child, &process, signals),
            _ => Vec::new(),
        };
        let hung = !ends_within(&process, HANGS_AFTER);
        if hung {
            let _ = pidfd_send_signal(&process, Signal::KILL);
        }
        let status = child.wait().expect("it is a child of this process");
        over.store(true, SeqCst);
        let failed = "the threads of a case do not panic";
        let (stdout, fifo) = (stdout.join().expect(failed), fifo.join().expect(failed));
        let stderr = messages.join().expect(failed);
        Ended { code: status.code(), signal: status.signal(), hung, stdout, fifo, stderr, sent }
    })
}

/// Signals that are ignored here, as SIGINT is for background processes of a shell, must not be ignored there: haul
/// would leave them ignored and never end by them.
fn catch_signals(command: &mut Command) {
    // SAFETY: signal may be called between fork and exec.
    unsafe {
        command.pre_exec(|| {
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
                if libc::signal(signal, libc::SIG_DFL) == libc::SIG_ERR {
                    return Err(std::io::Error::last_os_error());
                }
            }
            Ok(())
        });
    }
}

fn limit_file_size(command: &mut Command, most: u64) {
    // An instrumented haul would exceed the limit again when it writes its coverage data, and print an error.
    command.env("LLVM_PROFILE_FILE", "/dev/null");
    // SAFETY: setrlimit may be called between fork and exec, with a structure that lives as long as the call.
    unsafe {
        command.pre_exec(move || {
            let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
            match libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        });
    }
}

/// Whether it ended within this time.
fn ends_within(process: &OwnedFd, time: Duration) -> bool {
    let until = Instant::now() + time;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
        match poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&timeout)) {
            Ok(0) => return false,
            Ok(_) => return true,
            Err(_) => {}
        }
    }
}

/// Sends each signal at its moment; returns those that were sent before it ended.
fn send(child: &mut Child, process: &OwnedFd, signals: &[Sent]) -> Vec<i32> {
    let mut sent = Vec::new();
    for Sent { signal, when_ready, after_us } in signals {
        if *when_ready && !wait_until_ready(child.id(), process) {
            break;
        }
        if ends_within(process, Duration::from_micros(*after_us)) {
            break;
        }
        let named = Signal::from_named_raw(*signal).expect("it is a signal");
        if pidfd_send_signal(process, named).is_err() {
            break;
        }
        sent.push(*signal);
    }
    sent
}

/// Waits until it handles SIGINT; returns whether it did.
fn wait_until_ready(id: u32, process: &OwnedFd) -> bool {
    let until = Instant::now() + HANGS_AFTER;
    loop {
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0").trim();
        if u64::from_str_radix(caught, 16).unwrap_or(0) & (1 << (libc::SIGINT - 1)) != 0 {
            return true;
        }
        if Instant::now() >= until || ends_within(process, Duration::from_micros(200)) {
            return false;
        }
    }
}

fn feed(mut pipe: impl Write, bytes: &[u8], stalls_at: Option<usize>, over: &AtomicBool) {
    let mut rest = &bytes[..stalls_at.unwrap_or(bytes.len()).min(bytes.len())];
    for piece in PIECES.iter().cycle() {
        let (now, later) = rest.split_at((*piece).min(rest.len()));
        // It may end before it has read everything.
        if now.is_empty() || pipe.write_all(now).is_err() {
            break;
        }
        rest = later;
    }
    while stalls_at.is_some() && !over.load(SeqCst) {
        thread::sleep(Duration::from_millis(1));
    }
}

fn feed_fifo(path: &Path, bytes: &[u8], over: &AtomicBool) {
    // Without a reader, opening fails instead of waiting for one.
    let open = || OpenOptions::new().write(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path);
    let mut rest = bytes;
    let mut fifo = loop {
        match open() {
            Ok(fifo) => break fifo,
            Err(_) if over.load(SeqCst) => return,
            Err(_) => thread::sleep(Duration::from_millis(1)),
        }
    };
    while !rest.is_empty() {
        match fifo.write(rest) {
            Ok(written) => rest = &rest[written..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(Duration::from_micros(200)),
            Err(_) => return,
        }
    }
}

/// Reads to the end, or this number of bytes.
fn take(pipe: impl Read, closes_after: Option<u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    pipe.take(closes_after.unwrap_or(u64::MAX)).read_to_end(&mut bytes).expect("a pipe can be read");
    bytes
}

fn empty_fifo(path: &Path, over: &AtomicBool) -> Vec<u8> {
    let open = OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path);
    let (mut fifo, mut bytes, mut buffer) = (open.expect("it is a FIFO"), Vec::new(), vec![0; 65_536]);
    loop {
        // Checked before the read: nothing is added to its content after that.
        let last = over.load(SeqCst);
        match fifo.read(&mut buffer) {
            Ok(0) if last => return bytes,
            Ok(0) => thread::sleep(Duration::from_micros(200)),
            Ok(read) => bytes.extend_from_slice(&buffer[..read]),
            Err(_) if last => return bytes,
            Err(_) => thread::sleep(Duration::from_micros(200)),
        }
    }
}
