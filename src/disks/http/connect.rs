//! Connections to web servers: TCP, a proxy where the environment names one, TLS.
use super::failure::{Again, Failure, in_words};
use super::link::Link;
use super::retry_policy::RetryPolicy;
use super::tls;
use crate::core::{HttpAddress, Kind, locked};
use hyper::Uri;
use hyper::client::conn::http1;
use hyper::header::HeaderValue;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioIo;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

/// How long a connection may take to be made, each of its steps.
const CONNECTS_WITHIN: Duration = Duration::from_secs(10);

/// Most bytes that hyper reads ahead on a connection.
const READ_BYTES_MAX: usize = 256 << 10;

/// Most bytes of a proxy's answer.
const PROXY_HEAD_BYTES_MAX: usize = 16 << 10;

/// What a connection is made of.
trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// Makes connections.
pub(in crate::disks) struct Connector {
    proxies: Matcher,
    /// Loading the certificates takes some milliseconds: once, and only for https.
    tls: Mutex<Option<Arc<ClientConfig>>>,
    retries: RetryPolicy,
}

impl Connector {
    pub(in crate::disks) fn new(retries: RetryPolicy) -> Connector {
        Connector { proxies: Matcher::from_env(), tls: Mutex::new(None), retries }
    }

    /// The proxy for an address, without its credentials.
    pub(in crate::disks) fn proxy_name(&self, address: &HttpAddress) -> Option<String> {
        self.proxy(address).map(|proxy| place_of(proxy.uri()))
    }

    fn proxy(&self, address: &HttpAddress) -> Option<Intercept> {
        let uri: Uri = format!("{}://{}/", address.scheme(), address.authority()).parse().ok()?;
        self.proxies.intercept(&uri)
    }

    /// A new connection to the server of `address`.
    ///
    /// # Errors
    /// What failed; a certificate that does not verify never succeeds.
    pub(in crate::disks) async fn connect(&self, address: &HttpAddress) -> Result<Link, Failure> {
        let proxy = self.proxy(address);
        let mut proxy_credentials = None;
        let mut wire: Box<dyn Wire> = match &proxy {
            None => Box::new(tcp(&address.host, address.port).await?),
            Some(proxy) => {
                let mut wire = to_proxy(proxy.uri()).await?;
                if address.is_tls {
                    tunnel(&mut wire, address, proxy.basic_auth()).await?;
                } else {
                    proxy_credentials = proxy.basic_auth().cloned();
                }
                Box::new(wire)
            }
        };
        let mut tls_version = None;
        if address.is_tls {
            let (secured, version) = self.secure(wire, address).await?;
            (wire, tls_version) = (secured, Some(version));
        }
        let mut builder = http1::Builder::new();
        builder.max_buf_size(READ_BYTES_MAX);
        let made = builder.handshake(TokioIo::new(wire)).await;
        let (sender, connection) = made.map_err(|error| Failure::lost(in_words(&error)))?;
        // Its end is seen by the requests on it.
        tokio::spawn(connection);
        let by_proxy = proxy.is_some() && !address.is_tls;
        Ok(Link { sender, by_proxy, proxy_credentials, tls_version, retries: self.retries })
    }

    async fn secure(&self, wire: Box<dyn Wire>, address: &HttpAddress) -> Result<(Box<dyn Wire>, String), Failure> {
        let config = {
            let mut made = locked(&self.tls);
            match &*made {
                Some(config) => config.clone(),
                None => made.insert(tls::config()?).clone(),
            }
        };
        let name = ServerName::try_from(address.host.clone())
            .map_err(|_| Failure::last(format!("{} is no name that a certificate can have", address.host), ""))?;
        let shaking = timeout(CONNECTS_WITHIN, TlsConnector::from(config).connect(name, wire));
        let stream = shaking.await.map_err(|_| silent("TLS"))?.map_err(|error| not_secured(&address.host, &error))?;
        let version = tls::version_name(stream.get_ref().1.protocol_version());
        Ok((Box::new(stream), version))
    }
}

/// Why TLS failed: a certificate that does not verify, or a connection that does not work.
fn not_secured(host: &str, error: &io::Error) -> Failure {
    use tokio_rustls::rustls::Error;
    let words = in_words(error);
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(Error::InvalidCertificate(_)) => {
            let words = format!("the certificate of {host} does not verify: {words}");
            Failure { kind: Kind::Open, ..Failure::last(words, tls::ADVICE) }
        }
        Some(_) => Failure::last(format!("TLS with {host} failed: {words}"), "Check the address and the port."),
        None => Failure::new(Again::Reconnect, format!("TLS with {host} failed: {words}")),
    }
}

fn silent(step: &str) -> Failure {
    Failure::new(Again::Reconnect, format!("no answer within {} s ({step})", CONNECTS_WITHIN.as_secs()))
}

async fn tcp(host: &str, port: u16) -> Result<TcpStream, Failure> {
    let looked_up = timeout(CONNECTS_WITHIN, lookup_host((host, port))).await.map_err(|_| silent("name lookup"))?;
    let addresses = looked_up.map_err(|error| {
        let words = format!("host {host} cannot be found: {}", in_words(&error));
        Failure { advice: "Check the name of the host.", ..Failure::new(Again::Reconnect, words) }
    })?;
    let mut failed = Failure::new(Again::Reconnect, format!("host {host} has no address"));
    for address in addresses {
        match timeout(CONNECTS_WITHIN, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                // A request is one write.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Ok(Err(error)) => {
                let words = format!("cannot connect to {host} port {port}: {}", in_words(&error));
                let advice = "Check the address and whether the server runs.";
                failed = Failure { advice, ..Failure::new(Again::Reconnect, words) };
            }
            Err(_) => failed = silent("connecting"),
        }
    }
    Err(failed)
}

fn place_of(proxy: &Uri) -> String {
    let port = proxy.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{}{port}", proxy.scheme_str().unwrap_or("http"), proxy.host().unwrap_or_default())
}

async fn to_proxy(proxy: &Uri) -> Result<TcpStream, Failure> {
    if proxy.scheme_str() != Some("http") {
        let words = format!("proxy {} is not supported", place_of(proxy));
        let advice = "haul uses proxies with http:// addresses; unset the variable, or add the host to no_proxy.";
        return Err(Failure::last(words, advice));
    }
    let host = proxy.host().unwrap_or_default().trim_matches(['[', ']']);
    let connected = tcp(host, proxy.port_u16().unwrap_or(80)).await;
    connected.map_err(|failure| Failure { words: format!("proxy: {}", failure.words), ..failure })
}

/// Has a proxy connect to the server, for TLS through it.
async fn tunnel(wire: &mut TcpStream, to: &HttpAddress, auth: Option<&HeaderValue>) -> Result<(), Failure> {
    let host = if to.host.contains(':') { format!("[{}]", to.host) } else { to.host.clone() };
    let place = format!("{host}:{}", to.port);
    let auth = auth.and_then(|value| value.to_str().ok());
    let auth = auth.map(|value| format!("Proxy-Authorization: {value}\r\n")).unwrap_or_default();
    let request = format!("CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n{auth}\r\n");
    let failed = |error: io::Error| Failure::new(Again::Reconnect, format!("proxy: {}", in_words(&error)));
    let mut head = Vec::new();
    let answered = timeout(CONNECTS_WITHIN, async {
        wire.write_all(request.as_bytes()).await?;
        // Byte by byte: what follows the head is the server's.
        while !head.ends_with(b"\r\n\r\n") && head.len() < PROXY_HEAD_BYTES_MAX {
            head.push(wire.read_u8().await?);
        }
        io::Result::Ok(())
    });
    answered.await.map_err(|_| silent("proxy"))?.map_err(failed)?;
    let text = String::from_utf8_lossy(&head);
    let status = text.split(' ').nth(1).unwrap_or_default();
    match status {
        "200" => Ok(()),
        "407" => Err(Failure::last("the proxy requires credentials (407)", "Write them in the address of the proxy.")),
        status => Err(Failure::new(Again::Reconnect, format!("the proxy refuses to connect (status {status})"))),
    }
}
