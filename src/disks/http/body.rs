//! A resource as one ordered stream.
use super::client::{Attempts, Client};
use super::failure::Failure;
use super::runtime;
use crate::core::{HttpAddress, count};
use hyper::body::Bytes;
use std::io::{self, Read};
use std::sync::Arc;
use tokio::sync::mpsc;

/// Pieces of a body that wait to be read, each of at most 256 KiB.
const WAITING_MAX: usize = 8;

/// The bytes of a resource in order. If the server has ranges, a connection that is lost is made again; otherwise that
/// is an error, because the rest cannot be requested.
pub(in crate::disks) struct OrderedBody {
    client: Arc<Client>,
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    piece: Bytes,
    ended: bool,
}

impl OrderedBody {
    /// Reads a resource from its first byte on.
    ///
    /// # Errors
    /// No thread or no descriptor is left.
    pub(super) fn open(client: Arc<Client>) -> io::Result<OrderedBody> {
        let (sender, pieces) = mpsc::channel(WAITING_MAX);
        let pouring = client.clone();
        runtime::handle()?.spawn(async move {
            let poured = pouring.unless_cancelled(pouring.pour(&sender)).await;
            // The empty piece is the end.
            let _ = sender.send(poured.map(|()| Bytes::new())).await;
        });
        Ok(OrderedBody { client, pieces, piece: Bytes::new(), ended: false })
    }
}

impl Read for OrderedBody {
    /// # Errors
    /// A [`crate::core::DeviceError`] with the byte that could not be read; ECANCELED.
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() && !self.ended && !bytes.is_empty() {
            let received = self.pieces.blocking_recv();
            self.piece = received.unwrap_or_else(|| Err(io::Error::from_raw_os_error(libc::ECANCELED)))?;
            self.ended = self.piece.is_empty();
        }
        let len = self.piece.len().min(bytes.len());
        bytes[..len].copy_from_slice(&self.piece.split_to(len));
        Ok(len)
    }
}

impl Drop for OrderedBody {
    fn drop(&mut self) {
        if !self.ended {
            self.client.cancel();
        }
    }
}

impl Client {
    /// Sends the bytes of the resource in order.
    async fn pour(&self, to: &mpsc::Sender<io::Result<Bytes>>) -> io::Result<()> {
        let found = self.found();
        if found.length == Some(0) {
            return Ok(());
        }
        let (mut at, mut attempts) = (0, Attempts::default());
        loop {
            let before = at;
            let (address, place) = self.place();
            let Err(failure) = self.pour_some(&address, to, &mut at).await else { return Ok(()) };
            if at > before {
                attempts.on_progress();
            }
            if at > 0 && !found.resource.ranges {
                let advice = "The server sends no ranges, so the copy cannot be continued: copy again from the start.";
                return Err(Failure::last(failure.words, advice).at(at));
            }
            self.recover(failure, place, &mut attempts).await.map_err(|failure| failure.at(at))?;
        }
    }

    async fn pour_some(
        &self,
        address: &HttpAddress,
        to: &mpsc::Sender<io::Result<Bytes>>,
        at: &mut u64,
    ) -> Result<(), Failure> {
        let (_link, response) = self.request_rest(address, *at).await?;
        let mut body = response.into_body();
        while let Some(bytes) = self.next_of(&mut body).await? {
            *at += bytes.len() as u64;
            if self.found().length.is_some_and(|length| *at > length) {
                return Err(Failure::last("the server sends more bytes than it announced", ""));
            }
            if to.send(Ok(bytes)).await.is_err() {
                // It is read no longer.
                return Ok(());
            }
        }
        match self.found().length {
            Some(length) if *at < length => {
                Err(Failure::lost(format!("{} missing", count(length - *at, "byte is", "bytes are"))))
            }
            _ => Ok(()),
        }
    }
}
