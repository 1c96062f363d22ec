//! Streams that cannot be opened by path: standard descriptors, shared pipes, sockets.
use super::ordered::Ordered;
use super::stream::Stream;
use crate::core::{Arena, Endpoint, EndpointKind, Facts, Op, Request, Side};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::thread;

fn ordered(fd: OwnedFd, side: Side) -> Ordered {
    Ordered::over(Facts::new("-", EndpointKind::Pipe), Stream::inherited(fd, side).unwrap(), 0)
}

fn request(op: Op, offset: u64, len: u32) -> Request {
    let buffer = Arena::map(1 << 20).unwrap().carve(len, 1).remove(0);
    let side = if op == Op::Read { Side::Source } else { Side::Dest };
    Request { slot: 0, ticket: 0, side, op, offset, len, done: 0, until: len, buffer }
}

#[test]
fn an_inherited_pipe_stays_blocking_for_other_processes() {
    let (reader, writer) = std::io::pipe().unwrap();
    let shared = OwnedFd::from(writer.try_clone().unwrap());
    let _ours = ordered(shared, Side::Dest);
    let flags = rustix::fs::fcntl_getfl(&writer).unwrap();
    assert!(!flags.contains(rustix::fs::OFlags::NONBLOCK), "{flags:?}");
    drop(reader);
}

#[test]
fn one_request_transfers_more_than_a_pipe_holds() {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let dest = ordered(writer.into(), Side::Dest);
    let drain = thread::spawn(move || {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).unwrap();
        bytes
    });
    let mut request = request(Op::Write, 0, 2 << 20);
    let pattern: Vec<u8> = (0..2u32 << 20).map(|index| (index / 3) as u8).collect();
    request.buffer.bytes_mut().copy_from_slice(&pattern);
    assert_eq!(dest.perform(&mut request).unwrap(), 2 << 20);
    drop(dest);
    assert!(drain.join().unwrap() == pattern);
}

#[test]
fn a_stream_refuses_writes_out_of_order() {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let dest = ordered(writer.into(), Side::Dest);
    assert_eq!(dest.perform(&mut request(Op::Write, 0, 100)).unwrap(), 100);
    for offset in [0, 99, 101] {
        let error = dest.perform(&mut request(Op::Write, offset, 100)).unwrap_err();
        assert!(error.to_string().contains(&format!("byte {offset} would be written at the position of byte 100")));
    }
    drop(dest);
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes.len(), 100);
}

#[test]
fn a_socket_is_read_and_written_to_its_end() {
    let (near, mut far) = UnixStream::pair().unwrap();
    let source = ordered(near.try_clone().unwrap().into(), Side::Source);
    far.write_all(b"hello world").unwrap();
    far.shutdown(std::net::Shutdown::Write).unwrap();
    let mut read = request(Op::Read, 6, 100);
    assert_eq!(source.perform(&mut read).unwrap(), 5, "what is before the offset is skipped");
    assert_eq!(&read.rest()[..5], b"world");
    read.done = 5;
    assert_eq!(source.perform(&mut read).unwrap(), 0);

    let dest = ordered(near.into(), Side::Dest);
    assert_eq!(dest.perform(&mut request(Op::Zero, 0, 100_000)).unwrap(), 100_000);
    drop((dest, source));
    let mut bytes = Vec::new();
    far.read_to_end(&mut bytes).unwrap();
    assert_eq!((bytes.len(), bytes.iter().all(|&byte| byte == 0)), (100_000, true));
}

#[test]
fn a_closed_socket_is_a_broken_pipe_and_no_signal() {
    let (near, far) = UnixStream::pair().unwrap();
    let dest = ordered(near.into(), Side::Dest);
    drop(far);
    let error = dest.perform(&mut request(Op::Write, 0, 10)).unwrap_err();
    assert_eq!(dest.diagnose(Op::Write, 0, &error), crate::core::Kind::BrokenPipe);
}

#[test]
fn a_waiting_socket_can_be_cancelled() {
    let (near, _far) = UnixStream::pair().unwrap();
    let source = ordered(near.into(), Side::Source);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| source.perform(&mut request(Op::Read, 0, 10)));
        source.cancel();
        assert_eq!(waiting.join().unwrap().unwrap_err().raw_os_error(), Some(libc::ECANCELED));
    });
}
