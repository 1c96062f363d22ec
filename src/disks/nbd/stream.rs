//! The sockets of the kernel: connect with a timeout, and never block after the handshake.
use super::programs;
use super::protocol::{failure, in_words};
use crate::core::{Kind, NbdServer};
use rustix::net::{RecvAncillaryBuffer, RecvFlags, SendAncillaryBuffer, SendFlags, recvmsg, sendmsg, sockopt};
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::time::Duration;

/// Timeout for connecting, and for each step of the handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// Time without acknowledgement by the other host after which the connection counts as lost. A slow host still
/// acknowledges.
const SILENT_MAX: Duration = Duration::from_secs(30);

/// Requested size of the send buffer of a Unix domain socket; by default it is 208 KiB.
const UNIX_BUFFER_BYTES: usize = 1 << 20;

/// A connected socket of the kernel.
#[derive(Debug)]
pub(super) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    pub(super) fn connect(server: &NbdServer) -> io::Result<Stream> {
        let socket = match server {
            NbdServer::Tcp { host, port } => Stream::Tcp(connect_tcp(host, *port)?),
            NbdServer::Program(program) => Stream::Unix(UnixStream::connect(programs::socket(program)?)?),
            NbdServer::Unix(path) => {
                let bytes = path.as_os_str().as_bytes();
                let address = match bytes.strip_prefix(b"\0") {
                    Some(name) => SocketAddr::from_abstract_name(name)?,
                    None => SocketAddr::from_pathname(path)?,
                };
                Stream::Unix(UnixStream::connect_addr(&address)?)
            }
        };
        let within = Some(HANDSHAKE_TIMEOUT);
        match &socket {
            Stream::Tcp(stream) => {
                stream.set_read_timeout(within)?;
                stream.set_write_timeout(within)?;
            }
            Stream::Unix(stream) => {
                // Fewer calls per request. The kernel limits it; of TCP it finds the size itself.
                let _ = sockopt::set_socket_send_buffer_size(stream, UNIX_BUFFER_BYTES);
                stream.set_read_timeout(within)?;
                stream.set_write_timeout(within)?;
            }
        }
        Ok(socket)
    }

    /// Makes all further calls non-blocking.
    ///
    /// # Errors
    /// The kernel's error.
    pub(super) fn stop_blocking(&self) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.set_nonblocking(true),
            Stream::Unix(stream) => stream.set_nonblocking(true),
        }
    }

    /// Ends the connection, also for threads that wait for it.
    pub(super) fn shut_down(&self) {
        // It may have ended already.
        let _ = match self {
            Stream::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Stream::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }

    /// The same socket under another descriptor.
    pub(super) fn try_clone(&self) -> io::Result<Stream> {
        match self {
            Stream::Tcp(stream) => stream.try_clone().map(Stream::Tcp),
            Stream::Unix(stream) => stream.try_clone().map(Stream::Unix),
        }
    }

    pub(super) fn send(&self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        Ok(sendmsg(self, parts, &mut SendAncillaryBuffer::default(), flags)?)
    }

    pub(super) fn receive(&self, parts: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        Ok(recvmsg(self, parts, &mut RecvAncillaryBuffer::default(), RecvFlags::DONTWAIT)?.bytes)
    }
}

fn connect_tcp(host: &str, port: u16) -> io::Result<TcpStream> {
    let addresses = (host, port).to_socket_addrs().map_err(|error| {
        let words = format!("host {host} cannot be found: {}", in_words(&error));
        failure(Kind::Open, words, "Check the name of the host.")
    })?;
    let mut failed = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in addresses {
        match TcpStream::connect_timeout(&address, HANDSHAKE_TIMEOUT) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                set_timeouts(&stream);
                return Ok(stream);
            }
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// Enables detection of a lost host, which by default takes a quarter of an hour or forever. Unsupported options are
/// ignored.
fn set_timeouts(stream: &TcpStream) {
    let (idle, every) = (SILENT_MAX / 3, SILENT_MAX / 6);
    let _ = sockopt::set_socket_keepalive(stream, true);
    let _ = sockopt::set_tcp_keepidle(stream, idle);
    let _ = sockopt::set_tcp_keepintvl(stream, every);
    let _ = sockopt::set_tcp_keepcnt(stream, 4);
    let _ = sockopt::set_tcp_user_timeout(stream, SILENT_MAX.as_millis() as u32);
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Stream::Tcp(stream) => stream.as_fd(),
            Stream::Unix(stream) => stream.as_fd(),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.read(bytes),
            Stream::Unix(stream) => stream.read(bytes),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.write(bytes),
            Stream::Unix(stream) => stream.write(bytes),
        }
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.write_vectored(parts),
            Stream::Unix(stream) => stream.write_vectored(parts),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
