//! Facts of a stream.
use crate::core::{CallStyle, Facts, Order};
use std::io;
use std::path::Path;

/// Fills in the I/O properties of a stream. Opens nothing: the other end of a FIFO would notice it, or the open would
/// wait for it.
///
/// # Errors
/// None; it returns a Result so that all probes have the same signature.
pub fn probe(_path: &Path, facts: &mut Facts) -> io::Result<()> {
    facts.make_stream(Order::Ascending, CallStyle::Waits);
    Ok(())
}
