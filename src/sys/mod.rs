//! Kernel interfaces that no library offers: structs, numbers, one call each, and nothing else.
//!
//! This room must not know any other room, nor decide anything.
mod usage;
mod wait;

pub use usage::{Used, used};
pub use wait::wait_any;
