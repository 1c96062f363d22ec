//! Independent NBD servers, and connections to them that break where a test requires it.
use super::abilities::has;
use super::modelled::wait_until;
use super::running::terminate;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A server that ends with the test.
pub struct NbdServer {
    child: Child,
    socket: PathBuf,
    command: Command,
}

impl NbdServer {
    /// nbdkit, with these options after those that each test needs; `None`: it is not installed.
    pub fn nbdkit(dir: &Path, words: &[&str]) -> Option<NbdServer> {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        if !has("nbdkit") {
            return None;
        }
        let number = STARTED.fetch_add(1, SeqCst);
        let socket = dir.join(format!("socket {number}"));
        let mut command = Command::new("nbdkit");
        let log = File::create(socket.with_extension("log")).unwrap();
        command.args(["-f", "--exit-with-parent", "-U"]).arg(&socket).arg("-P").arg(socket.with_extension("ready"));
        command.args(words).stderr(log);
        let child = start(&mut command, &socket);
        Some(NbdServer { child, socket, command })
    }

    /// Kills it, so that unflushed data is lost.
    pub fn stop(&mut self) {
        self.child.kill().expect("the child has not been waited for");
        self.child.wait().expect("the child has not been waited for");
    }

    /// Kills it and restarts it at the same address.
    pub fn restart(&mut self) {
        let _ = self.child.kill();
        self.child.wait().expect("it is our child");
        for file in [&self.socket, &self.socket.with_extension("ready")] {
            std::fs::remove_file(file).expect("the server created it");
        }
        self.child = start(&mut self.command, &self.socket);
    }

    /// qemu-nbd for an image of this format; `None`: it is not installed.
    pub fn qemu(dir: &Path, words: &[&str]) -> Option<NbdServer> {
        if !has("qemu-nbd") || !has("qemu-img") {
            return None;
        }
        let socket = dir.join("qemu socket");
        let mut command = Command::new("qemu-nbd");
        command.args(["--persistent", "--shared=8", "-k"]).arg(&socket).args(words);
        let mut child = command.spawn().expect("qemu-nbd runs");
        wait_until(|| {
            assert!(child.try_wait().unwrap().is_none(), "qemu-nbd ended: {command:?}");
            UnixStream::connect(&socket).is_ok()
        });
        Some(NbdServer { child, socket, command })
    }

    /// The address of an export.
    pub fn address(&self, export: &str) -> String {
        address(&self.socket, export)
    }

    /// The same by TCP, while the test runs.
    pub fn address_by_tcp(&self, export: &str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let (port, behind) = (listener.local_addr().unwrap().port(), self.socket.clone());
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = UnixStream::connect(&behind) else { continue };
                let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                thread::spawn(move || std::io::copy(&mut from, &mut to).and_then(|_| to.shutdown(Shutdown::Write)));
                let (mut from, mut to) = (server, client);
                thread::spawn(move || std::io::copy(&mut from, &mut to).and_then(|_| to.shutdown(Shutdown::Write)));
            }
        });
        format!("nbd://127.0.0.1:{port}/{export}")
    }

    /// A proxy before it that records what passes, and pauses before it reads more from the client.
    pub fn recorded(&self, dir: &Path, pause: Duration) -> Recorded {
        let (socket, behind, bytes) = (dir.join("recorded"), self.socket.clone(), Arc::default());
        let (listener, seen) = (UnixListener::bind(&socket).expect("a socket can be created"), Arc::clone(&bytes));
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = UnixStream::connect(&behind) else { continue };
                record(client.try_clone().unwrap(), server.try_clone().unwrap(), Arc::clone(&seen), pause);
                record(server, client, Arc::clone(&seen), Duration::ZERO);
            }
        });
        Recorded { socket, bytes }
    }

    /// Saves the contents of the export by nbdcopy.
    pub fn saved_to(&self, file: &Path) {
        let _ = std::fs::remove_file(file);
        let status = Command::new("nbdcopy")
            .arg("--request-size=65536")
            .arg(self.address("").replace(' ', "%20"))
            .arg(file)
            .status();
        assert!(status.expect("nbdcopy is installed with nbdfuse").success());
    }
}

impl Drop for NbdServer {
    fn drop(&mut self) {
        terminate(&mut self.child);
    }
}

/// Starts nbdkit, and waits until it listens.
fn start(command: &mut Command, socket: &Path) -> Child {
    let ready = socket.with_extension("ready");
    let mut child = command.spawn().expect("the server runs");
    wait_until(|| {
        assert!(child.try_wait().unwrap().is_none(), "the server ended: {command:?}");
        ready.exists()
    });
    child
}

fn address(socket: &Path, export: &str) -> String {
    format!("nbd+unix:///{export}?socket={}", socket.display().to_string().replace(' ', "%20"))
}

/// A proxy that records what passes, in both directions.
pub struct Recorded {
    socket: PathBuf,
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl Recorded {
    /// The address of an export.
    pub fn address(&self, export: &str) -> String {
        address(&self.socket, export)
    }

    /// What has passed.
    pub fn bytes(&self) -> Vec<u8> {
        self.bytes.lock().unwrap().clone()
    }
}

/// Forwards bytes and records them.
fn record(mut from: UnixStream, mut to: UnixStream, seen: Arc<Mutex<Vec<u8>>>, pause: Duration) {
    thread::spawn(move || {
        let mut bytes = vec![0; 64 << 10];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            seen.lock().unwrap().extend(&bytes[..count]);
            if to.write_all(&bytes[..count]).is_err() {
                break;
            }
            thread::sleep(pause);
        }
        let _ = to.shutdown(Shutdown::Both);
    });
}

/// The direction in which bytes are counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    FromServer,
    ToServer,
}

/// A proxy for a server whose connections break after a number of bytes.
pub struct Breaking {
    socket: PathBuf,
    /// Number of connections.
    made: Arc<AtomicUsize>,
}

impl Breaking {
    /// Connections to `server`: number `n` (from 0) breaks after `after(n)` bytes in direction `way`, or never if
    /// that is `None`.
    pub fn new(dir: &Path, server: &NbdServer, way: Way, after: fn(usize) -> Option<usize>) -> Breaking {
        let (socket, behind) = (dir.join("breaking"), server.socket.clone());
        let listener = UnixListener::bind(&socket).expect("a socket can be created");
        let made = Arc::new(AtomicUsize::new(0));
        let counted = made.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let number = counted.fetch_add(1, SeqCst);
                let Ok(server) = UnixStream::connect(&behind) else { continue };
                let most = after(number).unwrap_or(usize::MAX);
                let [to, from] = [Way::ToServer, Way::FromServer].map(|it| if it == way { most } else { usize::MAX });
                pass(client.try_clone().unwrap(), server.try_clone().unwrap(), to);
                pass(server, client, from);
            }
        });
        Breaking { socket, made }
    }

    /// The address of an export.
    pub fn address(&self, export: &str) -> String {
        address(&self.socket, export)
    }

    /// Number of connections.
    pub fn made(&self) -> usize {
        self.made.load(SeqCst)
    }
}

/// Forwards bytes; after `most` of them both connections end.
fn pass(mut from: UnixStream, mut to: UnixStream, most: usize) {
    thread::spawn(move || {
        let (mut passed, mut bytes) = (0, vec![0; 64 << 10]);
        while let Ok(count) = from.read(&mut bytes) {
            let count = count.min(most - passed);
            passed += count;
            if count == 0 || to.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    });
}
