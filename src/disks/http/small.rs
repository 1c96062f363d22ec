//! Small resources, each as a whole, one after the other.
use super::connect::Connector;
use super::failure::Failure;
use super::link::Link;
use super::retry_policy::RetryPolicy;
use super::runtime;
use crate::core::HttpAddress;
use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::Incoming;
use hyper::header::{CONTENT_ENCODING, CONTENT_LENGTH, LOCATION};
use std::io;
use std::time::Duration;
use tokio::time::timeout;

/// Redirects that are followed.
const REDIRECTS_MAX: u32 = 10;

/// The copy does not depend on these resources: a server that is silent is not waited for as long as for the source.
const SILENT_MAX: Duration = Duration::from_secs(10);

/// Bytes of a refusal that are read, so that the connection can be used again.
const REFUSAL_BYTES_MAX: usize = 64 << 10;

/// Reads small resources on one connection, as long as they are on one server.
pub(in crate::disks) struct SmallResources(Option<Reader>);

struct Reader {
    connector: Connector,
    silent: Duration,
    link: Option<(HttpAddress, Link)>,
}

impl SmallResources {
    /// No connection is made before the first is read.
    pub(in crate::disks) fn new() -> SmallResources {
        SmallResources(None)
    }

    /// The bytes of the resource; `None`: the server has none, or one of more than `most` bytes, or refuses it.
    ///
    /// # Errors
    /// The server does not answer, or fails.
    pub(in crate::disks) fn read(&mut self, address: &HttpAddress, most: usize) -> io::Result<Option<Vec<u8>>> {
        let mut reader = self.0.take().unwrap_or_else(|| {
            let usual = RetryPolicy::usual();
            let retries = RetryPolicy { silent: usual.silent.min(SILENT_MAX), ..usual };
            Reader { connector: Connector::new(retries), silent: retries.silent, link: None }
        });
        let address = address.clone();
        let (reader, found) = runtime::wait(async move {
            let found = reader.read(address, most).await;
            (reader, found)
        })?;
        self.0 = Some(reader);
        found.map_err(|failure| io::Error::other(failure.words))
    }
}

impl Reader {
    async fn read(&mut self, from: HttpAddress, most: usize) -> Result<Option<Vec<u8>>, Failure> {
        let mut address = from;
        for _ in 0..=REDIRECTS_MAX {
            let (mut link, response) = self.get(&address).await?;
            let (status, headers) = (response.status().as_u16(), response.headers());
            let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
            let location = text(LOCATION);
            let is_encoded = text(CONTENT_ENCODING).is_some_and(|encoding| !encoding.eq_ignore_ascii_case("identity"));
            let length = text(CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
            let is_found = status == 200 && !is_encoded;
            let most = if is_found { most } else { REFUSAL_BYTES_MAX };
            if length.is_some_and(|length| length > most as u64) {
                return if (400..500).contains(&status) || status == 200 { Ok(None) } else { Err(failed(status)) };
            }
            let body = self.body(response, most).await?;
            if body.is_some() && link.sender.ready().await.is_ok() {
                self.link = Some((address.clone(), link));
            }
            match status {
                200 => return Ok(body.filter(|_| is_found)),
                301 | 302 | 303 | 307 | 308 => {
                    let to = location.and_then(|location| address.redirected(&location).ok());
                    let Some(to) = to else { return Ok(None) };
                    address = to;
                }
                400..500 => return Ok(None),
                _ => return Err(failed(status)),
            }
        }
        Ok(None)
    }

    /// The head of the answer, on the kept connection where there is one.
    async fn get(&mut self, address: &HttpAddress) -> Result<(Link, Response<Incoming>), Failure> {
        let server = |address: &HttpAddress| (address.is_tls, address.host.clone(), address.port);
        if let Some((to, mut link)) = self.link.take()
            && server(&to) == server(address)
            && let Ok(response) = link.get(address, &[]).await
        {
            return Ok((link, response));
        }
        let mut link = self.connector.connect(address).await?;
        let response = link.get(address, &[]).await?;
        Ok((link, response))
    }

    /// The body; `None`: it has more than `most` bytes.
    async fn body(&self, response: Response<Incoming>, most: usize) -> Result<Option<Vec<u8>>, Failure> {
        let (mut body, mut bytes) = (response.into_body(), Vec::new());
        loop {
            let frame = timeout(self.silent, body.frame()).await.map_err(|_| Failure::lost("the server is silent"))?;
            let Some(frame) = frame else { return Ok(Some(bytes)) };
            let frame = frame.map_err(|error| Failure::lost(super::failure::in_words(&error)))?;
            if let Ok(data) = frame.into_data() {
                bytes.extend_from_slice(&data);
            }
            if bytes.len() > most {
                return Ok(None);
            }
        }
    }
}

fn failed(status: u16) -> Failure {
    Failure::last(format!("the server answers {status}"), "")
}
