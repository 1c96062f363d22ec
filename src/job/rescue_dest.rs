//! The dest of a rescue as its mapfile names it: its identity, and samples of what was rescued into it. A map is not
//! continued on another dest: what it lists as rescued would be missing there.
use super::journal::digest_at;
use crate::core::rescue::{RescueMap, Status};
use crate::core::{
    Access, BlockDigest, Endpoint, Error, Existing, Extent, ExtentSet, Facts, Kind, PlanSide, Result, Side,
};
use crate::disks;
use crate::ledger::SideIdentity;
use crate::ledger::journal::{Sample, sample_places};
use crate::ledger::mapfile::Mapfile;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The comment that names the dest of a rescue.
const DEST: &str = "# Destination: ";

/// Number and length of the samples.
const SAMPLES: usize = 16;
const SAMPLE_BYTES: u64 = 4096;

/// Number of places from which they are chosen: zeros would also be found on an empty dest.
const PLACES: u64 = 64;

/// What a mapfile says about its dest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RescueDest {
    identity: SideIdentity,
    samples: Vec<Sample>,
    /// Durable bytes when they were chosen.
    #[serde(skip)]
    sampled_of_bytes: u64,
}

impl RescueDest {
    /// A dest into which nothing was rescued.
    pub(super) fn new(dest: &Facts) -> Self {
        RescueDest { identity: SideIdentity::of(dest, 0), samples: Vec::new(), sampled_of_bytes: 0 }
    }

    /// What the mapfile says, if it names its dest.
    pub(super) fn of(map: &Mapfile) -> Option<Self> {
        let named = map.comments.iter().find_map(|comment| comment.strip_prefix(DEST))?;
        serde_json::from_str(named).ok()
    }

    /// The comment of the mapfile.
    pub(super) fn comment(&self) -> Option<String> {
        serde_json::to_string(self).ok().map(|named| format!("{DEST}{named}"))
    }

    /// Refuses a dest that is not the one of the mapfile `name`. It may have another name now.
    ///
    /// # Errors
    /// Refused if it is another disk, or differs from a sample; the error of opening it.
    pub(super) fn check(&mut self, name: &str, map: &RescueMap, plan: &PlanSide, dest: &Facts) -> Result<()> {
        self.check_identity(name, SideIdentity::of(dest, 0))?;
        // The map may have been edited, or combined with another one.
        let finished = map.set_of(Status::Finished);
        let extent = |sample: &Sample| Extent::new(sample.offset_bytes, sample.len_bytes);
        self.samples.retain(|sample| finished.gaps(extent(sample)).next().is_none());
        if self.samples.is_empty() {
            return Ok(());
        }
        let access = Access { exclusive: false, existing: Existing::Keep, ..plan.access };
        let end = disks::open_compared(&PlanSide { access, ..plan.clone() }, dest)?;
        self.check_samples(name, &dest.address, &end)
    }

    /// A file may be moved, and a disk have another name: then the samples decide.
    fn check_identity(&mut self, name: &str, now: SideIdentity) -> Result<()> {
        let is_known = self.identity.serial.is_some() || self.identity.wwn.is_some();
        if is_known && (&self.identity.serial, &self.identity.wwn) != (&now.serial, &now.wwn) {
            let mismatches = self.identity.mismatches(Side::Dest, &now);
            let words: Vec<String> = mismatches.iter().map(ToString::to_string).collect();
            return Err(refused(format!("mapfile {name} is of another destination: {}", words.join("; "))));
        }
        self.identity = now;
        Ok(())
    }

    fn check_samples(&self, name: &str, address: &str, end: &Arc<dyn Endpoint>) -> Result<()> {
        for &Sample { offset_bytes, len_bytes, digest } in &self.samples {
            let found = digest_at(Side::Dest, end, Extent::new(offset_bytes, len_bytes));
            if found == Some(digest) {
                continue;
            }
            let is = if found.is_none() { "cannot be read" } else { "differ" };
            return Err(refused(format!(
                "destination {address} does not have what mapfile {name} lists as rescued: {len_bytes} bytes at byte \
                 {offset_bytes} {is}"
            )));
        }
        Ok(())
    }

    /// Takes samples of what is durable on `end`, if that is twice as much as it was, or `at_end` any more.
    pub(super) fn take_samples(&mut self, durable: &ExtentSet, end: &Arc<dyn Endpoint>, at_end: bool) {
        let (before, total) = (self.sampled_of_bytes, durable.total_bytes());
        if total == before || !at_end && total / 2 < before {
            return;
        }
        let samples = sample_places(durable, PLACES, SAMPLE_BYTES).into_iter().filter_map(|place| {
            let digest = digest_at(Side::Dest, end, place)?;
            Some(Sample { offset_bytes: place.offset, len_bytes: place.len, digest })
        });
        let mut samples: Vec<Sample> = samples.collect();
        samples.sort_by_key(is_zeros);
        let data = samples.iter().filter(|sample| !is_zeros(sample)).count();
        // Evenly from those with data.
        let step = (data / SAMPLES).max(1);
        self.samples = samples.into_iter().step_by(step).take(SAMPLES).collect();
        self.samples.sort_by_key(|sample| sample.offset_bytes);
        self.sampled_of_bytes = total;
    }
}

fn is_zeros(sample: &Sample) -> bool {
    sample.digest == BlockDigest::blake3(&vec![0; sample.len_bytes as usize])
}

fn refused(what: String) -> Error {
    let advice = format!(
        "Nothing was written. Name the destination of that rescue, or another mapfile. If it is the right destination, \
         and was changed on purpose, remove the line that begins with '{}' from the mapfile.",
        DEST.trim_end()
    );
    Error::new(Kind::Refused, what).on(Side::Dest).advise(advice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::EndpointKind;

    #[test]
    fn another_disk_is_not_the_destination_under_any_name() {
        let disk = |path: &str, serial: Option<&str>| {
            let mut disk = Facts { exists: true, ..Facts::new(path, EndpointKind::Block) };
            disk.identity.serial = serial.map(str::to_owned);
            disk
        };
        let begun = RescueDest::new(&disk("/dev/sdc", Some("S1")));
        let map = Mapfile { comments: vec![begun.comment().unwrap()], ..Mapfile::parse(&b"0 ? 1\n"[..]).unwrap() };
        let mut then = RescueDest::of(&map).unwrap();
        assert_eq!(then, begun);
        for (other, is_other) in [
            (disk("/dev/sdc", Some("S2")), true),
            (disk("/dev/sdc", None), true),
            (disk("/dev/sdd", Some("S1")), false),
        ] {
            let checked = then.check_identity("map", SideIdentity::of(&other, 0));
            assert_eq!(checked.as_ref().err().map(|error| error.kind), is_other.then_some(Kind::Refused));
        }
        let named = RescueDest::of(&Mapfile { comments: vec![then.comment().unwrap()], ..map }).unwrap();
        assert_eq!(named.identity.path, "/dev/sdd");
    }
}
