//! The digest of one block.
use super::HashKind;
use super::zero_bytes::zero_bytes;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::str::FromStr;

/// A 256-bit digest of a block's bytes, independent of the block's offset.
///
/// Its text form is 64 lowercase hexadecimal digits, as b3sum or sha256sum prints them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct BlockDigest([u8; 32]);

impl BlockDigest {
    /// Whether `kind` is suitable for identifying blocks: BLAKE3 and SHA-256 are; collisions can be constructed for the
    /// others.
    pub fn is_made_by(kind: HashKind) -> bool {
        matches!(kind, HashKind::Blake3 | HashKind::Sha256)
    }

    /// The digest of `bytes`. Panics if [`BlockDigest::is_made_by`] is false for `kind`.
    pub fn of(kind: HashKind, bytes: &[u8]) -> Self {
        Self::of_parts(kind, std::iter::once(bytes))
    }

    /// The digest of `len` zeros, without allocating them. Panics under the same condition as [`BlockDigest::of`].
    pub fn of_zeros(kind: HashKind, len: u64) -> Self {
        Self::of_parts(kind, zero_bytes(len))
    }

    fn of_parts<'a>(kind: HashKind, parts: impl Iterator<Item = &'a [u8]>) -> Self {
        match kind {
            HashKind::Blake3 => {
                let mut hasher = blake3::Hasher::new();
                parts.for_each(|part| {
                    hasher.update(part);
                });
                BlockDigest(*hasher.finalize().as_bytes())
            }
            HashKind::Sha256 => {
                let mut hasher = Sha256::new();
                parts.for_each(|part| hasher.update(part));
                BlockDigest(hasher.finalize().into())
            }
            HashKind::Sha512 | HashKind::Sha1 | HashKind::Md5 | HashKind::Xxh3 => {
                panic!("{} cannot identify blocks", kind.name())
            }
        }
    }

    /// The 256 bits.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for BlockDigest {
    fn from(bytes: [u8; 32]) -> Self {
        BlockDigest(bytes)
    }
}

impl fmt::Display for BlockDigest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

impl fmt::Debug for BlockDigest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl From<BlockDigest> for String {
    fn from(digest: BlockDigest) -> Self {
        digest.to_string()
    }
}

impl FromStr for BlockDigest {
    type Err = String;

    fn from_str(hex: &str) -> Result<Self, String> {
        let wrong = || format!("\"{hex}\" is not a digest: 64 hexadecimal digits in lower case");
        let digit = |c: u8| match c {
            b'0'..=b'9' => Some(c - b'0'),
            b'a'..=b'f' => Some(c - b'a' + 10),
            _ => None,
        };
        let (pairs, rest) = hex.as_bytes().as_chunks::<2>();
        if pairs.len() != 32 || !rest.is_empty() {
            return Err(wrong());
        }
        let mut bytes = [0; 32];
        for (byte, &[high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = digit(high).ok_or_else(wrong)? << 4 | digit(low).ok_or_else(wrong)?;
        }
        Ok(BlockDigest(bytes))
    }
}

impl TryFrom<String> for BlockDigest {
    type Error = String;

    fn try_from(hex: String) -> Result<Self, String> {
        hex.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_match_the_sum_programs() {
        // The first as printed by `printf abc | sha256sum`; the second is the BLAKE3 test vector for empty input.
        let sha = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(BlockDigest::of(HashKind::Sha256, b"abc").to_string(), sha);
        let empty = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";
        assert_eq!(BlockDigest::of(HashKind::Blake3, b"").to_string(), empty);
    }

    #[test]
    fn zeros_are_digested_without_a_buffer() {
        for len in [0usize, 1, 65535, 65536, 65537, 200_000] {
            for kind in [HashKind::Blake3, HashKind::Sha256] {
                assert_eq!(BlockDigest::of_zeros(kind, len as u64), BlockDigest::of(kind, &vec![0; len]), "{len}");
            }
        }
    }

    #[test]
    fn algorithm_names_parse_and_other_words_do_not() {
        let digest = BlockDigest::of(HashKind::Blake3, b"x");
        let hex = digest.to_string();
        assert_eq!(hex.parse(), Ok(digest));
        let odd = [hex.to_uppercase(), hex[1..].to_owned(), format!("{hex}0"), hex.replace(&hex[..1], "g"), "".into()];
        for wrong in odd {
            assert!(wrong.parse::<BlockDigest>().is_err(), "{wrong}");
        }
    }
}
