//! Extents of the disk that fail or stall.
use super::Kind;
use crate::parameters::{Extent, Parameters};

/// Bad ranges, and single stalls.
pub struct Faults {
    bad_read: Vec<Extent>,
    bad_write: Vec<Extent>,
    stall_at: Vec<(u64, u64)>,
}

impl Faults {
    /// The faults of `disk`.
    pub fn new(disk: &Parameters) -> Faults {
        Faults { bad_read: disk.bad_read.clone(), bad_write: disk.bad_write.clone(), stall_at: disk.stall_at.clone() }
    }

    /// Whether a command of this kind fails. The answer never changes, so this may be called outside the model's
    /// lock.
    pub fn fails(&self, kind: Kind, extent: &Extent) -> bool {
        let bad = match kind {
            Kind::Read => &self.bad_read,
            Kind::Write => &self.bad_write,
            Kind::Flush | Kind::Trim => return false,
        };
        bad.iter().any(|range| range.overlaps(extent))
    }

    /// Duration of a stall at `extent`; each stall occurs once.
    pub fn stall_ns(&mut self, extent: &Extent) -> u64 {
        let here = |(offset, _): &(u64, u64)| extent.offset <= *offset && *offset < extent.end();
        let ns = self.stall_at.iter().filter(|stall| here(stall)).map(|(_, ns)| ns).sum();
        self.stall_at.retain(|stall| !here(stall));
        ns
    }
}
