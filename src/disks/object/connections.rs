//! The connections to the server of a store that are kept.
use crate::core::{HttpAddress, locked};
use crate::disks::http::connect::Connector;
use crate::disks::http::failure::Failure;
use crate::disks::http::link::Link;
use crate::disks::http::retry_policy::RetryPolicy;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A server: by TLS, host and port.
pub(super) type Server = (bool, String, u16);

/// The server of an address.
pub(super) fn server_of(address: &HttpAddress) -> Server {
    (address.is_tls, address.host.clone(), address.port)
}

/// The connections to the server of a store that are kept.
pub(super) struct Connections {
    connector: Connector,
    pub(super) retries: RetryPolicy,
    idle: Mutex<Vec<(Server, Link)>>,
    /// Requests that failed in a way that makes sense to repeat.
    failed: AtomicU32,
}

impl Connections {
    pub(super) fn new() -> Connections {
        let retries = RetryPolicy::usual();
        let connector = Connector::new(retries);
        Connections { connector, retries, idle: Mutex::default(), failed: AtomicU32::new(0) }
    }

    /// A connection to the server of `address`: a kept one, else a new one.
    ///
    /// # Errors
    /// None can be made.
    pub(super) async fn link(&self, address: &HttpAddress) -> Result<Link, Failure> {
        let server = server_of(address);
        while let Some(mut link) = {
            let mut idle = locked(&self.idle);
            let at = idle.iter().rposition(|(to, _)| *to == server);
            at.map(|at| idle.swap_remove(at).1)
        } {
            // A server closes what is idle for some time.
            if link.sender.ready().await.is_ok() {
                return Ok(link);
            }
        }
        self.connector.connect(address).await
    }

    /// Keeps a connection for the next request.
    pub(super) fn keep(&self, server: Server, link: Link) {
        locked(&self.idle).push((server, link));
    }

    /// The proxy to the server of `address`, if there is one.
    pub(super) fn proxy_name(&self, address: &HttpAddress) -> Option<String> {
        self.connector.proxy_name(address)
    }

    /// A request failed in a way that makes sense to repeat.
    pub(super) fn on_failure(&self) {
        self.failed.fetch_add(1, Relaxed);
    }

    /// How many did.
    pub(super) fn failed(&self) -> u32 {
        self.failed.load(Relaxed)
    }
}
