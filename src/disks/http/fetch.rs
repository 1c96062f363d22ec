//! A range of bytes, by as many requests as it takes.
use super::client::{Attempts, Client};
use super::failure::{Again, Failure, in_words};
use super::link::Link;
use crate::core::{HttpAddress, byte_count};
use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::{Bytes, Incoming};
use std::io;
use tokio::time::timeout;

impl Client {
    /// Fills `bytes` with those of the resource from `at` on. What was received before a connection failed is not
    /// requested again.
    ///
    /// # Errors
    /// A [`crate::core::DeviceError`] with the byte that could not be read.
    pub(super) async fn fetch(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        let _room = self.room.acquire().await;
        let mut attempts = Attempts::default();
        let mut filled = 0;
        while filled < bytes.len() {
            let before = filled;
            let (address, place) = self.place();
            let tried = self.fetch_some(&address, at, bytes, &mut filled).await;
            if filled > before {
                attempts.on_progress();
            }
            if let Err(failure) = tried {
                let recovered = self.recover(failure, place, &mut attempts).await;
                recovered.map_err(|failure| failure.at(at + filled as u64))?;
            }
        }
        Ok(())
    }

    /// One request for what is missing of `bytes`; `filled` grows with what is received.
    async fn fetch_some(
        &self,
        address: &HttpAddress,
        at: u64,
        bytes: &mut [u8],
        filled: &mut usize,
    ) -> Result<(), Failure> {
        let (first, last) = (at + *filled as u64, at + bytes.len() as u64 - 1);
        let range = format!("bytes={first}-{last}");
        let headers = [Some(("range", range.as_str())), self.found().condition()];
        let headers: Vec<_> = headers.into_iter().flatten().collect();
        let mut link = self.link(address).await?;
        let response = link.get(address, &headers).await?;
        let has = self.found().check_part(&response, first, last)?;
        let end = *filled + has as usize;
        let mut body = response.into_body();
        while let Some(frame) = self.next_of(&mut body).await? {
            let Some(room) = bytes[..end].get_mut(*filled..*filled + frame.len()) else {
                return Err(Failure::last("the server sends more bytes than it announced", ""));
            };
            room.copy_from_slice(&frame);
            *filled += frame.len();
        }
        if *filled < end {
            return Err(Failure::lost(format!("{} of {} are missing", end - *filled, byte_count(has))));
        }
        self.keep(address.clone(), link).await;
        Ok(())
    }

    /// The next bytes of a body; `None`: there are no more.
    ///
    /// # Errors
    /// It was cut, or nothing was received before the time limit.
    pub(super) async fn next_of(&self, body: &mut Incoming) -> Result<Option<Bytes>, Failure> {
        loop {
            let silent = self.retries.silent;
            let frame = timeout(silent, body.frame()).await;
            let frame = frame.map_err(|_| {
                Failure::new(Again::Later(None), format!("the server sent nothing for {} s", silent.as_secs()))
            })?;
            match frame {
                None => return Ok(None),
                Some(Err(error)) => return Err(Failure::lost(in_words(&error))),
                // Other frames are trailers.
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) if !bytes.is_empty() => return Ok(Some(bytes)),
                    _ => {}
                },
            }
        }
    }

    /// The resource from byte `at` on, which is 0 where the server has no ranges.
    pub(super) async fn request_rest(
        &self,
        address: &HttpAddress,
        at: u64,
    ) -> Result<(Link, Response<Incoming>), Failure> {
        let mut link = self.link(address).await?;
        let found = self.found();
        let response = match found.length.filter(|_| found.resource.ranges) {
            Some(length) => {
                let range = format!("bytes={at}-");
                let headers = [Some(("range", range.as_str())), found.condition()];
                let headers: Vec<_> = headers.into_iter().flatten().collect();
                let response = link.get(address, &headers).await?;
                let has = found.check_part(&response, at, length - 1)?;
                if at + has != length {
                    return Err(Failure::last("the server sends a part of the range that was requested", ""));
                }
                response
            }
            None => {
                let response = link.get(address, &[]).await?;
                found.check_whole(&response)?;
                response
            }
        };
        Ok((link, response))
    }
}
