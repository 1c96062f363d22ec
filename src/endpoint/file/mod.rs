//! Regular files: direct and buffered, holes, odd tails, allocation ahead, shared extents.
//!
//! This room must not know block devices, engines or plans beyond the side it is given.
#![forbid(unsafe_code)]
mod probe;

pub use probe::{probe, probe_new};
