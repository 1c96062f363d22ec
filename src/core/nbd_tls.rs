//! Encryption of the connections to an NBD server.
use super::percent::{decoded_text, encoded};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Encryption of the connections to an NBD server by TLS with certificates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NbdTls {
    /// Folder with `ca-cert.pem`, and with `client-cert.pem` and `client-key.pem` if the server wants to know the
    /// client; `None`: the roots of the system.
    pub certificates: Option<PathBuf>,
    /// The name in the server's certificate; `None`: the host of the address, `localhost` for a Unix domain socket.
    pub hostname: Option<String>,
}

impl NbdTls {
    /// Sets what a parameter of an address says.
    ///
    /// # Errors
    /// Why the parameter cannot be used.
    pub(super) fn set(&mut self, key: &str, value: &str) -> std::result::Result<(), String> {
        match key {
            "tls-certificates" | "tls-hostname" if value.is_empty() => Err(format!("'{key}' has no value")),
            "tls-certificates" if self.certificates.is_none() => {
                self.certificates = Some(decoded_text(value)?.into());
                Ok(())
            }
            "tls-hostname" if self.hostname.is_none() => {
                self.hostname = Some(decoded_text(value)?);
                Ok(())
            }
            "tls-certificates" | "tls-hostname" => Err(format!("it has '{key}' twice")),
            "tls-psk-file" | "tls-username" => {
                Err("TLS with shared keys (PSK) is not supported; use certificates (tls-certificates=FOLDER)"
                    .to_owned())
            }
            "tls-verify-peer" if ["1", "true", "yes", "on"].contains(&value) => Ok(()),
            "tls-verify-peer" => Err("haul always verifies the certificate of the server".to_owned()),
            key => Err(format!("unknown parameter '{key}'")),
        }
    }

    /// Writes its parameters after `before`, `?` or `&`.
    pub(super) fn write(&self, out: &mut fmt::Formatter<'_>, mut before: char) -> fmt::Result {
        let certificates = self.certificates.as_ref().map(|folder| encoded(folder.as_os_str().as_bytes()));
        let hostname = self.hostname.as_ref().map(|name| encoded(name.as_bytes()));
        for (key, value) in [("tls-certificates", certificates), ("tls-hostname", hostname)] {
            if let Some(value) = value {
                write!(out, "{before}{key}={value}")?;
                before = '&';
            }
        }
        Ok(())
    }
}
