//! Digests of any kind, of bytes in their order.
use crate::core::HashKind;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha512};
use twox_hash::XxHash3_128;

/// A digest of a kind that is chosen at run time.
pub struct Hasher(State);

enum State {
    Blake3(Box<blake3::Hasher>),
    Sha256(Sha256),
    Sha512(Sha512),
    Sha1(Sha1),
    Md5(Md5),
    Xxh3(Box<XxHash3_128>),
}

impl Hasher {
    /// Of no bytes yet.
    pub fn new(kind: HashKind) -> Self {
        Hasher(match kind {
            HashKind::Blake3 => State::Blake3(Box::default()),
            HashKind::Sha256 => State::Sha256(Sha256::new()),
            HashKind::Sha512 => State::Sha512(Sha512::new()),
            HashKind::Sha1 => State::Sha1(Sha1::new()),
            HashKind::Md5 => State::Md5(Md5::new()),
            HashKind::Xxh3 => State::Xxh3(Box::new(XxHash3_128::new())),
        })
    }

    /// Adds `bytes` after those before.
    pub fn update(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            State::Blake3(hasher) => drop(hasher.update(bytes)),
            State::Sha256(hasher) => hasher.update(bytes),
            State::Sha512(hasher) => hasher.update(bytes),
            State::Sha1(hasher) => hasher.update(bytes),
            State::Md5(hasher) => hasher.update(bytes),
            State::Xxh3(hasher) => hasher.write(bytes),
        }
    }

    /// The digest in hexadecimal, lower case.
    pub fn finish(self) -> String {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        match self.0 {
            State::Blake3(hasher) => hasher.finalize().to_hex().to_string(),
            State::Sha256(hasher) => hex(&hasher.finalize()),
            State::Sha512(hasher) => hex(&hasher.finalize()),
            State::Sha1(hasher) => hex(&hasher.finalize()),
            State::Md5(hasher) => hex(&hasher.finalize()),
            State::Xxh3(hasher) => format!("{:032x}", hasher.finish_128()),
        }
    }
}
