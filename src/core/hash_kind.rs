//! Which digest.

/// A digest to compute while copying.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HashKind {
    /// BLAKE3, 256 bits.
    Blake3,
    /// SHA-256.
    Sha256,
    /// MD5, for old lists of sums only.
    Md5,
    /// XXH3, 128 bits: fast, no protection against intent.
    Xxh3,
}

impl HashKind {
    /// The word for options and messages.
    pub fn name(self) -> &'static str {
        match self {
            HashKind::Blake3 => "blake3",
            HashKind::Sha256 => "sha256",
            HashKind::Md5 => "md5",
            HashKind::Xxh3 => "xxh3",
        }
    }
}
