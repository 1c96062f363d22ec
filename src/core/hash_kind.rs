//! Digest algorithms.

/// A digest algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HashKind {
    /// BLAKE3, 256 bits.
    Blake3,
    /// SHA-256.
    Sha256,
    /// SHA-512.
    Sha512,
    /// SHA-1, only for block maps before version 2.0.
    Sha1,
    /// MD5, only for compatibility with existing checksum lists.
    Md5,
    /// XXH3, 128 bits: fast, but not collision resistant.
    Xxh3,
}

impl HashKind {
    /// The name for options and messages.
    pub fn name(self) -> &'static str {
        match self {
            HashKind::Blake3 => "blake3",
            HashKind::Sha256 => "sha256",
            HashKind::Sha512 => "sha512",
            HashKind::Sha1 => "sha1",
            HashKind::Md5 => "md5",
            HashKind::Xxh3 => "xxh3",
        }
    }
}
