//! A connection by TLS: encrypts what is sent, decrypts what is received, and never blocks after the handshake.
use super::protocol::failure;
use super::stream::Stream;
use crate::core::{Kind, NbdAddress, NbdServer, NbdTls};
use crate::disks::tls::{self, Unavailable};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};
use std::io::{self, BufReader, IoSlice, IoSliceMut, Read, Write};
use std::sync::Arc;

/// Bytes received by one call: rustls alone would ask for 4 KiB at a time.
const RECEIVED_BYTES: usize = 128 << 10;

/// Most bytes that are encrypted before the socket has accepted them.
const WAITING_BYTES: usize = 256 << 10;

/// The state of TLS, and the stream below it.
#[derive(Debug)]
pub(super) struct Secured {
    connection: ClientConnection,
    stream: BufReader<Stream>,
}

impl Secured {
    /// Performs the TLS handshake on a stream that blocks.
    ///
    /// # Errors
    /// A [`crate::core::DeviceError`]: certificates are missing or invalid, or the one of the server does not verify.
    pub(super) fn negotiated(stream: Stream, address: &NbdAddress) -> io::Result<Secured> {
        let requested = address.tls.clone().unwrap_or_default();
        let config = config(&requested).map_err(|Unavailable { words, advice }| failure(Kind::Open, words, advice))?;
        let host = match (&requested.hostname, &address.server) {
            (Some(name), _) => name.as_str(),
            (None, NbdServer::Tcp { host, .. }) => host.as_str(),
            (None, NbdServer::Unix(_) | NbdServer::Program(_)) => "localhost",
        };
        let name = ServerName::try_from(host.to_owned()).map_err(|_| {
            let words = format!("{host} is no name that a certificate can have");
            failure(Kind::Open, words, "Give the name in the certificate with tls-hostname=NAME.")
        })?;
        let connection = ClientConnection::new(config, name);
        let mut connection = connection.map_err(|error| not_secured(host, &error))?;
        connection.set_buffer_limit(Some(WAITING_BYTES));
        let mut stream = BufReader::with_capacity(RECEIVED_BYTES, stream);
        while connection.is_handshaking() {
            while connection.wants_write() {
                uninterrupted(|| connection.write_tls(stream.get_mut()))?;
            }
            if connection.is_handshaking() && uninterrupted(|| connection.read_tls(&mut stream))? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if let Err(error) = connection.process_new_packets() {
                // The alert tells the server why.
                let _ = connection.write_tls(stream.get_mut());
                return Err(not_secured(host, &error));
            }
        }
        Ok(Secured { connection, stream })
    }

    /// The version of TLS.
    pub(super) fn version(&self) -> String {
        tls::version_name(self.connection.protocol_version())
    }

    /// Encrypts as much as may wait, and sends as much as the socket accepts.
    ///
    /// # Errors
    /// EAGAIN: earlier bytes still wait.
    pub(super) fn send(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        self.send_rest()?;
        let accepted = self.connection.writer().write_vectored(parts)?;
        match self.send_rest() {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
            _ => Ok(accepted),
        }
    }

    /// Sends what is encrypted already.
    ///
    /// # Errors
    /// EAGAIN if the socket buffer is full.
    pub(super) fn send_rest(&mut self) -> io::Result<()> {
        while self.connection.wants_write() {
            uninterrupted(|| self.connection.write_tls(self.stream.get_mut()))?;
        }
        Ok(())
    }

    /// Whether encrypted bytes wait for the socket.
    pub(super) fn has_to_send(&self) -> bool {
        self.connection.wants_write()
    }

    /// Receives decrypted bytes; 0 if the server closed the connection.
    ///
    /// # Errors
    /// EAGAIN if there are none; a connection that was cut or altered.
    pub(super) fn receive(&mut self, parts: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        let mut received = 0;
        for part in parts {
            let mut at = 0;
            while at < part.len() {
                match self.receive_some(&mut part[at..]) {
                    Ok(0) => return Ok(received),
                    Ok(bytes) => (at, received) = (at + bytes, received + bytes),
                    Err(_) if received > 0 => return Ok(received),
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(received)
    }

    fn receive_some(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.connection.reader().read(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                other => return other,
            }
            uninterrupted(|| self.connection.read_tls(&mut self.stream))?;
            let altered = |error: rustls::Error| io::Error::other(format!("TLS: {error}"));
            self.connection.process_new_packets().map_err(altered)?;
        }
    }

    /// Tells the server that the connection ends here, if the socket accepts it immediately.
    pub(super) fn close_notify(&mut self) {
        self.connection.send_close_notify();
        let _ = self.send_rest();
    }
}

/// Makes a call again for as long as a signal interrupts it.
fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// The configuration that the address asks for.
fn config(requested: &NbdTls) -> Result<Arc<ClientConfig>, Unavailable> {
    let Some(folder) = &requested.certificates else {
        return tls::client_config(tls::roots_of_the_system()?, None).map(Arc::new);
    };
    let [certificate, key] = ["client-cert.pem", "client-key.pem"].map(|name| folder.join(name));
    let identity = if certificate.exists() { Some(tls::identity_in(&certificate, &key)?) } else { None };
    tls::client_config(tls::roots_in(&folder.join("ca-cert.pem"))?, identity).map(Arc::new)
}

fn not_secured(host: &str, error: &rustls::Error) -> io::Error {
    match error {
        rustls::Error::InvalidCertificate(_) => {
            let words = format!("the certificate of NBD server {host} does not verify: {error}");
            failure(Kind::Open, words, ADVICE)
        }
        _ => failure(Kind::Open, format!("TLS with NBD server {host} failed: {error}"), "See the log of the server."),
    }
}

/// What to do about a certificate that does not verify.
const ADVICE: &str = "For a private authority, give the folder of its ca-cert.pem with tls-certificates=FOLDER; for \
    another name in the certificate, tls-hostname=NAME. haul has no option that skips the check.";
