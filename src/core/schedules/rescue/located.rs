//! Failed reads of which the device reports the bad sector: what lies before it is read next, in one piece, and the
//! sector is not searched for.
use super::now::Now;
use crate::core::Extent;
use crate::core::rescue::Status;
use std::collections::VecDeque;

/// Whether the places that the device reports can be relied on: some bridges report the start of the command, or
/// anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trust {
    Unknown,
    /// What lay before a reported sector could be read, and that sector could not.
    Proven,
    Refuted,
}

/// A read that follows from a reported place.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// What lies before this bad sector.
    Before { extent: Extent, bad: Extent },
    /// The first reported sector itself, which has to fail.
    Proof(Extent),
}

impl Step {
    fn extent(self) -> Extent {
        match self {
            Step::Before { extent, .. } | Step::Proof(extent) => extent,
        }
    }
}

/// A failed read, divided at the sector that the device reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Divided {
    pub(super) bad: Extent,
    /// What the device has not tried.
    pub(super) after: Extent,
}

/// The result of a failed read that followed from a report.
pub(super) enum Followed {
    /// It had to fail.
    Known,
    /// The report was wrong: the bad sectors of this are not known.
    Unknown(Extent),
}

/// What is known by the reports of the device.
pub(super) struct Located {
    trust: Trust,
    next: VecDeque<Step>,
    reading: Option<Step>,
}

impl Located {
    pub(super) fn new() -> Self {
        Located { trust: Trust::Unknown, next: VecDeque::new(), reading: None }
    }

    /// Whether a failed read of several sectors names the bad one.
    pub(super) fn is_proven(&self) -> bool {
        self.trust == Trust::Proven
    }

    /// The next read that follows from a report, if any. Called while no read is in flight.
    pub(super) fn next(&mut self, now: &mut Now<'_>) -> Option<Extent> {
        while let Some(step) = self.next.pop_front() {
            if self.trust != Trust::Refuted {
                self.reading = Some(step);
                now.state.pos = step.extent().offset;
                return Some(step.extent());
            }
            now.state.map.set(step.extent(), Status::Untrimmed);
        }
        None
    }

    /// Called when `extent` was read; whether it was one of these reads.
    pub(super) fn on_read(&mut self, extent: Extent, now: &mut Now<'_>) -> bool {
        let Some(step) = self.reading.take_if(|step| step.extent().overlaps(&extent)) else { return false };
        match (step, self.trust) {
            (Step::Before { bad, .. }, Trust::Unknown) => self.next.push_front(Step::Proof(bad)),
            (Step::Before { bad, .. }, _) => now.state.map.set(bad, Status::Bad),
            // It could be read: the report was wrong, or the sector is readable at times.
            (Step::Proof(_), _) => self.trust = Trust::Refuted,
        }
        true
    }

    /// Called when the read of `extent` failed. Returns what is to be searched for bad sectors, if it was one of these
    /// reads.
    pub(super) fn on_failed(&mut self, extent: Extent, now: &mut Now<'_>) -> Option<Followed> {
        match self.reading.take_if(|step| step.extent().overlaps(&extent))? {
            Step::Proof(bad) => {
                self.trust = Trust::Proven;
                now.state.map.set(bad, Status::Bad);
                Some(Followed::Known)
            }
            Step::Before { bad, .. } => {
                self.trust = Trust::Refuted;
                Some(Followed::Unknown(Extent::new(extent.offset, bad.end() - extent.offset)))
            }
        }
    }

    /// Divides a failed read of several sectors at the byte `bad` that the device reports; `None` if the report cannot
    /// be relied on. The bad sector is marked; what lies before it is read next.
    pub(super) fn divide(&mut self, extent: Extent, bad: Option<u64>, now: &mut Now<'_>) -> Option<Divided> {
        let at = bad.filter(|at| (extent.offset..extent.end()).contains(at))?;
        let sector = now.plan.sector_bytes;
        let bad = Extent::new(at / sector * sector, sector).intersection(&extent)?;
        let before = Extent::new(extent.offset, bad.offset - extent.offset);
        let is_usable = match self.trust {
            Trust::Unknown => !before.is_empty(),
            Trust::Proven => extent.len > sector,
            Trust::Refuted => false,
        };
        if !is_usable {
            return None;
        }
        let is_known = self.trust == Trust::Proven;
        now.state.map.set(bad, if is_known { Status::Bad } else { Status::Untrimmed });
        if !before.is_empty() {
            now.state.map.set(before, Status::Untried);
            self.next.push_back(Step::Before { extent: before, bad });
        }
        Some(Divided { bad, after: Extent::new(bad.end(), extent.end() - bad.end()) })
    }
}
