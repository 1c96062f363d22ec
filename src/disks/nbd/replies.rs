//! Parser for replies: in any order, in parts, with errors after data. It does no I/O.
use super::flights::{Flights, Verb};
use super::protocol::{self, Numbers, malformed, of_server, part};
use crate::core::RunKind;
use std::io::{self, IoSliceMut};

/// Number of bytes received in advance, for the headers of the following replies.
const AHEAD_BYTES: usize = 512;

/// Maximum length of an error; its message has at most 4096 bytes.
const ERROR_BYTES_MAX: u32 = 8 << 10;

/// Maximum length of a block status: a million runs.
const STATUS_BYTES_MAX: u32 = 8 << 20;

const SIMPLE_BYTES: usize = 16;
const PART_BYTES: usize = 20;

/// What the parser expects next.
#[derive(Debug)]
enum Next {
    /// The header of a reply or of a part.
    Head,
    /// Data of a read: `left` bytes, to be stored at `at`.
    Data { cookie: u64, at: u32, left: u32, is_last: bool },
    /// The rest of a part that is parsed as a whole.
    Body { part: Part, bytes: Vec<u8> },
}

/// The header of a part.
#[derive(Clone, Copy, Debug)]
struct Part {
    is_last: bool,
    kind: u16,
    cookie: u64,
    len: u32,
}

/// The received bytes and the state of the parser.
#[derive(Debug)]
pub(super) struct Replies {
    ahead: [u8; AHEAD_BYTES],
    start: usize,
    end: usize,
    next: Next,
    is_structured: bool,
    context: Option<u32>,
}

impl Replies {
    /// The initial state. `context` is the ID of base:allocation.
    pub(super) fn new(is_structured: bool, context: Option<u32>) -> Self {
        Replies { ahead: [0; AHEAD_BYTES], start: 0, end: 0, next: Next::Head, is_structured, context }
    }

    /// Calls `receive` once and parses the bytes. Returns their number, and whether more may be available; 0 bytes mean
    /// the end of the connection.
    ///
    /// # Errors
    /// The error of `receive`, or a protocol violation.
    pub(super) fn receive(
        &mut self,
        flights: &mut Flights,
        receive: impl FnOnce(&mut [IoSliceMut<'_>]) -> io::Result<usize>,
    ) -> io::Result<(usize, bool)> {
        self.ahead.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        let space = &mut self.ahead[self.end..];
        let (room, asked, received);
        match &mut self.next {
            Next::Data { cookie, at, left, .. } => {
                let flight = flights.get_replied(*cookie)?;
                let bytes = flight.room(*at, *left);
                (room, asked) = (bytes.len(), bytes.len() + space.len());
                received = receive(&mut [IoSliceMut::new(bytes), IoSliceMut::new(space)])?;
                let placed = received.min(room);
                (*at, *left) = (*at + placed as u32, *left - placed as u32);
                self.end += received - placed;
            }
            _ => {
                asked = space.len();
                received = receive(&mut [IoSliceMut::new(space)])?;
                self.end += received;
            }
        }
        while self.step(flights)? {}
        Ok((received, received == asked))
    }

    /// Parses the next element of a reply from the received bytes. False if more bytes are needed.
    fn step(&mut self, flights: &mut Flights) -> io::Result<bool> {
        let available = self.end - self.start;
        match &mut self.next {
            Next::Data { cookie, at, left, is_last } => {
                let (cookie, is_last) = (*cookie, *is_last);
                let taken = (*left).min(available as u32);
                if taken > 0 {
                    let from = &self.ahead[self.start..self.start + taken as usize];
                    flights.get_replied(cookie)?.room(*at, taken).copy_from_slice(from);
                    self.start += taken as usize;
                    (*at, *left) = (*at + taken, *left - taken);
                }
                if *left > 0 {
                    return Ok(false);
                }
                self.next = Next::Head;
                if is_last {
                    flights.end(cookie)?;
                }
                Ok(true)
            }
            Next::Body { part, bytes } => {
                let taken = (part.len as usize - bytes.len()).min(available);
                bytes.extend_from_slice(&self.ahead[self.start..self.start + taken]);
                self.start += taken;
                if bytes.len() < part.len as usize {
                    return Ok(false);
                }
                let (part, bytes) = (*part, std::mem::take(bytes));
                self.next = Next::Head;
                self.whole_part(part, &bytes, flights)?;
                Ok(true)
            }
            Next::Head => self.head(flights),
        }
    }

    fn head(&mut self, flights: &mut Flights) -> io::Result<bool> {
        let available = &self.ahead[self.start..self.end];
        let mut numbers = Numbers(available);
        match numbers.u32() {
            None => Ok(false),
            Some(protocol::SIMPLE_REPLY_MAGIC) => {
                let (Some(error), Some(cookie)) = (numbers.u32(), numbers.u64()) else { return Ok(false) };
                self.start += SIMPLE_BYTES;
                self.simple(error, cookie, flights)?;
                Ok(true)
            }
            Some(protocol::PART_MAGIC) if self.is_structured => {
                let (flags, kind, cookie, len) = (numbers.u16(), numbers.u16(), numbers.u64(), numbers.u32());
                let (Some(flags), Some(kind), Some(cookie), Some(len)) = (flags, kind, cookie, len) else {
                    return Ok(false);
                };
                let part = Part { is_last: flags & part::DONE != 0, kind, cookie, len };
                if kind != part::OFFSET_DATA {
                    self.start += PART_BYTES;
                    self.begin_body(part, flights)?;
                    return Ok(true);
                }
                let Some(offset) = numbers.u64() else { return Ok(false) };
                self.start += PART_BYTES + 8;
                let left = len.checked_sub(8).ok_or_else(|| malformed("a data chunk is too short"))?;
                let at = flights.get_replied(cookie)?.cover(offset, left)?;
                self.next = Next::Data { cookie, at, left, is_last: part.is_last };
                Ok(true)
            }
            Some(_) => Err(malformed("a reply has a wrong magic number")),
        }
    }

    fn simple(&mut self, error: u32, cookie: u64, flights: &mut Flights) -> io::Result<()> {
        let flight = flights.get_replied(cookie)?;
        if error != 0 {
            flight.fail(of_server(error, "", None));
            return flights.end(cookie);
        }
        let command = flight.command;
        if command.verb != Verb::Read {
            return flights.end(cookie);
        }
        if self.is_structured {
            return Err(malformed("a simple reply to a read"));
        }
        let at = flight.cover(command.offset, command.len)?;
        self.next = Next::Data { cookie, at, left: command.len, is_last: true };
        Ok(())
    }

    /// Parses the header of a part that is processed when it is complete.
    fn begin_body(&mut self, part: Part, flights: &mut Flights) -> io::Result<()> {
        flights.get_replied(part.cookie)?;
        let fits = match part.kind {
            part::NONE => part.len == 0 && part.is_last,
            part::OFFSET_HOLE => part.len == 12,
            part::BLOCK_STATUS => part.len >= 12 && part.len <= STATUS_BYTES_MAX,
            kind if kind & part::ERROR != 0 => part.len <= ERROR_BYTES_MAX,
            _ => return Err(malformed("a chunk of unknown type")),
        };
        if !fits {
            return Err(malformed("a chunk has an invalid length"));
        }
        self.next = Next::Body { part, bytes: Vec::with_capacity(part.len as usize) };
        Ok(())
    }

    fn whole_part(&mut self, part: Part, bytes: &[u8], flights: &mut Flights) -> io::Result<()> {
        let Part { is_last, kind, cookie, .. } = part;
        let mut numbers = Numbers(bytes);
        let flight = flights.get_replied(cookie)?;
        match kind {
            part::NONE => {}
            part::OFFSET_HOLE => {
                let hole = numbers.u64().zip(numbers.u32()).ok_or_else(|| malformed("a hole chunk is too short"))?;
                let at = flight.cover(hole.0, hole.1)?;
                flight.room(at, hole.1).fill(0);
            }
            part::BLOCK_STATUS => {
                let is_first = flight.command.verb == Verb::Status && flight.runs.is_empty();
                if !is_first || numbers.u32() != self.context {
                    return Err(malformed("a block status that was not requested"));
                }
                flight.runs = runs(numbers)?;
            }
            _ => {
                let number = numbers.u32().ok_or_else(|| malformed("an error chunk is too short"))?;
                let len = numbers.u16().map_or(0, usize::from);
                let words = numbers.take(len).ok_or_else(|| malformed("an error chunk is too short"))?;
                let offset = if kind == part::ERROR_OFFSET { numbers.u64() } else { None };
                let (from, end) = (flight.command.offset, flight.command.offset + u64::from(flight.command.len));
                let offset = offset.filter(|offset| (from..end).contains(offset));
                flight.fail(of_server(number.max(1), &String::from_utf8_lossy(words), offset));
            }
        }
        if is_last { flights.end(cookie) } else { Ok(()) }
    }
}

/// Lengths and kinds of runs. Only extents that are reported to read as zeros count as zeros.
fn runs(mut numbers: Numbers<'_>) -> io::Result<Vec<(u64, RunKind)>> {
    let mut runs: Vec<(u64, RunKind)> = Vec::new();
    while !numbers.0.is_empty() {
        let (len, status) =
            numbers.u32().zip(numbers.u32()).ok_or_else(|| malformed("a run of blocks is too short"))?;
        if len == 0 {
            return Err(malformed("an empty run of blocks"));
        }
        let kind = if status & protocol::STATUS_ZERO != 0 { RunKind::Zero } else { RunKind::Data };
        match runs.last_mut() {
            Some(last) if last.1 == kind => last.0 += u64::from(len),
            _ => runs.push((len.into(), kind)),
        }
    }
    Ok(runs)
}
