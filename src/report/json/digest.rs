use crate::core::Digest;
use serde::Serialize;

/// A digest.
#[derive(Clone, Debug, Serialize)]
pub struct DigestReport {
    /// `blake3`, `sha256`, `md5` or `xxh3`.
    pub hash: &'static str,
    /// In hexadecimal.
    pub hex: String,
}

impl From<&Digest> for DigestReport {
    fn from(digest: &Digest) -> Self {
        DigestReport { hash: digest.kind.name(), hex: digest.hex.clone() }
    }
}
