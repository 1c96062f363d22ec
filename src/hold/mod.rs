//! Locks between haul processes: they prevent other haul processes from writing bytes of a file or device that this
//! process reads or writes, both directly and through a partition or loop device above it.
//!
//! This room must not know what is copied nor how: its input is an open file, an extent, and whether it is to be
//! written.
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
