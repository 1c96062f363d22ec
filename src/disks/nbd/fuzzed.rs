//! Entry points for fuzzing and property tests: the client with a server that sends arbitrary bytes.
use super::flights::{Command, Flight, Flights, Memory, Verb};
use super::handshake::{Agreed, negotiate};
use super::replies::Replies;
use crate::core::RunKind;
use std::io::{self, IoSliceMut, Read, Write};

/// A server that sends these bytes regardless of the requests.
struct ByteServer<'a>(&'a [u8]);

impl Read for ByteServer<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }
}

impl Write for ByteServer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A handshake with a server that sends `bytes`. Returns the size of the export, and the minimum and maximum request
/// size.
///
/// # Errors
/// A violation of the protocol.
pub fn handshake(bytes: &[u8]) -> io::Result<(u64, u32, u32)> {
    let Agreed { size, export, .. } = negotiate(&mut ByteServer(bytes), "export")?;
    Ok((size, export.block_min_bytes, export.block_max_bytes))
}

/// The requests sent before the first reply: two reads, a write, a flush and a block status query, with cookies from 1
/// on.
pub const COMMANDS: [Command; 5] = [
    Command { verb: Verb::Read, flags: 0, offset: 0, len: 4096 },
    Command { verb: Verb::Read, flags: 0, offset: 8192, len: 512 },
    Command { verb: Verb::Write, flags: 0, offset: 0, len: 512 },
    Command { verb: Verb::Flush, flags: 0, offset: 0, len: 0 },
    Command { verb: Verb::Status, flags: 0, offset: 0, len: 1 << 20 },
];

/// ID of the metadata context base:allocation in these replies.
pub const CONTEXT: u32 = 7;

/// The result of a command: its index in [`COMMANDS`], the number of bytes or the error, the bytes read, and the runs
/// of a block status.
pub type Got = (usize, Result<u32, String>, Vec<u8>, Vec<(u64, RunKind)>);

/// Parses replies to [`COMMANDS`], received in pieces of at most `piece` bytes. Returns the completed commands, and the
/// protocol error if any.
pub fn answers(bytes: &[u8], piece: usize, is_structured: bool) -> (Vec<Got>, Option<String>) {
    let mut flights = Flights::default();
    for command in COMMANDS {
        let has_bytes = matches!(command.verb, Verb::Read | Verb::Write);
        let memory = vec![0xee; if has_bytes { command.len as usize } else { 0 }];
        let cookie = flights.begin(Flight::new(command, Memory::Bytes(memory), None));
        flights.note_sent(cookie);
    }
    let mut replies = Replies::new(is_structured, is_structured.then_some(CONTEXT));
    let mut server = bytes;
    let mut receive = |parts: &mut [IoSliceMut<'_>]| {
        let mut piece = Read::take(&mut server, piece as u64);
        piece.read_vectored(parts)
    };
    let broken = loop {
        match replies.receive(&mut flights, &mut receive) {
            Ok((0, _)) => break None,
            Ok(_) => {}
            Err(error) => break Some(error.to_string()),
        }
    };
    let got = flights.done.drain(..).map(|mut flight| {
        let index = COMMANDS
            .iter()
            .position(|reported| (reported.verb, reported.offset) == (flight.command.verb, flight.command.offset));
        let result = flight.result().map_err(|error| error.to_string());
        let Memory::Bytes(bytes) = flight.memory else { unreachable!("a call has bytes") };
        (index.expect("it was sent"), result, bytes, flight.runs)
    });
    (got.collect(), broken)
}

/// The cookie of command `index` of [`COMMANDS`].
pub fn cookie(index: usize) -> u64 {
    (index as u64 + 1) << 32 | index as u64
}
