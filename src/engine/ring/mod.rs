//! io_uring: finding out whether it may be used, setting one up, keeping requests in flight on it.
//!
//! Must not know what is at the other end: an endpoint that can be on a ring encodes its own entries.
mod form;
mod queue;
mod setup;

pub use form::{EntryForm, Narrow, Wide};
pub use queue::RingQueue;
pub use setup::refused;
