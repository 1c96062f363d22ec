//! `--mapfile`: lists the parts of the source that were read, unreadable, and not tried, for GNU ddrescue to
//! continue.
use crate::core::{ExtentSet, Outcome, Plan, Result, Side};
use crate::ledger::mapfile::{Mapfile, MapfileFile};
use std::path::Path;

/// A mapfile to be written at the end of a copy; its name is reserved before the first write.
pub(crate) struct Map {
    address: String,
    file: MapfileFile,
}

impl Map {
    /// Reserves the name of the mapfile at `address`; `None` if none was requested.
    ///
    /// # Errors
    /// `Refused` if it already exists, `Io` if it cannot be created.
    pub(crate) fn begin(address: Option<&str>) -> Result<Option<Self>> {
        let Some(address) = address else { return Ok(None) };
        let path = Path::new(address);
        let file = MapfileFile::create(path).map_err(|fault| fault.into_error(address))?;
        Ok(Some(Map { address: address.to_owned(), file }))
    }

    /// Writes the mapfile, regardless of how the copy ended.
    ///
    /// # Errors
    /// `Io` if it cannot be written.
    pub(crate) fn finish(self, plan: &Plan, outcome: &Outcome) -> Result<()> {
        self.file.close(&of_outcome(plan, outcome)).map_err(|fault| fault.into_error(&self.address))
    }
}

/// The mapfile of a copy, in offsets of the source. Only claimed bytes count as read.
fn of_outcome(plan: &Plan, outcome: &Outcome) -> Mapfile {
    let (map, claimed) = (&plan.source.map, outcome.claimed);
    let unread = &outcome.unread[Side::Source.index()];
    let mut bad = unread.runs.clone();
    if let Some(place) = outcome.ended.bad_place() {
        bad.insert(place);
    }
    let mut finished: ExtentSet = map.places(claimed).collect();
    finished.remove_all(&bad);
    Mapfile::of_sets(map.hull(plan.len.unwrap_or(claimed.len)), &finished, &bad)
}
