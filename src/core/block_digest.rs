//! The digest of one block, and how it is computed.
use super::HashKind;
use super::zero_bytes::zero_bytes;
use blake3::hazmat::HasherExt;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::str::FromStr;

/// How the blocks of a copy are digested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BlockHash {
    /// The chaining value of the block in the BLAKE3 tree of the copy ([`super::hash_tree`]): it depends on the place
    /// of the block, and those of all blocks give the digest of the whole. Blocks of zeros have no digest.
    #[serde(rename = "blake3-tree")]
    Blake3Tree,
    /// BLAKE3 of the block alone.
    #[serde(rename = "blake3")]
    Blake3,
    /// SHA-256 of the block alone.
    #[serde(rename = "sha256")]
    Sha256,
}

impl BlockHash {
    /// The name in files and messages.
    pub fn name(self) -> &'static str {
        match self {
            BlockHash::Blake3Tree => "blake3-tree",
            BlockHash::Blake3 => "blake3",
            BlockHash::Sha256 => "sha256",
        }
    }

    /// The algorithm that digests the whole in the same manifest.
    pub fn of_whole(self) -> HashKind {
        match self {
            BlockHash::Blake3Tree | BlockHash::Blake3 => HashKind::Blake3,
            BlockHash::Sha256 => HashKind::Sha256,
        }
    }

    /// Whether `digest` is that of a block of `len` zeros, digested like other bytes.
    pub fn is_of_zeros(self, digest: BlockDigest, len: u64) -> bool {
        match self {
            BlockHash::Blake3Tree => false,
            BlockHash::Blake3 => digest == BlockDigest::blake3_of(zero_bytes(len)),
            BlockHash::Sha256 => digest == BlockDigest::sha256_of(zero_bytes(len)),
        }
    }

    /// The digest of the block at `offset` of the copy with these bytes.
    pub fn digest(self, offset: u64, bytes: &[u8]) -> BlockDigest {
        match self {
            BlockHash::Blake3Tree => {
                let mut hasher = blake3::Hasher::new();
                hasher.set_input_offset(offset).update(bytes);
                BlockDigest(hasher.finalize_non_root())
            }
            BlockHash::Blake3 => BlockDigest::blake3(bytes),
            BlockHash::Sha256 => BlockDigest::sha256_of([bytes]),
        }
    }
}

/// A 256-bit digest of a block's bytes.
///
/// Its text form is 64 lowercase hexadecimal digits, as b3sum or sha256sum prints them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct BlockDigest([u8; 32]);

impl BlockDigest {
    /// BLAKE3 of `bytes`.
    pub fn blake3(bytes: &[u8]) -> Self {
        Self::blake3_of([bytes])
    }

    /// BLAKE3 of `parts` in order.
    pub fn blake3_of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(part);
        }
        BlockDigest(*hasher.finalize().as_bytes())
    }

    fn sha256_of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = Sha256::new();
        parts.into_iter().for_each(|part| hasher.update(part));
        BlockDigest(hasher.finalize().into())
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
        assert_eq!(BlockHash::Sha256.digest(0, b"abc").to_string(), sha);
        let empty = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";
        assert_eq!(BlockDigest::blake3(b"").to_string(), empty);
    }

    #[test]
    fn zeros_are_digested_without_a_buffer() {
        for len in [0usize, 1, 65535, 65536, 65537, 200_000] {
            for hash in [BlockHash::Blake3, BlockHash::Sha256] {
                let digest = hash.digest(7 << 20, &vec![0; len]);
                assert!(hash.is_of_zeros(digest, len as u64) && !hash.is_of_zeros(digest, len as u64 + 1), "{len}");
            }
        }
    }

    #[test]
    fn algorithm_names_parse_and_other_words_do_not() {
        let digest = BlockDigest::blake3(b"x");
        let hex = digest.to_string();
        assert_eq!(hex.parse(), Ok(digest));
        let odd = [hex.to_uppercase(), hex[1..].to_owned(), format!("{hex}0"), hex.replace(&hex[..1], "g"), "".into()];
        for wrong in odd {
            assert!(wrong.parse::<BlockDigest>().is_err(), "{wrong}");
        }
    }
}
