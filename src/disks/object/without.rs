//! What this build of haul does instead: it was built without object stores.
use crate::core::{Endpoint, Error, Extent, Facts, Kind, ObjectAddress, PendingUpload, Result, Side, Upload};
use crate::disks::opening::Opening;
use std::convert::Infallible;
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

/// Refuses every store.
pub fn begin(address: &ObjectAddress) -> Result<String> {
    Err(refused(address))
}

/// Refuses every store.
pub fn stored(
    address: &ObjectAddress,
    _id: &str,
    _part_bytes: u64,
    _shard: Extent,
    _end: u64,
) -> Result<Vec<(u32, String)>> {
    Err(refused(address))
}

/// Refuses every store.
pub fn complete(
    address: &ObjectAddress,
    _id: &str,
    _tags: Vec<String>,
    _size: u64,
    _existing: Option<&str>,
) -> Result<()> {
    Err(refused(address))
}

/// State that many workers share: none in this build.
pub struct SharedState(Infallible);

impl SharedState {
    /// Refuses every address.
    pub fn open(address: &str) -> Result<SharedState> {
        Err(refused(format_args!("--state {address}")))
    }

    /// Its address.
    pub fn address(&self) -> &str {
        match self.0 {}
    }

    /// The same, with another time for an answer.
    pub fn answered_within(self, _time: std::time::Duration) -> SharedState {
        match self.0 {}
    }

    /// Creates a text.
    pub fn create(&self, _name: &str, _text: &str) -> Result<bool> {
        match self.0 {}
    }

    /// Writes a text.
    pub fn replace(&self, _name: &str, _text: &str) -> Result<()> {
        match self.0 {}
    }

    /// Whether a text is still there.
    pub fn still_has(&self, _name: &str) -> Result<bool> {
        match self.0 {}
    }

    /// The text of this name.
    pub fn get(&self, _name: &str) -> Result<Option<String>> {
        match self.0 {}
    }

    /// The texts of these names.
    pub fn get_all(&self, _names: &[String]) -> Result<Vec<Option<String>>> {
        match self.0 {}
    }

    /// The names in a folder.
    pub fn list(&self, _folder: &str) -> Result<Vec<String>> {
        match self.0 {}
    }

    /// Removes a text.
    pub fn remove(&self, _name: &str) -> Result<()> {
        match self.0 {}
    }
}
