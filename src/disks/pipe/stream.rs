//! A descriptor without offsets, whose reads and writes can be cancelled while they wait.
use crate::core::Side;
use crate::sys::socket;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

/// Requested pipe capacity, the default maximum for unprivileged users. It exceeds the block size of most copies, so
/// that the process at the other end can work in parallel.
const PIPE_BYTES: usize = 1 << 20;

/// Number of bytes that a writable pipe accepts without blocking (PIPE_BUF).
const SURE_BYTES: usize = 4096;

/// How to keep calls from blocking indefinitely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NonblockingMethod {
    /// A separate open file description with O_NONBLOCK.
    Nonblocking,
    /// A socket: each call is non-blocking.
    Socket,
    /// An open file description shared with other processes, which do not expect O_NONBLOCK: poll first, and write no
    /// more than PIPE_BUF.
    Shared,
}

/// A descriptor without offsets.
#[derive(Debug)]
pub(super) struct Stream {
    fd: OwnedFd,
    manner: NonblockingMethod,
    /// Whether a short read means that no more input is available now: another read would wait for a line.
    terminal: bool,
    cancelled: AtomicBool,
    /// Readable after cancellation, which wakes every poll.
    wake: OwnedFd,
}

impl Stream {
    /// A descriptor that haul opened itself.
    pub(super) fn own(fd: OwnedFd) -> io::Result<Self> {
        let flags = rustix::fs::fcntl_getfl(&fd)?;
        rustix::fs::fcntl_setfl(&fd, flags | OFlags::NONBLOCK)?;
        Stream::new(fd, NonblockingMethod::Nonblocking)
    }

    /// A descriptor that other processes share, such as standard input. Opening it again through /proc returns a
    /// separate open file description, except for sockets and pipes of other users.
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
            // Users over the limit on pipe capacity are refused; a smaller pipe works as well.
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

    /// Cancels all current and later waits.
    pub(super) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
        // Fails only if the counter is full; the descriptor is readable then anyway.
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
    }

    /// Checks that the stream was not cancelled.
    ///
    /// # Errors
    /// ECANCELED after [`Stream::cancel`].
    pub(super) fn check_cancelled(&self) -> io::Result<()> {
        if self.cancelled.load(Ordering::Acquire) { Err(Errno::CANCELED.into()) } else { Ok(()) }
    }

    /// Whether another read may return more after a short one.
    pub(super) fn fills(&self) -> bool {
        !self.terminal
    }

    /// Reads the available bytes, at least one unless the stream has ended.
    ///
    /// # Errors
    /// ECANCELED after [`Stream::cancel`].
    pub(super) fn read(&self, bytes: &mut [u8]) -> io::Result<usize> {
        self.until_done(PollFlags::IN, || match self.manner {
            NonblockingMethod::Socket => socket::receive(self.fd.as_fd(), bytes),
            _ => Ok(rustix::io::read(&self.fd, &mut *bytes)?),
        })
    }

    /// Writes at least one byte, and no more than there is room for.
    ///
    /// # Errors
    /// ECANCELED after [`Stream::cancel`]; EPIPE if the reader has closed the stream.
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
            self.check_cancelled()?;
            match call() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.wait(events)?,
                result => return result,
            }
        }
    }

    /// Waits for `events` or for cancellation.
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
