//! Block devices and partitions: exclusive opens, zeroing by the device, and distinguishing a removed disk from the end
//! of a device.
//!
//! This room must not know files, mounts, engines, or plans beyond the side that it opens.
#![forbid(unsafe_code)]
mod device;
mod probe;

use super::opening::Opening;
use crate::core::{Endpoint, Result};
pub use probe::probe;
use std::sync::Arc;

/// Opens a block device.
pub(super) fn open(opening: Opening<'_>) -> Result<Arc<dyn Endpoint>> {
    Ok(Arc::new(device::BlockDevice::open(opening)?))
}
