//! Places of the disk that fail or hesitate.
use super::Kind;
use crate::parameters::{Extent, Parameters};

/// Bad ranges, and stalls that happen once.
pub struct Faults {
    bad_read: Vec<Extent>,
    bad_write: Vec<Extent>,
    stall_at: Vec<(u64, u64)>,
}

impl Faults {
    /// Those of `disk`.
    pub fn new(disk: &Parameters) -> Faults {
        Faults { bad_read: disk.bad_read.clone(), bad_write: disk.bad_write.clone(), stall_at: disk.stall_at.clone() }
    }

    /// A command of this kind fails. The answer never changes, so it may be asked outside the model's lock.
    pub fn fails(&self, kind: Kind, extent: &Extent) -> bool {
        let bad = match kind {
            Kind::Read => &self.bad_read,
            Kind::Write => &self.bad_write,
            Kind::Flush | Kind::Trim => return false,
        };
        bad.iter().any(|range| range.overlaps(extent))
    }

    /// How long the disk hesitates over `extent`; each stall is given once.
    pub fn stall_ns(&mut self, extent: &Extent) -> u64 {
        let here = |(offset, _): &(u64, u64)| extent.offset <= *offset && *offset < extent.end();
        let ns = self.stall_at.iter().filter(|stall| here(stall)).map(|(_, ns)| ns).sum();
        self.stall_at.retain(|stall| !here(stall));
        ns
    }
}
