//! Stages that process data between reading and writing: zero detection, digests, comparison, the test pattern.
//!
//! This room must not know where data comes from or goes to, nor how requests are kept in flight.
#![forbid(unsafe_code)]
mod block_digests;
mod checklist;
mod compare;
mod digest;
mod fingerprint;
mod hasher;
mod pattern;
mod range_checks;
mod sparse;

pub use checklist::{Checklist, sample};
pub use compare::{differences, first_difference, same_prefix};
pub use digest::Digester;
pub use fingerprint::fingerprint;
pub use hasher::Hasher;
pub use pattern::{Inspector, Mark, PATTERN_BLOCK_BYTES_MIN, Pattern, Surveyor};
pub use sparse::zero_prefix;
