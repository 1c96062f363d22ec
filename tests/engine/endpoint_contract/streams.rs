//! FIFOs by path: blocking calls, and cancelling them.
use super::moving::{Door, pattern, request};
use super::places::side;
use crate::support::ScratchDir;
use haul::core::{Cache, Endpoint, EndpointKind, Existing, Facts, Kind, Op, PlanSide};
use haul::disks::{open_dest, open_source};
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;

struct Fifo {
    _dir: ScratchDir,
    path: PathBuf,
    facts: Facts,
}

impl Fifo {
    fn new() -> Self {
        let dir = crate::support::ScratchDir::below(std::env::temp_dir()).unwrap();
        let path = dir.path().join("fifo");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
        let mut facts = Facts::new(&path.to_string_lossy(), EndpointKind::Pipe);
        haul::disks::pipe::probe(&path, &mut facts).unwrap();
        Fifo { _dir: dir, path, facts }
    }

    fn side(&self) -> PlanSide {
        side(&self.path, &self.facts, Cache::Keep, Existing::Keep)
    }

    /// Both ends, held by this process, so that no open blocks; dropping it closes the other end.
    fn other_end(&self) -> File {
        OpenOptions::new().read(true).write(true).open(&self.path).unwrap()
    }
}

/// Runs `call` in a thread, waits until that thread sleeps in the kernel, and cancels.
fn cancel_while_blocked(endpoint: &dyn Endpoint, call: impl FnOnce() -> std::io::Result<u32> + Send) {
    thread::scope(|scope| {
        let (tell, reported) = mpsc::channel();
        let waiting = scope.spawn(move || {
            tell.send(rustix::thread::gettid().as_raw_nonzero()).unwrap();
            call()
        });
        let status = format!("/proc/self/task/{}/syscall", reported.recv().unwrap());
        // Only root can read the system call in which it sleeps; every user can read its state.
        while fs::read_to_string(&status).is_ok_and(|text| text.starts_with("running")) {
            thread::yield_now();
        }
        endpoint.cancel();
        let error = waiting.join().unwrap().unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ECANCELED));
    });
}

#[test]
fn a_blocked_read_of_a_pipe_can_be_cancelled() {
    let fifo = Fifo::new();
    let _writer = fifo.other_end();
    let source = open_source(&fifo.side(), &fifo.facts).unwrap();
    cancel_while_blocked(&*source, || source.perform(&mut request(Op::Read, 0, 100)));
    let again = source.perform(&mut request(Op::Read, 0, 100)).unwrap_err();
    assert_eq!(again.raw_os_error(), Some(libc::ECANCELED), "and from now on");
}

#[test]
fn a_blocked_write_to_a_pipe_can_be_cancelled() {
    let fifo = Fifo::new();
    let _reader = fifo.other_end();
    let dest = open_dest(&fifo.side(), &fifo.facts).unwrap();
    let mut at = 0;
    // A pipe of any size is full after enough writes.
    cancel_while_blocked(&*dest, || {
        loop {
            at += u64::from(dest.perform(&mut request(Op::Write, at, 1 << 20))?);
        }
    });
}

#[test]
fn a_pipe_delivers_bytes_in_order_and_then_ends() {
    let fifo = Fifo::new();
    let path = fifo.path.clone();
    let bytes = pattern(3_000_000);
    let writer = thread::spawn({
        let bytes = bytes.clone();
        move || OpenOptions::new().write(true).open(path).unwrap().write_all(&bytes).unwrap()
    });
    let source = open_source(&fifo.side(), &fifo.facts).unwrap();
    // The first 1000 bytes are skipped, as with --skip.
    let mut got = Vec::new();
    loop {
        let piece = Door::Calls.read(&*source, 1000 + got.len() as u64, 300_000);
        if piece.is_empty() {
            break;
        }
        got.extend(piece);
    }
    writer.join().unwrap();
    assert!(got == bytes[1000..]);
}

#[test]
fn zeros_and_bytes_reach_the_reader_of_a_pipe() {
    let fifo = Fifo::new();
    let path = fifo.path.clone();
    let reader = thread::spawn(move || {
        let mut bytes = Vec::new();
        File::open(path).unwrap().read_to_end(&mut bytes).unwrap();
        bytes
    });
    let dest = open_dest(&fifo.side(), &fifo.facts).unwrap();
    Door::Calls.write(&*dest, 0, &pattern(100_000));
    Door::Calls.zero(&*dest, 100_000, 2_000_000);
    Door::Calls.write(&*dest, 2_100_000, b"end");
    drop(dest);
    let expected = [pattern(100_000), vec![0; 2_000_000], b"end".to_vec()].concat();
    assert!(reader.join().unwrap() == expected);
}

#[test]
fn a_pipe_without_a_reader_is_broken() {
    let fifo = Fifo::new();
    let reader = fifo.other_end();
    let dest = open_dest(&fifo.side(), &fifo.facts).unwrap();
    drop(reader);
    let error = dest.perform(&mut request(Op::Write, 0, 100)).unwrap_err();
    assert_eq!(dest.diagnose(Op::Write, 0, &error), Kind::BrokenPipe);
}
