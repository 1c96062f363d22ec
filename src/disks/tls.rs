//! TLS: certificates are always verified, against the roots of the system or those of a file.
use crate::core::locked;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use std::env;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Why TLS is not available: certificates or keys are missing or invalid.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unavailable {
    /// The reason.
    pub(super) words: String,
    /// What to do about it.
    pub(super) advice: &'static str,
}

impl Unavailable {
    fn new(words: impl Into<String>, advice: &'static str) -> Self {
        Unavailable { words: words.into(), advice }
    }
}

/// The certificate of this client, and its key.
pub(super) type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// The roots of the system. SSL_CERT_FILE and SSL_CERT_DIR name other ones.
///
/// # Errors
/// There are no roots.
pub(super) fn roots_of_the_system() -> Result<Arc<RootCertStore>, Unavailable> {
    // A hundred certificates and more are parsed once, not for each connection.
    static ROOTS: Mutex<Option<Arc<RootCertStore>>> = Mutex::new(None);
    let mut known = locked(&ROOTS);
    match &*known {
        Some(roots) => Ok(roots.clone()),
        None => Ok(known.insert(Arc::new(load_roots()?)).clone()),
    }
}

fn load_roots() -> Result<RootCertStore, Unavailable> {
    if let Some(file) = env::var_os("SSL_CERT_FILE").filter(|file| !Path::new(file).is_file()) {
        // Without this, the roots of the system would be used instead.
        let words = format!("SSL_CERT_FILE names {}, which is not a file", file.display());
        return Err(Unavailable::new(words, "Correct or unset the variable."));
    }
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        let why = found.errors.first().map(|error| format!(": {error}")).unwrap_or_default();
        let advice = "Install the certificates (Debian: ca-certificates), or name a file of them with SSL_CERT_FILE.";
        return Err(Unavailable::new(format!("no root certificates were found{why}"), advice));
    }
    Ok(roots)
}

/// The roots in a file of PEM certificates.
///
/// # Errors
/// The file cannot be read or has no valid certificate.
pub(super) fn roots_in(file: &Path) -> Result<Arc<RootCertStore>, Unavailable> {
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(certificates(file)?);
    if added == 0 {
        return Err(Unavailable::new(format!("{} has no valid certificate", file.display()), CHECK_FILES));
    }
    Ok(Arc::new(roots))
}

/// The identity in two files in PEM format.
///
/// # Errors
/// A file cannot be read or has no certificate or key.
pub(super) fn identity_in(certificate: &Path, key: &Path) -> Result<Identity, Unavailable> {
    let found = PrivateKeyDer::from_pem_file(key);
    let found = found.map_err(|error| Unavailable::new(format!("{}: {error}", key.display()), CHECK_FILES))?;
    Ok((certificates(certificate)?, found))
}

const CHECK_FILES: &str = "Check the certificate files.";

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, Unavailable> {
    let found = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    found.map_err(|error| Unavailable::new(format!("{}: {error}", file.display()), CHECK_FILES))
}

/// The configuration of connections as a client.
///
/// # Errors
/// The key does not match the certificate of the client.
pub(super) fn client_config(
    roots: Arc<RootCertStore>,
    identity: Option<Identity>,
) -> Result<ClientConfig, Unavailable> {
    let failed = |error: rustls::Error| Unavailable::new(format!("TLS is not available: {error}"), CHECK_FILES);
    let config = ClientConfig::builder_with_provider(ring::default_provider().into());
    let config = config.with_safe_default_protocol_versions().map_err(failed)?.with_root_certificates(roots);
    match identity {
        None => Ok(config.with_no_client_auth()),
        Some((certificates, key)) => config.with_client_auth_cert(certificates, key).map_err(failed),
    }
}

/// The version of the protocol, in the usual form.
pub(super) fn version_name(version: Option<rustls::ProtocolVersion>) -> String {
    match version {
        Some(rustls::ProtocolVersion::TLSv1_3) => "TLS 1.3".to_owned(),
        Some(rustls::ProtocolVersion::TLSv1_2) => "TLS 1.2".to_owned(),
        other => format!("{other:?}"),
    }
}
