//! A resource of a web server: where it is, the connections to it, and what happens when one fails.
use super::cancellation::Cancellation;
use super::connect::Connector;
use super::failure::{Again, Failure};
use super::link::Link;
use super::queue::Ranges;
use super::retry_policy::RetryPolicy;
use super::version::Found;
use crate::core::{HttpAddress, locked};
use http_body_util::BodyExt;
use hyper::header::LOCATION;
use std::future::Future;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use tokio::sync::{Mutex as AsyncMutex, Semaphore};

/// Most connections at a time, however many blocks are in flight.
pub(super) const CONNECTIONS_MAX: usize = 32;

/// Redirects that are followed.
const REDIRECTS_MAX: u32 = 10;

/// A resource of a web server.
pub(super) struct Client {
    /// As the user gave it.
    address: HttpAddress,
    connector: Connector,
    pub(super) retries: RetryPolicy,
    /// What it was at first.
    found: Found,
    /// Where it is now, and how often that changed.
    place: Mutex<(HttpAddress, u32)>,
    /// Held while the redirects are followed again: one request does that for all.
    moving: AsyncMutex<()>,
    idle: Mutex<Vec<(HttpAddress, Link)>>,
    pub(super) room: Semaphore,
    /// Connections that were made.
    made: AtomicU32,
    repeated: AtomicU32,
    cancelled: Cancellation,
}

/// How a request for the same bytes went so far.
#[derive(Default)]
pub(super) struct Attempts {
    failed: u32,
    moved: bool,
}

impl Attempts {
    /// Bytes were received since the last failure.
    pub(super) fn on_progress(&mut self) {
        self.failed = 0;
    }
}

impl Client {
    /// Follows redirects to the resource, and finds out what it is.
    ///
    /// # Errors
    /// What the server refuses, or does not answer.
    pub(super) async fn open(address: HttpAddress) -> Result<Client, Failure> {
        let retries = RetryPolicy::usual();
        let connector = Connector::new(retries);
        let mut failed = 0;
        let (found, link) = loop {
            match find(&connector, &address).await {
                Ok(found) => break found,
                Err(failure) => {
                    failed += 1;
                    let Again::Later(requested) = failure.again else { return Err(failure) };
                    let Some(pause) = retries.pause(failed, requested) else { return Err(after(failure, failed)) };
                    tokio::time::sleep(pause).await;
                }
            }
        };
        let client = Client {
            connector,
            retries,
            place: Mutex::new((found.address.clone(), 0)),
            moving: AsyncMutex::new(()),
            idle: Mutex::default(),
            room: Semaphore::new(CONNECTIONS_MAX),
            made: AtomicU32::new(u32::from(link.is_some())),
            repeated: AtomicU32::new(failed),
            cancelled: Cancellation::default(),
            found,
            address,
        };
        locked(&client.idle).extend(link.map(|link| (client.found.address.clone(), link)));
        Ok(client)
    }

    /// What it was at first.
    pub(super) fn found(&self) -> &Found {
        &self.found
    }

    /// Connections that were made.
    pub(super) fn connections(&self) -> u32 {
        self.made.load(Relaxed)
    }

    /// How often a request was repeated.
    pub(super) fn repeated(&self) -> u32 {
        self.repeated.load(Relaxed)
    }

    /// The proxy to the server, if there is one.
    pub(super) fn proxy_name(&self) -> Option<String> {
        self.connector.proxy_name(&self.found.address)
    }

    /// Where the resource is now, and the number of this place.
    pub(super) fn place(&self) -> (HttpAddress, u32) {
        locked(&self.place).clone()
    }

    /// A connection to the server of `address`: a kept one, else a new one.
    ///
    /// # Errors
    /// None can be made.
    pub(super) async fn link(&self, address: &HttpAddress) -> Result<Link, Failure> {
        let server = |address: &HttpAddress| (address.is_tls, address.host.clone(), address.port);
        while let Some(link) = {
            let mut idle = locked(&self.idle);
            let at = idle.iter().rposition(|(to, _)| server(to) == server(address));
            at.map(|at| idle.swap_remove(at).1)
        } {
            // A server closes what is idle for some time.
            if link.sender.is_ready() {
                return Ok(link);
            }
        }
        let link = self.connector.connect(address).await?;
        self.made.fetch_add(1, Relaxed);
        Ok(link)
    }

    /// Keeps a connection for the next request.
    pub(super) async fn keep(&self, address: HttpAddress, mut link: Link) {
        if link.sender.ready().await.is_ok() {
            locked(&self.idle).push((address, link));
        }
    }

    /// A request to place number `place` has failed: waits until it makes sense to repeat it.
    ///
    /// # Errors
    /// It does not make sense.
    pub(super) async fn recover(&self, failure: Failure, place: u32, attempts: &mut Attempts) -> Result<(), Failure> {
        attempts.failed += 1;
        match failure.again {
            Again::Never => return Err(failure),
            Again::Elsewhere if attempts.moved || self.found.resource.redirected_to.is_none() => return Err(failure),
            Again::Elsewhere => {
                attempts.moved = true;
                self.find_again(place).await?;
            }
            Again::Reconnect | Again::Later(_) => {
                let requested = if let Again::Later(requested) = failure.again { requested } else { None };
                let pause = self.retries.pause(attempts.failed, requested);
                let Some(pause) = pause else { return Err(after(failure, attempts.failed)) };
                tokio::time::sleep(pause).await;
            }
        }
        self.repeated.fetch_add(1, Relaxed);
        Ok(())
    }

    /// Follows the redirects of the address once more: a signed address is valid for a limited time.
    async fn find_again(&self, place: u32) -> Result<(), Failure> {
        let _one_at_a_time = self.moving.lock().await;
        if locked(&self.place).1 != place {
            return Ok(());
        }
        let (found, link) = find(&self.connector, &self.address).await?;
        found.check_same(&self.found)?;
        *locked(&self.place) = (found.address.clone(), place + 1);
        locked(&self.idle).extend(link.map(|link| (found.address, link)));
        Ok(())
    }

    /// Ends all requests, now and from now on.
    pub(super) fn cancel(&self) {
        self.cancelled.cancel();
    }

    /// Does `work` unless the requests are cancelled.
    ///
    /// # Errors
    /// ECANCELED; otherwise that of the work.
    pub(super) async fn unless_cancelled<T>(&self, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
        self.cancelled.unless(work).await
    }
}

impl Ranges for Client {
    fn len(&self) -> u64 {
        self.found.length.unwrap_or(0)
    }

    async fn fill(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.unless_cancelled(self.fetch(at, bytes)).await
    }
}

/// The failure of a request that was repeated.
fn after(failure: Failure, failed: u32) -> Failure {
    let times = if failed == 1 { "one attempt".to_owned() } else { format!("{failed} attempts") };
    Failure { words: format!("{} (after {times})", failure.words), ..failure }
}

/// Requests the first byte, by redirects as far as they lead. The connection can be used again, if there is one.
async fn find(connector: &Connector, from: &HttpAddress) -> Result<(Found, Option<Link>), Failure> {
    let mut address = from.clone();
    for redirects in 0..=REDIRECTS_MAX {
        let mut link = connector.connect(&address).await?;
        let response = link.get(&address, &[("range", "bytes=0-0")]).await?;
        if let 301 | 302 | 303 | 307 | 308 = response.status().as_u16() {
            let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            let location = location.ok_or_else(|| Failure::last("the server redirects to nowhere", ""))?;
            let to = address.redirected(location);
            address = to.map_err(|why| Failure::last(format!("haul does not follow the redirect: {why}"), ""))?;
            continue;
        }
        let mut found = Found::of(&address, &link, &response)?;
        found.resource.redirected_to = (redirects > 0).then(|| address.to_string());
        let is_short = found.resource.ranges && response.status().as_u16() == 206;
        let is_read = is_short && response.into_body().collect().await.is_ok();
        let is_ready = is_read && link.sender.ready().await.is_ok();
        return Ok((found, is_ready.then_some(link)));
    }
    Err(Failure::last(format!("more than {REDIRECTS_MAX} redirects"), "Check the address."))
}
