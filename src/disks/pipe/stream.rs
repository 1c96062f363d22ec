//! A descriptor without offsets, read and written so that a wait can be cancelled at any moment.
use crate::core::Side;
use crate::sys::socket;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

/// Room in a pipe, where we may enlarge it: as much as an ordinary user may ask for. More than one block of most
/// copies, so that the process at the other end works while we do.
const PIPE_BYTES: usize = 1 << 20;

/// A pipe that polls as writable takes this much without blocking (PIPE_BUF).
const SURE_BYTES: usize = 4096;

/// How to keep a call from blocking for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NonblockingMethod {
    /// The open file description is our own and has O_NONBLOCK.
    Nonblocking,
    /// A socket: each call says that it must not block.
    Socket,
    /// The description is shared with other processes, for whom O_NONBLOCK would be a surprise: poll first, and write
    /// no more than surely goes.
    Shared,
}

/// A descriptor without offsets.
#[derive(Debug)]
pub(super) struct Stream {
    fd: OwnedFd,
    manner: NonblockingMethod,
    /// A read that returned less than asked has what there is; the next would wait for a line.
    terminal: bool,
    cancelled: AtomicBool,
    /// Readable from the moment of cancelling: wakes every poll.
    wake: OwnedFd,
}

impl Stream {
    /// A descriptor that we opened ourselves.
    pub(super) fn own(fd: OwnedFd) -> io::Result<Self> {
        let flags = rustix::fs::fcntl_getfl(&fd)?;
        rustix::fs::fcntl_setfl(&fd, flags | OFlags::NONBLOCK)?;
        Stream::new(fd, NonblockingMethod::Nonblocking)
    }

    /// A descriptor that others have too, as standard input. Opening it again through /proc gives a description of our
    /// own where that is possible: not for sockets, and not for a pipe that another user made.
    pub(super) fn inherited(fd: OwnedFd, side: Side) -> io::Result<Self> {
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode);
        if kind == FileType::Socket {
            return Stream::new(fd, NonblockingMethod::Socket);
        }
        if kind == FileType::Fifo || kind == FileType::CharacterDevice {
            let direction = if side == Side::Source { OFlags::RDONLY } else { OFlags::WRONLY };
            let flags = direction | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
            let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
            if let Ok(own) = rustix::fs::open(path, flags, Mode::empty()) {
                return Stream::new(own, NonblockingMethod::Nonblocking);
            }
        }
        Stream::new(fd, NonblockingMethod::Shared)
    }

    fn new(fd: OwnedFd, manner: NonblockingMethod) -> io::Result<Self> {
        if rustix::pipe::fcntl_getpipe_size(&fd).is_ok_and(|bytes| bytes < PIPE_BYTES) {
            // A user over the limit of all pipes together is refused; a smaller pipe works as well.
            let _ = rustix::pipe::fcntl_setpipe_size(&fd, PIPE_BYTES);
        }
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let terminal = rustix::termios::isatty(&fd);
        Ok(Stream { fd, manner, terminal, cancelled: false.into(), wake })
    }

    /// Returns when everything written so far survives a power loss; for a redirected file.
    ///
    /// # Errors
    /// The error of `fdatasync(2)`.
    pub(super) fn make_durable(&self) -> io::Result<()> {
        Ok(retry_on_intr(|| rustix::fs::fdatasync(&self.fd))?)
    }

    /// Ends all waiting, now and from now on.
    pub(super) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
        // Can only fail when the counter is full, and then it is readable.
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
    }

    /// Whether waiting still makes sense.
    ///
    /// # Errors
    /// ECANCELED after [`Stream::cancel`].
    pub(super) fn go_on(&self) -> io::Result<()> {
        if self.cancelled.load(Ordering::Acquire) { Err(Errno::CANCELED.into()) } else { Ok(()) }
    }

    /// It is worth trying for more after a read that returned something.
    pub(super) fn fills(&self) -> bool {
        !self.terminal
    }

    /// Reads what comes, at least one byte unless it has ended.
    ///
    /// # Errors
    /// ECANCELED after [`Stream::cancel`].
    pub(super) fn read(&self, bytes: &mut [u8]) -> io::Result<usize> {
        self.until_done(PollFlags::IN, || match self.manner {
            NonblockingMethod::Socket => socket::receive(self.fd.as_fd(), bytes),
            _ => Ok(rustix::io::read(&self.fd, &mut *bytes)?),
        })
    }

    /// Writes as much as there is room for, at least one byte.
    ///
    /// # Errors
    /// ECANCELED after [`Stream::cancel`], EPIPE when the reader has closed it.
    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.until_done(PollFlags::OUT, || match self.manner {
            NonblockingMethod::Nonblocking => Ok(rustix::io::write(&self.fd, bytes)?),
            NonblockingMethod::Socket => socket::send(self.fd.as_fd(), bytes),
            NonblockingMethod::Shared => Ok(rustix::io::write(&self.fd, &bytes[..bytes.len().min(SURE_BYTES)])?),
        })
    }

    fn until_done(&self, events: PollFlags, mut call: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
        if self.manner == NonblockingMethod::Shared {
            self.wait(events)?;
        }
        loop {
            self.go_on()?;
            match call() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.wait(events)?,
                result => return result,
            }
        }
    }

    /// Waits for `events` or for the cancelling.
    fn wait(&self, events: PollFlags) -> io::Result<()> {
        loop {
            let mut both = [PollFd::new(&self.fd, events), PollFd::new(&self.wake, PollFlags::IN)];
            match poll(&mut both, None) {
                Ok(_) if !both[1].revents().is_empty() => return Err(Errno::CANCELED.into()),
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}
