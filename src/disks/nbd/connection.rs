//! A connection to a server: sends commands and receives replies, from any thread.
use super::flights::{Flight, Flights};
use super::handshake::{Agreed, negotiate, negotiate_secured};
use super::kept;
use super::programs;
use super::protocol::{REQUEST_BYTES, disconnected, failure, in_words};
use super::replies::Replies;
use super::socket::Socket;
use crate::core::{DeviceError, Kind, NbdAddress, NbdServer};
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::os::fd::AsFd;
use std::sync::Arc;

/// Maximum number of commands that are sent by one call.
const SENT_AT_ONCE: usize = 16;

/// Maximum number of consecutive reconnects without a completed command.
const IDLE_RECONNECTS_MAX: u32 = 5;

/// A connection and its commands, including recovery from a lost connection.
#[derive(Debug)]
pub(super) struct Connection {
    /// `None` if the connection was lost.
    socket: Option<Arc<Socket>>,
    /// Incremented with each new socket.
    pub(super) generation: u32,
    agreed: Agreed,
    flights: Flights,
    replies: Replies,
    /// Cookies of the commands to send.
    pending: VecDeque<u64>,
    /// Number of bytes of the first one that were sent.
    sent_bytes: usize,
    /// Completed commands that the queue has not taken yet.
    of_queue: Vec<Flight>,
    /// Number of reconnects since the last completed command.
    idle_reconnects: u32,
    /// Why the connection was lost permanently.
    lost: Option<String>,
}

/// Connects and negotiates the export with the server.
///
/// # Errors
/// The kernel's error; a [`DeviceError`] if the server reports an error or does not respond.
pub(super) fn connect(address: &NbdAddress) -> io::Result<(Socket, Agreed)> {
    let program = match &address.server {
        NbdServer::Program(program) => kept::take(program),
        NbdServer::Tcp { .. } | NbdServer::Unix(_) => None,
    };
    if let Some(kept) = program {
        return Ok(kept);
    }
    negotiated(address).map_err(|error| match &address.server {
        NbdServer::Program(program) => programs::explained(program, error),
        NbdServer::Tcp { .. } | NbdServer::Unix(_) => error,
    })
}

fn negotiated(address: &NbdAddress) -> io::Result<(Socket, Agreed)> {
    let mut socket = Socket::connect(&address.server)?;
    let agreed = match &address.tls {
        None => negotiate(&mut socket, &address.export),
        Some(_) => negotiate_secured(&mut socket, &address.export, |socket| socket.secure(address)),
    };
    let agreed = agreed.map_err(in_handshake)?;
    socket.stop_blocking()?;
    Ok((socket, agreed))
}

/// The error of a handshake as text: the kernel's error alone would not show that it was in the handshake.
fn in_handshake(error: io::Error) -> io::Error {
    if DeviceError::of(&error).is_some() {
        return error;
    }
    let why = match error.kind() {
        io::ErrorKind::UnexpectedEof => "it closed the connection".to_owned(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => "it did not answer before the time limit".to_owned(),
        _ => in_words(&error),
    };
    failure(Kind::Open, format!("the handshake with the NBD server failed: {why}"), "Check the host and the port.")
}

impl Connection {
    /// A connection that is ready for commands.
    pub(super) fn new(socket: Socket, agreed: Agreed) -> Self {
        let replies = Replies::new(agreed.export.structured_replies, agreed.context);
        let (flights, pending, of_queue) = Default::default();
        let socket = Some(Arc::new(socket));
        let (generation, sent_bytes, idle_reconnects, lost) = (1, 0, 0, None);
        Connection {
            socket,
            generation,
            agreed,
            flights,
            replies,
            pending,
            sent_bytes,
            of_queue,
            idle_reconnects,
            lost,
        }
    }

    /// Whether the connection is lost permanently.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// Whether data waits for buffer space in the socket.
    pub(super) fn has_to_send(&self) -> bool {
        !self.pending.is_empty() || self.socket.as_ref().is_some_and(|socket| socket.has_to_send())
    }

    /// Submits a command.
    pub(super) fn submit(&mut self, flight: Flight) {
        let cookie = self.flights.begin(flight);
        match &self.lost {
            Some(why) => self.flights.fail_all(|| disconnected(why)),
            None => self.pending.push_back(cookie),
        }
    }

    /// Sends as much as the socket accepts.
    ///
    /// # Errors
    /// An error that ends the connection.
    pub(super) fn send(&mut self) -> io::Result<()> {
        let Some(socket) = self.socket.clone() else { return Ok(()) };
        match socket.send_rest() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            rest => rest?,
        }
        while !self.pending.is_empty() {
            let (sent, whole) = match self.send_some(&socket) {
                Ok(sent) => sent,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.note_sent(sent);
            if sent < whole {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Makes one call. Returns the number of bytes sent, and the number that were to be sent.
    fn send_some(&mut self, socket: &Socket) -> io::Result<(usize, usize)> {
        let mut heads = [[0; REQUEST_BYTES]; SENT_AT_ONCE];
        for (head, cookie) in heads.iter_mut().zip(&self.pending) {
            *head = self.flights.get(*cookie).map_or([0; REQUEST_BYTES], |flight| flight.head());
        }
        let mut parts: [IoSlice<'_>; 2 * SENT_AT_ONCE] = std::array::from_fn(|_| IoSlice::new(&[]));
        let (mut count, mut whole, mut skip) = (0, 0, self.sent_bytes);
        for (head, cookie) in heads.iter().zip(&self.pending) {
            for part in [&head[..], self.flights.look(*cookie).map_or(&[][..], Flight::data)] {
                let skipped = skip.min(part.len());
                skip -= skipped;
                parts[count] = IoSlice::new(&part[skipped..]);
                whole += part.len() - skipped;
                count += usize::from(part.len() > skipped);
            }
        }
        Ok((socket.send(&parts[..count])?, whole))
    }

    fn note_sent(&mut self, bytes: usize) {
        self.sent_bytes += bytes;
        while let Some(cookie) = self.pending.front().copied() {
            let len = REQUEST_BYTES + self.flights.look(cookie).map_or(0, |flight| flight.data().len());
            if self.sent_bytes < len {
                return;
            }
            self.sent_bytes -= len;
            self.flights.note_sent(cookie);
            self.pending.pop_front();
        }
    }

    /// Receives the available bytes.
    ///
    /// # Errors
    /// An error that ends the connection.
    pub(super) fn receive(&mut self) -> io::Result<()> {
        let Some(socket) = self.socket.clone() else { return Ok(()) };
        loop {
            match self.replies.receive(&mut self.flights, |parts| socket.receive(parts)) {
                Ok((0, _)) => return Err(io::Error::other("the server closed it")),
                Ok((_, true)) => {}
                Ok((_, false)) if !socket.holds_back() => return Ok(()),
                Ok((_, false)) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Passes completed commands to waiting threads, and returns those for the queue.
    pub(super) fn hand_out(&mut self) -> &mut Vec<Flight> {
        if !self.flights.done.is_empty() {
            self.idle_reconnects = 0;
        }
        for mut flight in self.flights.done.drain(..) {
            match flight.caller.take() {
                Some(caller) => caller.answer(flight),
                None => self.of_queue.push(flight),
            }
        }
        &mut self.of_queue
    }

    /// Whether reconnecting may help: false after several attempts without a completed command.
    pub(super) fn may_be_restored(&self) -> bool {
        self.idle_reconnects < IDLE_RECONNECTS_MAX
    }

    /// Drops the socket. The commands remain until they are sent again or fail.
    pub(super) fn disconnect(&mut self) {
        if let Some(socket) = self.socket.take() {
            socket.shut_down();
        }
    }

    /// Fails all current and later commands.
    pub(super) fn abandon(&mut self, why: &str) {
        self.disconnect();
        self.pending.clear();
        self.lost = Some(why.to_owned());
        self.flights.fail_all(|| disconnected(why));
    }

    /// Sends all unanswered commands again on another socket, and wakes the threads that wait for them.
    pub(super) fn resume_with(&mut self, socket: Socket) {
        self.socket = Some(Arc::new(socket));
        self.generation += 1;
        self.idle_reconnects += 1;
        self.replies = Replies::new(self.agreed.export.structured_replies, self.agreed.context);
        self.pending = self.flights.reset().into();
        self.sent_bytes = 0;
        self.flights.callers().for_each(|caller| caller.wake());
    }

    /// Forgets the commands of the queue. If replies are outstanding, the connection ends, because they could not be
    /// assigned.
    pub(super) fn abandon_queue(&mut self) {
        self.of_queue.clear();
        if self.flights.abandon() {
            self.abandon("haul closed it");
        }
    }

    /// Sends a disconnect request, if the socket accepts it immediately.
    pub(super) fn close(&mut self) {
        let is_idle = self.flights.count() == 0 && self.pending.is_empty();
        if let Some(socket) = self.socket.as_ref().filter(|_| is_idle) {
            let mut head = [0; REQUEST_BYTES];
            head[..4].copy_from_slice(&super::protocol::REQUEST_MAGIC.to_be_bytes());
            head[7] = super::protocol::DISCONNECT;
            socket.send(&[IoSlice::new(&head)]).ok();
        }
        self.disconnect();
    }

    /// The socket to poll, and whether to poll for buffer space too.
    pub(super) fn waits_for(&self) -> Option<(Arc<Socket>, bool)> {
        Some((self.socket.clone()?, self.has_to_send()))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.close();
    }
}

/// A descriptor to poll.
pub(super) fn polled(fd: &impl AsFd, events: i16) -> libc::pollfd {
    use std::os::fd::AsRawFd;
    libc::pollfd { fd: fd.as_fd().as_raw_fd(), events, revents: 0 }
}
