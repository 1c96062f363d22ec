//! io_uring: detecting and setting up rings, and keeping requests in flight on them.
//!
//! This room must not know any kind of endpoint: an endpoint that supports io_uring encodes its own entries.
mod form;
mod queue;
mod setup;

pub use form::{EntryForm, Narrow, Wide};
pub use queue::RingQueue;
pub use setup::refused;
