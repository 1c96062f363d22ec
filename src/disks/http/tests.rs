//! A resource without a copy around it, with a server in this process.
use super::open::{self, open_ordered};
use super::queue::HttpQueue;
use crate::core::{Arena, Completion, HttpAddress, Op, Queue, Request, Side, Transferred};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, LazyLock};
use std::thread;

const LEN: usize = 3_000_000;

fn bytes() -> &'static [u8] {
    static BYTES: LazyLock<Vec<u8>> =
        LazyLock::new(|| (0..LEN as u64).map(|at| (at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect());
    &BYTES
}

/// Serves [`bytes`]; each answer is cut after `most` bytes, or silent after them.
fn serve(has_ranges: bool, most: usize, silent: bool) -> HttpAddress {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || while answer(&stream, has_ranges, most, silent).is_some() {});
        }
    });
    HttpAddress::parse(&format!("http://127.0.0.1:{port}/x")).unwrap()
}

/// Answers one request; `None`: the connection has ended.
fn answer(mut stream: &TcpStream, has_ranges: bool, most: usize, silent: bool) -> Option<()> {
    let mut range = None;
    for line in BufReader::new(stream.try_clone().ok()?).lines() {
        let line = line.ok()?;
        if let Some(bytes) = line.strip_prefix("range: bytes=").filter(|_| has_ranges) {
            let (first, last) = bytes.split_once('-')?;
            range = Some((first.parse().ok()?, last.parse().unwrap_or(LEN - 1)));
        }
        if line.is_empty() {
            break;
        }
    }
    let (first, last) = range.unwrap_or((0, LEN - 1));
    let status = match range {
        Some(_) => format!("206 Partial Content\r\nContent-Range: bytes {first}-{last}/{LEN}"),
        None => "200 OK".to_owned(),
    };
    let len = last + 1 - first;
    let head = format!("HTTP/1.1 {status}\r\nETag: \"1\"\r\nContent-Length: {len}\r\n\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(&bytes()[first..first + len.min(most)]).ok()?;
    if len <= most {
        return Some(());
    }
    if silent {
        let _ = stream.read(&mut [0]);
    }
    stream.shutdown(Shutdown::Both).ok()?;
    None
}

fn request(slot: u32, offset: u64, len: u32) -> Request {
    let buffer = Arena::map(len as usize).unwrap().carve(len, 1).remove(0);
    Request { slot, ticket: 0, side: Side::Source, op: Op::Read, offset, len, done: 0, until: len, buffer }
}

#[test]
fn an_ordered_body_continues_by_ranges_where_a_connection_was_cut() {
    for (has_ranges, most) in [(true, 1_100_000), (true, usize::MAX), (false, usize::MAX)] {
        let facts = open::probe(&serve(has_ranges, most, false)).unwrap();
        let mut read = Vec::new();
        open_ordered(&facts).unwrap().read_to_end(&mut read).unwrap();
        assert!(read == bytes(), "{has_ranges} {most}: {} bytes", read.len());
    }
    let facts = open::probe(&serve(false, 1_100_000, false)).unwrap();
    let mut read = Vec::new();
    let error = open_ordered(&facts).unwrap().read_to_end(&mut read).unwrap_err();
    assert!(error.to_string().contains("connection was lost"), "{error}");
    assert!(read.len() <= 1_100_000 && read == bytes()[..read.len()], "{} bytes", read.len());
}

#[test]
fn requests_of_a_queue_are_filled_up_to_the_end_of_the_resource() {
    let client = open::connect(&serve(true, usize::MAX, false)).unwrap();
    let mut queue = HttpQueue::open(client).unwrap();
    let mut done: Vec<Completion> = Vec::new();
    for (slot, offset) in [(0, 0), (1, 1 << 20), (2, LEN as u64 - 100), (3, LEN as u64)] {
        queue.submit(request(slot, offset, 4096));
    }
    while done.len() < 4 {
        thread::yield_now();
        queue.reap(&mut done).unwrap();
    }
    for Completion { request, result } in done {
        let moved = [4096, 4096, 100, 0][request.slot as usize];
        assert!(matches!(result, Transferred::Moved(bytes) if bytes as usize == moved), "{result:?}");
        let at = request.offset as usize;
        assert!(request.buffer.bytes()[..moved] == bytes()[at..at + moved], "{at}");
    }
}

#[test]
fn a_queue_that_is_dropped_returns_the_memory_of_its_requests() {
    let client = open::connect(&serve(true, 1000, true)).unwrap();
    let arena = Arena::map(2 << 20).unwrap();
    for round in 0..2 {
        // Panics where memory of the last round is still in use.
        let buffers = arena.carve(1 << 20, 2);
        let mut queue = HttpQueue::open(Arc::clone(&client)).unwrap();
        for (slot, buffer) in buffers.into_iter().enumerate() {
            queue.submit(Request { buffer, ..request(slot as u32, 0, 1 << 20) });
        }
        let mut done = Vec::new();
        queue.reap(&mut done).unwrap();
        assert!(done.is_empty(), "{round}: {done:?}");
    }
}
