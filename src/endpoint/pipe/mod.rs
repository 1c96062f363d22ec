//! Pipes, FIFOs, sockets and terminals: bytes in order, waits that can be cancelled.
//!
//! This room must not know offsets beyond counting them, nor what stands behind standard input and output if it is a
//! file or a device: those are opened as what they are.
#![forbid(unsafe_code)]
mod probe;

pub use probe::probe;
