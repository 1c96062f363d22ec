//! Servers that haul starts: each gets its socket by socket activation, and ends with haul.
use super::protocol::failure;
use crate::core::{Kind, ServerProgram, Side, locked};
use crate::files;
use crate::sys;
use rustix::process::{Pid, Signal, kill_process};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// The servers that were started, until [`stop`].
static STARTED: Mutex<Vec<Server>> = Mutex::new(Vec::new());

/// Passes standard input on as the socket of socket activation: the number in LISTEN_PID must be that of the process.
const ACTIVATION: &str = "export LISTEN_PID=$$ LISTEN_FDS=1; exec \"$@\" 3<&0 </dev/null";

/// The time that a server has to end when it is asked to.
const ENDS_WITHIN: Duration = Duration::from_secs(10);

/// The time after which a server that closed a connection has ended, if it has.
const IS_ENDED_WITHIN: Duration = Duration::from_millis(500);

struct Server {
    program: ServerProgram,
    child: Child,
    /// Its socket, which has no name any more.
    socket: OwnedFd,
}

/// The path of the socket of `program`, which is started if it does not run.
///
/// # Errors
/// No process, descriptor or temporary directory is left; or it has ended.
pub(super) fn socket(program: &ServerProgram) -> io::Result<PathBuf> {
    let mut started = locked(&STARTED);
    if let Some(server) = find(&mut started, program) {
        return match server.child.try_wait()? {
            Some(status) => Err(has_ended(program, status)),
            None => Ok(server.path()),
        };
    }
    let server = Server::start(program)?;
    let path = server.path();
    started.push(server);
    Ok(path)
}

/// The server of `program`. A destination that is read, for an estimate, is the one that is written.
fn find<'a>(started: &'a mut [Server], program: &ServerProgram) -> Option<&'a mut Server> {
    let serves =
        |server: &Server, side: Side| server.program.side == side && server.program.to_string() == program.to_string();
    let sides = [program.side, Side::Dest];
    let at = sides.into_iter().find_map(|side| started.iter().position(|server| serves(server, side)))?;
    started.get_mut(at)
}

/// The error of connecting to `program`: if the program has ended, that is why it failed.
pub(super) fn explained(program: &ServerProgram, error: io::Error) -> io::Error {
    let began = Instant::now();
    while began.elapsed() < IS_ENDED_WITHIN {
        let mut started = locked(&STARTED);
        if let Some(Ok(Some(status))) = find(&mut started, program).map(|server| server.child.try_wait()) {
            return has_ended(program, status);
        }
        drop(started);
        thread::sleep(Duration::from_millis(10));
    }
    error
}

/// Ends all servers, and waits for them: one that serves an image writes what it has in memory.
pub(super) fn stop() {
    for mut server in locked(&STARTED).drain(..) {
        let pid = Pid::from_child(&server.child);
        let _ = kill_process(pid, Signal::TERM);
        let began = Instant::now();
        while matches!(server.child.try_wait(), Ok(None)) {
            if began.elapsed() > ENDS_WITHIN {
                let _ = server.child.kill();
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
}

fn has_ended(program: &ServerProgram, status: ExitStatus) -> io::Error {
    let name = &program.words[0];
    let advice = match status.code() {
        Some(127) => "Install it, or give its path.",
        _ if program.is_of_image() => "Check that the image exists and has this format.",
        _ => "Run it alone to see what it needs.",
    };
    failure(Kind::Open, format!("its server {name} ended with {status}; see its message above"), advice)
}

impl Server {
    fn start(program: &ServerProgram) -> io::Result<Server> {
        let (listener, socket) = files::nameless_socket()?;
        let mut command = Command::new("/bin/sh");
        command.args(["-c", ACTIVATION, "haul"]).args(&program.words);
        // In a process group of its own: ^C ends the copy in good order, and the server after it.
        command.stdin(OwnedFd::from(listener)).process_group(0);
        // What it prints is no data of the copy.
        command.stdout(Stdio::from(io::stderr().as_fd().try_clone_to_owned()?));
        sys::bind_to_parent(&mut command);
        Ok(Server { program: program.clone(), child: command.spawn()?, socket })
    }

    /// A name under which it can be reached, by this process alone.
    fn path(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.socket.as_raw_fd()).into()
    }
}
