//! What the kernel offers and our crates do not wrap: system calls, ioctl numbers and structures, as safe functions.
//!
//! This room must not know what a copy is: no policy, no retries but for EINTR, no messages.
pub mod block;
pub mod clone;
pub mod loop_device;
pub mod page_cache;
mod signals;
pub mod socket;
mod standard;
mod usage;
mod wait;

pub use signals::is_ignored;
pub use standard::was_closed;
pub use usage::{Used, huge_page_bytes, used};
pub use wait::wait_any;
