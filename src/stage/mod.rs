//! What is done to bytes between reading and writing: looking for zeros, digests, comparing.
//!
//! This room must not know where bytes come from or go to, nor how requests are kept in flight.
#![forbid(unsafe_code)]
mod compare;
mod digest;
mod sparse;

pub use compare::{differences, first_difference};
pub use digest::Digester;
pub use sparse::zero_prefix;
