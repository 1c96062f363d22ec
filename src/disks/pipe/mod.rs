//! Pipes, FIFOs, sockets and terminals: bytes in order, waits that can be cancelled.
//!
//! This room must not know offsets beyond counting them, nor what is behind standard input and output if it is a file
//! or a device: those are opened as what they are.
#![forbid(unsafe_code)]
mod ordered;
mod probe;
mod stream;
#[cfg(test)]
mod tests;

use super::opening::Opening;
use crate::core::{Endpoint, Result};
pub use probe::probe;
use std::sync::Arc;

/// Opens a stream; `-` is standard input or output. A FIFO waits here for its other end, as every program does.
pub(super) fn open(opening: Opening<'_>) -> Result<Arc<dyn Endpoint>> {
    Ok(Arc::new(ordered::Ordered::open(opening)?))
}
