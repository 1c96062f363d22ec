//! Resources of web servers as a source: by ranges on several connections, or in order where the server has no ranges.
//!
//! This room must not know what the bytes are, nor what a copy does with them. An async runtime drives the connections
//! on a thread of its own, which starts with the first address of a web server; the copy sees a queue.
#![forbid(unsafe_code)]
mod body;
pub(super) mod cancellation;
mod client;
pub(super) mod connect;
pub(super) mod failure;
mod fetch;
pub(super) mod link;
mod open;
pub(super) mod queue;
mod resource;
pub(super) mod retry_policy;
pub(super) mod runtime;
mod small;
mod stream;
#[cfg(test)]
mod tests;
mod tls;
mod version;

pub(super) use open::{first_bytes, open, probe};
pub(super) use small::SmallResources;
