//! What this build of haul does instead: it was built without HTTP.
use crate::core::{Endpoint, Error, Facts, HttpAddress, Kind, Result, Side};
use crate::disks::opening::Opening;
use std::sync::Arc;

/// Refuses every resource.
pub(in crate::disks) fn probe(address: &HttpAddress) -> Result<Facts> {
    let what = format!("cannot open source {address}: this build of haul has no HTTP");
    Err(Error::new(Kind::Unsupported, what).on(Side::Source))
}

/// There are none, because no probe of this build found the resource.
pub(in crate::disks) fn first_bytes(facts: &Facts, len: usize) -> Result<Vec<u8>> {
    unreachable!("{len} bytes of {}, which no probe of this build found", facts.address)
}

/// Refuses every resource.
pub(in crate::disks) fn open(opening: Opening<'_>) -> Result<Arc<dyn Endpoint>> {
    Err(opening.error(Kind::Unsupported, ": this build of haul has no HTTP"))
}
