//! `--mapfile`: what could be read of the source, could not be, and was not tried, for GNU ddrescue to continue.
use crate::core::{Extent, ExtentSet, Outcome, Plan, Result, Side};
use crate::ledger::mapfile::{Mapfile, MapfileFile};
use std::path::Path;

/// A mapfile to be written at the end of a copy, whose place is held from before the first write.
pub(crate) struct Map {
    address: String,
    file: MapfileFile,
}

impl Map {
    /// Holds the place of the mapfile at `address`; `None` where none was asked for.
    ///
    /// # Errors
    /// `Refused` for what already exists, `Io` for a place that cannot be written.
    pub(crate) fn begin(address: Option<&str>) -> Result<Option<Self>> {
        let Some(address) = address else { return Ok(None) };
        let path = Path::new(address);
        let file = MapfileFile::create(path).map_err(|fault| fault.into_error(address))?;
        Ok(Some(Map { address: address.to_owned(), file }))
    }

    /// Writes it, however the copy ended.
    ///
    /// # Errors
    /// `Io` where it could not be written.
    pub(crate) fn finish(self, plan: &Plan, outcome: &Outcome) -> Result<()> {
        self.file.close(&of_outcome(plan, outcome)).map_err(|fault| fault.into_error(&self.address))
    }
}

/// The mapfile of a copy, in positions of the source. Nothing counts as read that is not claimed.
fn of_outcome(plan: &Plan, outcome: &Outcome) -> Mapfile {
    let (start, claimed) = (plan.source.offset, outcome.claimed);
    let unread = &outcome.unread[Side::Source.index()];
    let mut bad = unread.runs.clone();
    if let Some(place) = outcome.ended.bad_place() {
        bad.insert(place);
    }
    let mut finished: ExtentSet = [Extent::new(start + claimed.offset, claimed.len)].into_iter().collect();
    finished.remove_all(&bad);
    if let Some(ranges) = &plan.ranges {
        finished = finished.intersection(&ranges.extents().iter().copied().collect());
    }
    Mapfile::of_sets(Extent::new(start, plan.len.unwrap_or(claimed.len)), &finished, &bad)
}
