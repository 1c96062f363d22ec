//! The connections to an export, shared by all threads that use it. A thread that waits for a reply sends and receives
//! for all others: there is no dedicated I/O thread.
use super::connection::{Connection, connect, polled};
use super::flights::{Caller, Command, Flight, Memory};
use super::handshake::Agreed;
use super::protocol::{disconnected, in_words};
use super::socket::Socket;
use super::zeroing::Zeroing;
use crate::core::{DeviceError, NbdAddress, NbdServer, locked};
use crate::sys::wait_any;
use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::num::NonZero;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum number of connections, if the server allows more than one.
pub(super) const CONNECTIONS_MAX: usize = 4;

/// Time for attempts to reconnect to a lost server.
const RECONNECT_TIME_MAX: Duration = Duration::from_secs(30);

/// First and maximum pause between attempts to reconnect; the pause doubles each time.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(5)];

/// What a connection may be ready for. A call that is not ready costs time and has no effect.
#[derive(Clone, Copy)]
pub(super) struct Can {
    pub(super) send: bool,
    pub(super) receive: bool,
}

impl Can {
    pub(super) const SEND: Can = Can { send: true, receive: false };
    pub(super) const BOTH: Can = Can { send: true, receive: true };
}

/// The connections to an export.
pub(super) struct Client {
    address: NbdAddress,
    agreed: Agreed,
    links: Vec<Mutex<Connection>>,
    /// Whether lost connections are restored and unanswered commands are sent again. Only if nothing is written: a
    /// restarted server may have lost acknowledged data.
    reconnects: bool,
    /// Index of the connection for the next command.
    turn: AtomicUsize,
    /// Readable after another thread received replies for the queue.
    event: OwnedFd,
    abandoned: Mutex<bool>,
    on_abandon: Condvar,
    /// How the server zeroes.
    pub(super) zeroing: Zeroing,
    restored: AtomicU32,
}

impl Client {
    /// Opens as many connections as the server allows, up to a maximum.
    ///
    /// # Errors
    /// As for [`connect`].
    pub(super) fn open(address: &NbdAddress, reconnects: bool) -> io::Result<Arc<Client>> {
        let (socket, agreed) = connect(address)?;
        let mut links = vec![Mutex::new(Connection::new(socket, agreed.clone()))];
        if agreed.export.multi_conn {
            links.extend(more_connections(address, &agreed).into_iter().map(Mutex::new));
        }
        let zeroing = Zeroing::new(&agreed.export);
        Ok(Arc::new(Client {
            address: address.clone(),
            agreed,
            links,
            reconnects,
            turn: AtomicUsize::new(0),
            event: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            abandoned: Mutex::new(false),
            on_abandon: Condvar::new(),
            zeroing,
            restored: AtomicU32::new(0),
        }))
    }

    /// The result of the negotiation.
    pub(super) fn agreed(&self) -> &Agreed {
        &self.agreed
    }

    /// The connections.
    pub(super) fn links(&self) -> &[Mutex<Connection>] {
        &self.links
    }

    /// How often a lost connection was restored.
    pub(super) fn restored(&self) -> u32 {
        self.restored.load(Relaxed)
    }

    /// Readable if another thread may have received replies for the queue.
    pub(super) fn event(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }

    /// Resets the eventfd.
    pub(super) fn reset_event(&self) {
        rustix::io::read(&self.event, &mut [0; 8]).ok();
    }

    fn signal(&self) {
        // Fails only if the counter is full; the descriptor is readable then anyway.
        rustix::io::write(&self.event, &1u64.to_ne_bytes()).ok();
    }

    /// Index of the connection for the next command: round-robin over the open ones.
    pub(super) fn next_link(&self) -> usize {
        let count = self.links.len();
        let first = self.turn.fetch_add(1, Relaxed);
        let turns = (0..count).map(|more| first.wrapping_add(more) % count);
        turns.clone().find(|&link| !locked(&self.links[link]).is_lost()).unwrap_or(first % count)
    }

    /// Sends and receives on a connection, as far as `can` says. Completed commands of the queue
    /// go to `done`; without it they stay, and the queue is notified.
    pub(super) fn drive(self: &Arc<Self>, link: usize, can: Can, done: Option<&mut Vec<Flight>>) {
        let mut connection = locked(&self.links[link]);
        let sent = if can.send { connection.send() } else { Ok(()) };
        let moved = sent.and_then(|()| if can.receive { connection.receive() } else { Ok(()) });
        if let Err(error) = moved {
            self.on_loss(link, &mut connection, &error);
        }
        let of_queue = connection.hand_out();
        match done {
            Some(done) => done.append(of_queue),
            None if !of_queue.is_empty() => self.signal(),
            None => {}
        }
    }

    /// Handles the loss of a connection.
    fn on_loss(self: &Arc<Self>, link: usize, connection: &mut Connection, error: &io::Error) {
        let why = in_words(error);
        // The reply is malformed, and would be again.
        let is_malformed = DeviceError::of(error).is_some();
        if !self.reconnects || is_malformed || !connection.may_be_restored() || *locked(&self.abandoned) {
            return connection.abandon(&why);
        }
        connection.disconnect();
        let client = self.clone();
        let looking = why.clone();
        let work = move || client.reconnect(link, &looking);
        if thread::Builder::new().name("haul-nbd".to_owned()).spawn(work).is_err() {
            connection.abandon(&why);
        }
    }

    /// Connects again, with growing pauses.
    fn reconnect(self: &Arc<Self>, link: usize, why: &str) {
        let until = Instant::now() + RECONNECT_TIME_MAX;
        let mut pause = PAUSES[0];
        let mut last = String::new();
        while Instant::now() < until && !self.pause(pause) {
            pause = (pause * 2).min(PAUSES[1]);
            match self.connect_again() {
                Ok(socket) => {
                    self.restored.fetch_add(1, Relaxed);
                    locked(&self.links[link]).resume_with(socket);
                    return self.signal();
                }
                Err(Again::NotThere(error)) => last = format!("; it could not be restored: {error}"),
                Err(Again::Another) => {
                    last = "; the server offers another export under this address now".to_owned();
                    break;
                }
            }
        }
        let mut connection = locked(&self.links[link]);
        connection.abandon(&format!("{why}{last}"));
        let of_queue = connection.hand_out();
        if !of_queue.is_empty() {
            self.signal();
        }
    }

    fn connect_again(&self) -> Result<Socket, Again> {
        let (socket, agreed) = connect(&self.address).map_err(|error| Again::NotThere(in_words(&error)))?;
        if agreed == self.agreed { Ok(socket) } else { Err(Again::Another) }
    }

    /// Waits for `pause`. Returns true if reconnecting was abandoned meanwhile.
    fn pause(&self, pause: Duration) -> bool {
        let abandoned = locked(&self.abandoned);
        let waited = self.on_abandon.wait_timeout_while(abandoned, pause, |abandoned| !*abandoned);
        waited.map_or(true, |(abandoned, _)| *abandoned)
    }

    /// Stops reconnecting to lost servers.
    pub(super) fn abandon(&self) {
        *locked(&self.abandoned) = true;
        self.on_abandon.notify_all();
    }

    /// Sends a command and waits for its reply. Returns its memory and the result.
    ///
    /// # Errors
    /// No file descriptor is available. Errors of the command are in the returned flight.
    pub(super) fn call(self: &Arc<Self>, command: Command, memory: Vec<u8>) -> io::Result<Flight> {
        self.call_on(self.next_link(), command, memory)
    }

    fn call_on(self: &Arc<Self>, link: usize, command: Command, memory: Vec<u8>) -> io::Result<Flight> {
        let caller = Arc::new(Caller::new()?);
        let flight = Flight::new(command, Memory::Bytes(memory), Some(caller.clone()));
        locked(&self.links[link]).submit(flight);
        self.drive(link, Can::SEND, None);
        loop {
            if let Some(flight) = caller.take() {
                return Ok(flight);
            }
            let socket = locked(&self.links[link]).waits_for();
            let mut polls = [polled(&caller.event(), libc::POLLIN); 2];
            let mut count = 1;
            if let Some((socket, has_to_send)) = &socket {
                let room = if *has_to_send { libc::POLLOUT } else { 0 };
                polls[1] = polled(&**socket, libc::POLLIN | room);
                count = 2;
            }
            wait_any(&mut polls[..count], None)?;
            self.drive(link, Can::BOTH, None);
        }
    }

    /// Sends a command by a connection that was never lost, so that it covers everything acknowledged on any
    /// connection.
    ///
    /// # Errors
    /// All connections were lost; otherwise as for [`Client::call`].
    pub(super) fn call_first(self: &Arc<Self>, command: Command) -> io::Result<Flight> {
        let is_there = |link: &usize| {
            let connection = locked(&self.links[*link]);
            connection.generation == 1 && !connection.is_lost()
        };
        let link = (0..self.links.len()).find(is_there);
        let link = link.ok_or_else(|| disconnected("no connection is left"))?;
        self.call_on(link, command, Vec::new())
    }
}

/// The connections beside the first, made at the same time: each handshake takes several round trips. A server that
/// limits the number of connections gets fewer.
fn more_connections(address: &NbdAddress, agreed: &Agreed) -> Vec<Connection> {
    let connected = || connect(address).ok().filter(|(_, again)| again == agreed);
    let connection = |(socket, agreed)| Connection::new(socket, agreed);
    thread::scope(|scope| {
        let start = |_| thread::Builder::new().name("haul-nbd".to_owned()).spawn_scoped(scope, connected);
        let started: Vec<_> = (1..connections_max(&address.server)).map_while(|number| start(number).ok()).collect();
        started.into_iter().filter_map(|connecting| connecting.join().ok().flatten()).map(connection).collect()
    })
}

/// Number of connections, if the server allows more than one. To another host several have several congestion windows;
/// on this one they only allow the server to use several processors, and each costs it threads and their memory.
fn connections_max(server: &NbdServer) -> usize {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    match server {
        NbdServer::Tcp { .. } => CONNECTIONS_MAX,
        NbdServer::Unix(_) | NbdServer::Program(_) => processors.clamp(2, CONNECTIONS_MAX),
    }
}

/// Why reconnecting failed.
enum Again {
    NotThere(String),
    Another,
}
