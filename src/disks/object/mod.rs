//! Objects of S3, Google Cloud Storage and Azure: read by ranges, written in parts and visible as a whole.
//!
//! This room must not know what the bytes are, nor what a copy does with them. Protocols, credentials and repetitions
//! are those of the crate `object_store`; the connections are those of `disks::http`.
#![forbid(unsafe_code)]
mod answer;
mod completion;
mod connections;
mod dest;
mod failure;
mod open;
mod parts;
mod progress;
mod sending;
mod service;
mod source;
mod state;
mod store;
mod uploads;

pub use completion::complete;
pub(super) use open::{first_bytes, open, probe};
pub use state::SharedState;
pub use uploads::{abort, begin, list, present, stored};
