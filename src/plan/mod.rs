//! Options and Facts in, a Plan out: pure, the same answer for the same question, tested without a disk.
//!
//! This room must not know how anything is opened, read or printed; it does no I/O.
#![forbid(unsafe_code)]
mod options;

pub use options::{Expectation, Options, ProgressStyle, When};

/// Largest block size that may be asked for, in bytes.
pub const BLOCK_BYTES_ASKABLE: u32 = 64 << 20;

/// Greatest depth that may be asked for.
pub const DEPTH_ASKABLE: u32 = 1024;
