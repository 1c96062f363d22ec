//! Commands in flight, and the parts of their replies that have been received.
use super::protocol::{self, malformed};
use crate::core::{Request, RunKind, locked};
use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex};

/// The operation of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Read bytes.
    Read,
    /// Write bytes.
    Write,
    /// Flush.
    Flush,
    /// Write zeroes.
    Zero,
    /// Query the block status.
    Status,
}

impl Verb {
    fn number(self) -> u16 {
        match self {
            Verb::Read => 0,
            Verb::Write => 1,
            Verb::Flush => 3,
            Verb::Zero => 6,
            Verb::Status => 7,
        }
    }
}

/// A command to a server.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// The operation.
    pub verb: Verb,
    /// Command flags.
    pub flags: u16,
    /// Offset in the export.
    pub offset: u64,
    /// Length in bytes.
    pub len: u32,
}

/// The memory of a command.
#[derive(Debug)]
pub(super) enum Memory {
    /// A request of a queue: the first bytes of its current transfer.
    Request(Request),
    /// The buffer of a blocking call.
    Bytes(Vec<u8>),
}

/// A command, its memory, and the received parts of its reply.
#[derive(Debug)]
pub(super) struct Flight {
    pub(super) command: Command,
    pub(super) memory: Memory,
    /// The thread that waits for it; `None` for the queue.
    pub(super) caller: Option<Arc<Caller>>,
    /// Identifies the reply to this command.
    cookie: u64,
    /// Whether it was sent completely, so that a reply may follow.
    sent: bool,
    covered: Covered,
    error: Option<io::Error>,
    /// The reply to a block status query: consecutive lengths and kinds.
    pub(super) runs: Vec<(u64, RunKind)>,
}

impl Flight {
    pub(super) fn new(command: Command, memory: Memory, caller: Option<Arc<Caller>>) -> Self {
        let (covered, runs) = (Covered::default(), Vec::new());
        Flight { command, memory, caller, cookie: 0, sent: false, covered, error: None, runs }
    }

    /// The request header, without data.
    pub(super) fn head(&self) -> [u8; protocol::REQUEST_BYTES] {
        let Command { verb, flags, offset, len } = self.command;
        let mut head = [0; protocol::REQUEST_BYTES];
        head[..4].copy_from_slice(&protocol::REQUEST_MAGIC.to_be_bytes());
        head[4..6].copy_from_slice(&flags.to_be_bytes());
        head[6..8].copy_from_slice(&verb.number().to_be_bytes());
        head[8..16].copy_from_slice(&self.cookie.to_be_bytes());
        head[16..24].copy_from_slice(&offset.to_be_bytes());
        head[24..].copy_from_slice(&len.to_be_bytes());
        head
    }

    /// The data that follows the header.
    pub(super) fn data(&self) -> &[u8] {
        let len = self.command.len as usize;
        match &self.memory {
            _ if self.command.verb != Verb::Write => &[],
            Memory::Request(request) => &request.rest()[..len],
            Memory::Bytes(bytes) => &bytes[..len],
        }
    }

    /// The memory for bytes `at..at + len` of the reply to a read.
    pub(super) fn room(&mut self, at: u32, len: u32) -> &mut [u8] {
        let part = at as usize..(at + len) as usize;
        match &mut self.memory {
            Memory::Request(request) => &mut request.rest_mut()[part],
            Memory::Bytes(bytes) => &mut bytes[part],
        }
    }

    /// Marks `len` bytes from `offset` of the export on as part of the reply to a read. Returns their position in it.
    pub(super) fn cover(&mut self, offset: u64, len: u32) -> io::Result<u32> {
        if self.command.verb != Verb::Read {
            return Err(malformed("data in the reply to a command other than a read"));
        }
        let at = offset.checked_sub(self.command.offset).and_then(|at| u32::try_from(at).ok());
        let fits = |at: &u32| len > 0 && at.checked_add(len).is_some_and(|end| end <= self.command.len);
        let at = at.filter(fits);
        let at = at.ok_or_else(|| malformed("data outside the requested range"))?;
        if !self.covered.add(at, at + len) {
            return Err(malformed("the same data twice in one reply"));
        }
        Ok(at)
    }

    /// Records that the command failed. Only the first error counts.
    pub(super) fn fail(&mut self, error: io::Error) {
        self.error.get_or_insert(error);
    }

    /// Checks that a complete reply has everything that was requested.
    pub(super) fn check_complete(&self) -> io::Result<()> {
        match self.command.verb {
            _ if self.error.is_some() => Ok(()),
            Verb::Read if !self.covered.is_all(self.command.len) => Err(malformed("a reply lacks data")),
            Verb::Status if self.runs.is_empty() => Err(malformed("a reply lacks the block status")),
            _ => Ok(()),
        }
    }

    /// Number of bytes transferred, or the error.
    pub(super) fn result(&mut self) -> io::Result<u32> {
        self.error.take().map_or(Ok(self.command.len), Err)
    }

    /// Resets it to the state before it was sent.
    fn reset(&mut self) {
        self.sent = false;
        self.covered = Covered::default();
        self.error = None;
        self.runs.clear();
    }
}

/// A thread that waits for a reply, which any thread may deliver.
#[derive(Debug)]
pub(super) struct Caller {
    reply: Mutex<Option<Flight>>,
    event: OwnedFd,
}

impl Caller {
    /// # Errors
    /// No file descriptor is available.
    pub(super) fn new() -> io::Result<Self> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Caller { reply: Mutex::new(None), event })
    }

    /// Delivers the reply.
    pub(super) fn answer(&self, flight: Flight) {
        *locked(&self.reply) = Some(flight);
        self.wake();
    }

    /// Wakes the thread, because its connection has changed.
    pub(super) fn wake(&self) {
        // Fails only if the counter is full; the descriptor is readable then anyway.
        rustix::io::write(&self.event, &1u64.to_ne_bytes()).ok();
    }

    /// The reply, if it was delivered. Resets the eventfd.
    pub(super) fn take(&self) -> Option<Flight> {
        rustix::io::read(&self.event, &mut [0; 8]).ok();
        locked(&self.reply).take()
    }

    /// Readable if a reply may have been delivered.
    pub(super) fn event(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

/// The extents of a reply that were received.
#[derive(Debug, Default)]
struct Covered {
    /// Ascending and not adjacent.
    parts: Vec<(u32, u32)>,
}

impl Covered {
    /// Adds an extent. False if some of its bytes were received before.
    fn add(&mut self, start: u32, end: u32) -> bool {
        let next = self.parts.partition_point(|part| part.1 < start);
        let last = self.parts.partition_point(|part| part.0 <= end);
        let (mut from, mut to) = (start, end);
        for &(left, right) in &self.parts[next..last] {
            if left < end && start < right {
                return false;
            }
            (from, to) = (from.min(left), to.max(right));
        }
        self.parts.splice(next..last, [(from, to)]);
        true
    }

    fn is_all(&self, len: u32) -> bool {
        len == 0 || self.parts == [(0, len)]
    }
}

/// All commands of a connection.
#[derive(Debug, Default)]
pub(super) struct Flights {
    slots: Vec<Option<Flight>>,
    free: Vec<usize>,
    begun: u32,
    /// Completed or failed commands.
    pub(super) done: Vec<Flight>,
}

impl Flights {
    /// Adds a command and returns its cookie.
    pub(super) fn begin(&mut self, mut flight: Flight) -> u64 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.begun = self.begun.wrapping_add(1);
        flight.cookie = u64::from(self.begun) << 32 | index as u64;
        let cookie = flight.cookie;
        self.slots[index] = Some(flight);
        cookie
    }

    /// Number of commands without a complete reply.
    pub(super) fn count(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// The command with this cookie.
    pub(super) fn get(&mut self, cookie: u64) -> Option<&mut Flight> {
        let flight = self.slots.get_mut((cookie & u64::from(u32::MAX)) as usize)?.as_mut()?;
        (flight.cookie == cookie).then_some(flight)
    }

    /// The same, immutable.
    pub(super) fn look(&self, cookie: u64) -> Option<&Flight> {
        let flight = self.slots.get((cookie & u64::from(u32::MAX)) as usize)?.as_ref()?;
        (flight.cookie == cookie).then_some(flight)
    }

    /// The command with the cookie of a reply; an error if there is none.
    pub(super) fn get_replied(&mut self, cookie: u64) -> io::Result<&mut Flight> {
        let flight = self.get(cookie).filter(|flight| flight.sent);
        flight.ok_or_else(|| malformed("a reply to a command that was not sent"))
    }

    /// Records that the command was sent completely.
    pub(super) fn note_sent(&mut self, cookie: u64) {
        self.get(cookie).into_iter().for_each(|flight| flight.sent = true);
    }

    /// Completes a command after its reply was received.
    pub(super) fn end(&mut self, cookie: u64) -> io::Result<()> {
        self.get_replied(cookie)?.check_complete()?;
        self.take(cookie);
        Ok(())
    }

    fn take(&mut self, cookie: u64) {
        let index = (cookie & u64::from(u32::MAX)) as usize;
        self.free.push(index);
        self.done.extend(self.slots[index].take());
    }

    fn cookies(&self) -> Vec<u64> {
        let mut cookies: Vec<u64> = self.slots.iter().flatten().map(|flight| flight.cookie).collect();
        cookies.sort_unstable();
        cookies
    }

    /// Resets all commands to the state before they were sent, and returns their cookies, oldest first.
    pub(super) fn reset(&mut self) -> Vec<u64> {
        self.slots.iter_mut().flatten().for_each(Flight::reset);
        self.cookies()
    }

    /// Fails all commands without a complete reply.
    pub(super) fn fail_all(&mut self, error: impl Fn() -> io::Error) {
        for cookie in self.cookies() {
            self.get(cookie).into_iter().for_each(|flight| {
                flight.error = Some(error());
            });
            self.take(cookie);
        }
    }

    /// Forgets the commands of the queue. False if none of them was waiting for a reply.
    pub(super) fn abandon(&mut self) -> bool {
        let before = self.count();
        for cookie in self.cookies() {
            if self.look(cookie).is_some_and(|flight| flight.caller.is_none()) {
                self.take(cookie);
            }
        }
        self.done.retain(|flight| flight.caller.is_some());
        self.count() < before
    }

    /// The threads that wait for commands.
    pub(super) fn callers(&self) -> impl Iterator<Item = &Arc<Caller>> {
        self.slots.iter().flatten().filter_map(|flight| flight.caller.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bytes_are_covered_once_and_in_any_order(parts in proptest::collection::vec((0u32..40, 1u32..9), 0..20)) {
            let (mut covered, mut model) = (Covered::default(), [false; 64]);
            for (start, len) in parts {
                let bytes = &mut model[start as usize..(start + len) as usize];
                let is_new = bytes.iter().all(|byte| !byte);
                prop_assert_eq!(covered.add(start, start + len), is_new);
                if is_new {
                    bytes.fill(true);
                }
                for len in 1..64 {
                    let all = model.iter().take_while(|byte| **byte).count() == len && !model[len..].contains(&true);
                    prop_assert_eq!(covered.is_all(len as u32), all);
                }
            }
        }
    }
}
