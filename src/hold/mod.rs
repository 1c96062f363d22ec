//! Locks between hauls: which bytes of a file or device this process reads or writes, so that no other haul writes them
//! at the same time: not those of that file itself, nor through a partition or loop device that lies above it.
//!
//! This room must not know what is copied nor how: it gets an open file, an extent, and whether it is to be written.
#![forbid(unsafe_code)]
mod ground;
mod held;
mod holder;
mod lock;
mod regions;
#[cfg(test)]
mod tests;
mod usage;

pub use held::{Held, hold};
pub use holder::refused;
pub use usage::Use;
