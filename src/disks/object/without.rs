//! What this build of haul does instead: it was built without object stores.
use crate::core::{Endpoint, Error, Facts, Kind, ObjectAddress, PendingUpload, Result, Side, Upload};
use crate::disks::opening::Opening;
use std::sync::Arc;

fn refused(what: impl std::fmt::Display) -> Error {
    Error::new(Kind::Unsupported, format!("cannot use {what}: this build of haul has no object stores"))
}

/// Refuses every object.
pub(in crate::disks) fn probe(address: &ObjectAddress, side: Side) -> Result<Facts> {
    Err(refused(address).on(side))
}

/// Refuses every object.
pub(in crate::disks) fn first_bytes(facts: &Facts, _len: usize) -> Result<Vec<u8>> {
    Err(refused(&facts.address))
}

/// Refuses every object.
pub(in crate::disks) fn open(opening: Opening<'_>) -> Result<Arc<dyn Endpoint>> {
    Err(refused(&opening.plan.address).on(opening.side))
}

/// Refuses every object.
pub fn present(address: &str, _upload: &Upload) -> Result<Vec<u32>> {
    Err(refused(address))
}

/// Refuses every store.
pub fn list(address: &ObjectAddress) -> Result<Vec<PendingUpload>> {
    Err(refused(address))
}

/// Refuses every store.
pub fn abort(address: &ObjectAddress, _id: &str) -> Result<()> {
    Err(refused(address))
}
