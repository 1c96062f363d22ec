//! The socket of a connection, plain or with TLS.
use super::secure::Secured;
use super::stream::Stream;
use crate::core::{NbdAddress, NbdServer, locked};
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Mutex;

/// A connected socket, plain or with TLS.
#[derive(Debug)]
pub(super) struct Socket {
    stream: Stream,
    tls: Option<Mutex<Secured>>,
}

impl Socket {
    /// Connects; calls during the handshake may block for a limited time.
    ///
    /// # Errors
    /// The kernel's error.
    pub(super) fn connect(server: &NbdServer) -> io::Result<Socket> {
        Ok(Socket { stream: Stream::connect(server)?, tls: None })
    }

    /// Encrypts everything from here on, and returns the version of TLS.
    ///
    /// # Errors
    /// A [`crate::core::DeviceError`]: certificates are missing, or the one of the server does not verify.
    pub(super) fn secure(&mut self, address: &NbdAddress) -> io::Result<String> {
        let secured = Secured::negotiated(self.stream.try_clone()?, address)?;
        let version = secured.version();
        self.tls = Some(Mutex::new(secured));
        Ok(version)
    }

    /// Makes all further calls non-blocking, after the handshake.
    ///
    /// # Errors
    /// The kernel's error.
    pub(super) fn stop_blocking(&self) -> io::Result<()> {
        self.stream.stop_blocking()
    }

    /// Sends as much as the socket accepts. A closed connection returns EPIPE and raises no signal.
    ///
    /// # Errors
    /// EAGAIN if the socket buffer is full.
    pub(super) fn send(&self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        match &self.tls {
            None => self.stream.send(parts),
            Some(tls) => locked(tls).send(parts),
        }
    }

    /// Sends what was accepted before, and is encrypted and waits.
    ///
    /// # Errors
    /// EAGAIN if the socket buffer is full.
    pub(super) fn send_rest(&self) -> io::Result<()> {
        self.tls.as_ref().map_or(Ok(()), |tls| locked(tls).send_rest())
    }

    /// Whether encrypted bytes wait for buffer space.
    pub(super) fn has_to_send(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| locked(tls).has_to_send())
    }

    /// Receives the available bytes; 0 if the server closed the connection.
    ///
    /// # Errors
    /// EAGAIN if no bytes are available.
    pub(super) fn receive(&self, parts: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        match &self.tls {
            None => self.stream.receive(parts),
            Some(tls) => locked(tls).receive(parts),
        }
    }

    /// Whether the next call may return without waiting, although fewer bytes than requested were received: TLS may
    /// know the end of the connection or an error already, which no poll reports.
    pub(super) fn holds_back(&self) -> bool {
        self.tls.is_some()
    }

    /// Ends the connection, also for threads that wait for it.
    pub(super) fn shut_down(&self) {
        if let Some(tls) = &self.tls {
            locked(tls).close_notify();
        }
        self.stream.shut_down();
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

/// During the handshake, when it blocks.
impl Read for Socket {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => self.stream.read(bytes),
            Some(_) => self.receive(&mut [IoSliceMut::new(bytes)]),
        }
    }
}

/// During the handshake, when it blocks.
impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => self.stream.write(bytes),
            Some(_) => self.send(&[IoSlice::new(bytes)]),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send_rest()
    }
}
