//! Facts of a stream.
use crate::core::{CallStyle, Facts, Order};
use std::io;
use std::path::Path;

/// Fills in what concerns the I/O on a stream. Opens nothing: an open would be seen at the other end of a FIFO, or
/// wait for it.
///
/// # Errors
/// None; the result is there so that all probes look alike.
pub fn probe(_path: &Path, facts: &mut Facts) -> io::Result<()> {
    facts.make_stream(Order::Ascending, CallStyle::Waits);
    Ok(())
}
