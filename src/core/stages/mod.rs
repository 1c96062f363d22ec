//! What is done to bytes between reading and writing: looking for zeros, digests, comparing, the test pattern.
//!
//! This room must not know where bytes come from or go to, nor how requests are kept in flight.
#![forbid(unsafe_code)]
mod block_digests;
mod checklist;
mod compare;
mod digest;
mod fingerprint;
mod pattern;
mod sparse;

pub use checklist::{Checklist, sample};
pub use compare::{differences, first_difference, same_prefix};
pub use digest::Digester;
pub use fingerprint::fingerprint;
pub use pattern::{Inspector, Mark, PATTERN_BLOCK_BYTES_MIN, Pattern, Surveyor};
pub use sparse::zero_prefix;
