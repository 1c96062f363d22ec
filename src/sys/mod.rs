//! Kernel interfaces that no crate provides: system calls, ioctl numbers and structures, as safe functions.
//!
//! This room must not know what a copy is: it has no policy, no retries except for EINTR, and no messages.
mod attributes;
pub mod block;
pub mod bsg;
pub mod clone;
mod close;
mod locale;
pub mod loop_device;
mod memory;
pub mod nvme;
pub mod page_cache;
mod range_lock;
pub mod sg;
mod signals;
pub mod socket;
mod spawn;
mod standard;
mod usage;
mod wait;

pub use attributes::{attribute, resolved};
pub use close::{close, retry};
pub use locale::{in_case, is_utf8};
pub use memory::share_one_heap;
pub use range_lock::{OtherLock, RangeLock, other_range_lock, set_range_lock};
pub use signals::{block, ignore, is_ignored};
pub use spawn::{bind_to_parent, join_group};
pub use standard::{die_of_broken_pipes, was_closed, was_pipe_ignored};
pub use usage::{Used, huge_page_bytes, used};
pub use wait::wait_any;
