//! Regular files: direct and buffered I/O, holes, unaligned tails, allocation, shared extents.
//!
//! This room must not know block devices, engines, or plans beyond the side that it opens.
#![forbid(unsafe_code)]
mod allocation;
mod holes;
mod name;
mod probe;
mod regular;

use super::opening::Opening;
use crate::core::{Endpoint, Result};
pub use probe::{probe, probe_least_read, probe_new};
use std::sync::Arc;

/// Opens a regular file.
pub(super) fn open(opening: Opening<'_>) -> Result<Arc<dyn Endpoint>> {
    Ok(Arc::new(regular::RegularFile::open(opening)?))
}
