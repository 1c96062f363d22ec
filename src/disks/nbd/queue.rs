//! A queue of requests to a server.
use super::client::{CONNECTIONS_MAX, Can, Client};
use super::flights::{Flight, Memory};
use super::protocol::kind_of;
use super::requests::{command_of, is_whole};
use crate::core::{Completion, Op, Queue, Ready, Request, Transferred, locked};
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

/// Maximum number of events that are taken at once: one of each connection, and that of other threads.
const READY_MAX: usize = CONNECTIONS_MAX + 1;

/// A queue of requests to a server, over all its connections.
pub(super) struct NbdQueue {
    client: Arc<Client>,
    /// Watches all sockets, and the eventfd that other threads signal.
    epoll: OwnedFd,
    links: Vec<Watched>,
    in_flight: u32,
    received: Vec<Flight>,
    finished: Vec<Completion>,
    /// Whether poll reported no event.
    is_quiet: bool,
}

/// How a connection is watched: its socket and the events.
#[derive(Clone, Copy, Default)]
struct Watched {
    generation: u32,
    for_room: bool,
}

impl NbdQueue {
    /// A queue over all connections of `client`.
    ///
    /// # Errors
    /// No file descriptor is available.
    pub(super) fn open(client: Arc<Client>) -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, client.event(), EventData::new_u64(u64::MAX), EventFlags::IN)?;
        let links = vec![Watched::default(); client.links().len()];
        let (received, finished) = Default::default();
        let mut queue = NbdQueue { client, epoll, links, in_flight: 0, received, finished, is_quiet: false };
        (0..queue.links.len()).try_for_each(|link| queue.watch(link))?;
        Ok(queue)
    }

    /// Watches the current socket of a connection: always for replies, and for buffer space if data is to be sent.
    fn watch(&mut self, link: usize) -> io::Result<()> {
        let connection = locked(&self.client.links()[link]);
        let Some((socket, for_room)) = connection.waits_for() else { return Ok(()) };
        let (now, before) = (Watched { generation: connection.generation, for_room }, self.links[link]);
        let events = if for_room { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN };
        let data = EventData::new_u64(link as u64);
        if now.generation != before.generation {
            // The kernel stops watching a closed socket.
            epoll::add(&self.epoll, &*socket, data, events)?;
        } else if for_room != before.for_room {
            epoll::modify(&self.epoll, &*socket, data, events)?;
        }
        self.links[link] = now;
        Ok(())
    }

    /// Receives where bytes wait: a call to another connection would find nothing.
    fn receive_ready(&mut self) -> io::Result<()> {
        let mut events = [epoll::Event { flags: EventFlags::empty(), data: EventData::new_u64(0) }; READY_MAX];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let count = match epoll::wait(&self.epoll, &mut events[..], Some(&now)) {
            // The next call asks again.
            Err(Errno::INTR) => 0,
            count => count?,
        };
        for event in &events[..count] {
            let (flags, data) = (event.flags, event.data);
            match usize::try_from(data.u64()) {
                Ok(link) if link < self.links.len() => {
                    // Errors and the end of the connection are reported by receiving.
                    let send = !self.links[link].for_room || flags.contains(EventFlags::OUT);
                    let receive = flags.intersects(!EventFlags::OUT);
                    self.drive(link, Can { send, receive })?;
                }
                // Another thread received for the queue, or gave a connection another socket.
                _ => {
                    self.client.reset_event();
                    (0..self.links.len()).try_for_each(|link| self.drive(link, Can::BOTH))?;
                }
            }
        }
        Ok(())
    }

    fn drive(&mut self, link: usize, can: Can) -> io::Result<()> {
        self.client.drive(link, can, Some(&mut self.received));
        self.watch(link)
    }

    fn complete_received(&mut self) {
        for mut flight in self.received.drain(..) {
            let result = flight.result();
            let command = flight.command;
            let Memory::Request(request) = flight.memory else { continue };
            self.in_flight -= 1;
            let result = match result {
                Err(error) if request.op == Op::Zero && self.client.zeroing.refuses(&command, &error) => {
                    Transferred::Retry
                }
                result => Transferred::of(result.map(Some), kind_of),
            };
            self.finished.push(Completion { request, result });
        }
    }
}

impl Queue for NbdQueue {
    fn submit(&mut self, request: Request) {
        let command = command_of(self.client.agreed(), &self.client.zeroing, &request);
        let link = self.client.next_link();
        self.in_flight += 1;
        let mut connection = locked(&self.client.links()[link]);
        connection.submit(Flight::new(command, Memory::Request(request), None));
        if connection.is_lost() {
            // It has failed already, so no socket will report it.
            self.received.append(connection.hand_out());
        }
    }

    fn takes(&self, request: &Request) -> bool {
        is_whole(self.client.agreed(), &self.client.zeroing, request)
    }

    fn flush(&mut self) -> io::Result<()> {
        for link in 0..self.links.len() {
            // A socket without room is watched.
            if !self.links[link].for_room && locked(&self.client.links()[link]).has_to_send() {
                self.drive(link, Can::SEND)?;
            }
        }
        self.complete_received();
        Ok(())
    }

    fn reap(&mut self, done: &mut Vec<Completion>) -> io::Result<()> {
        if self.in_flight > 0 && !std::mem::take(&mut self.is_quiet) {
            self.receive_ready()?;
        }
        self.complete_received();
        done.append(&mut self.finished);
        Ok(())
    }

    fn polled(&mut self, events: Option<i16>) {
        self.is_quiet = events == Some(0);
    }

    fn ready(&self) -> Ready {
        if !self.finished.is_empty() || !self.received.is_empty() {
            Ready::Now
        } else if self.in_flight > 0 {
            Ready::On { fd: self.epoll.as_raw_fd(), events: libc::POLLIN }
        } else {
            Ready::Idle
        }
    }
}

impl Drop for NbdQueue {
    /// The kernel copies data only during calls made here and holds no reference to a block, so there is nothing to
    /// wait for.
    fn drop(&mut self) {
        if self.in_flight > 0 {
            self.client.links().iter().for_each(|link| locked(link).abandon_queue());
        }
    }
}
