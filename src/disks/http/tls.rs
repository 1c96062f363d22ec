//! TLS of web servers.
use super::super::tls::{self, Unavailable};
use super::failure::Failure;
use rustls::ClientConfig;
use std::sync::Arc;

pub(super) use super::super::tls::version_name;

/// What to do about certificates that do not verify.
pub(super) const ADVICE: &str = "Check the address and the clock. For a private authority, name its certificate with \
    SSL_CERT_FILE; haul has no option that skips the check.";

/// The configuration of all connections by TLS.
///
/// # Errors
/// There are no root certificates.
pub(super) fn config() -> Result<Arc<ClientConfig>, Failure> {
    let config = tls::roots_of_the_system().and_then(|roots| tls::client_config(roots, None));
    let mut config = config.map_err(|Unavailable { words, advice }| Failure::last(words, advice))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
