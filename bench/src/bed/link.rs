//! A TCP path with latency: forwards each connection, and what passes is delayed in both directions.
//!
//! Independent of the servers behind it.
use crate::error::Result;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes that are forwarded at a time.
const PIECE_BYTES: usize = 64 << 10;

/// Pieces on their way in one direction: a window of 3 MiB.
const PIECES_IN_FLIGHT: usize = 48;

/// A path to a server, until it is dropped.
pub struct SlowLink {
    /// Where it listens.
    pub address: SocketAddr,
    ended: Arc<AtomicBool>,
}

/// Bytes, and when they are due at the other end.
type Piece = (Instant, Vec<u8>);

impl SlowLink {
    /// Forwards to `server`, each direction with `delay`.
    ///
    /// # Errors
    /// No port is free.
    pub fn start(server: SocketAddr, delay: Duration) -> Result<SlowLink> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let (address, ended) = (listener.local_addr()?, Arc::new(AtomicBool::new(false)));
        let is_over = ended.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(std::result::Result::ok) {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                let Ok(server) = TcpStream::connect(server) else { continue };
                for end in [&client, &server] {
                    let _ = end.set_nodelay(true);
                }
                if let (Ok(from), Ok(to)) = (client.try_clone(), server.try_clone()) {
                    forward(from, to, delay);
                    forward(server, client, delay);
                }
            }
        });
        Ok(SlowLink { address, ended })
    }
}

impl Drop for SlowLink {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts connections.
        let _ = TcpStream::connect(self.address);
    }
}

fn forward(from: TcpStream, to: TcpStream, delay: Duration) {
    let (sender, receiver) = sync_channel(PIECES_IN_FLIGHT);
    thread::spawn(move || take(from, &sender, delay));
    thread::spawn(move || deliver(to, &receiver));
}

fn take(mut from: TcpStream, pieces: &SyncSender<Piece>, delay: Duration) {
    let mut bytes = vec![0; PIECE_BYTES];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if pieces.send((Instant::now() + delay, bytes[..count].to_vec())).is_err() {
            break;
        }
    }
}

fn deliver(mut to: TcpStream, pieces: &Receiver<Piece>) {
    while let Ok((due, bytes)) = pieces.recv() {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        if to.write_all(&bytes).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_pass_in_their_order_and_not_before_they_are_due() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let delay = Duration::from_millis(30);
        let link = SlowLink::start(listener.local_addr().unwrap(), delay).unwrap();
        let sent: Vec<u8> = (0..500_000u32).map(|at| (at % 251) as u8).collect();
        let (began, mut client) = (Instant::now(), TcpStream::connect(link.address).unwrap());
        let (mut server, _) = listener.accept().unwrap();
        let to_send = sent.clone();
        thread::spawn(move || server.write_all(&to_send));
        let mut got = Vec::new();
        client.read_to_end(&mut got).unwrap();
        assert!(got == sent && began.elapsed() >= delay);
    }
}
