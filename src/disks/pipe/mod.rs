//! Pipes, FIFOs, sockets and terminals: streams with cancellable waits.
//!
//! This room must not know offsets beyond counting bytes, nor files or devices behind standard input and output: those
//! are opened as what they are.
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

/// Opens a stream; `-` is standard input or output. Opening a FIFO waits for its other end, as usual.
pub(super) fn open(opening: Opening<'_>) -> Result<Arc<dyn Endpoint>> {
    Ok(Arc::new(ordered::Ordered::open(opening)?))
}
