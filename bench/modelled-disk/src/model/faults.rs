//! Extents of the disk that fail, stall or are slow.
use std::collections::HashMap;

use super::Kind;
use super::zones::span_ns;
use crate::failing::{Failing, SECTOR_BYTES, joined};
use crate::parameters::{Extent, Parameters};

/// Bad ranges, and single stalls.
pub struct Faults {
    /// Ascending, without overlaps.
    bad_read: Vec<Extent>,
    bad_write: Vec<Extent>,
    stall_at: Vec<(u64, u64)>,
    failing: Failing,
    /// Attempts to read each flaky sector, by its number.
    attempts: HashMap<u64, u64>,
    reads: u64,
    /// When the first large read began.
    worked_from_ns: Option<u64>,
}

/// Smaller reads, such as those of a kernel that looks for partitions, do not begin the life of a disk that dies.
const LARGE_BYTES: u64 = 64 << 10;

/// How a command fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// After the disk has tried.
    Bad,
    /// At once: the disk is dead.
    Dead,
}

impl Faults {
    /// The faults of `disk`.
    pub fn new(disk: &Parameters) -> Faults {
        let mut bad_read = disk.bad_read.clone();
        bad_read.extend(disk.failing.bad(disk.size_bytes));
        Faults {
            bad_read: joined(bad_read),
            bad_write: joined(disk.bad_write.clone()),
            stall_at: disk.stall_at.clone(),
            failing: disk.failing.clone(),
            attempts: HashMap::new(),
            reads: 0,
            worked_from_ns: None,
        }
    }

    /// Whether every command of this kind fails. The answer never changes, so this may be called outside the model's
    /// lock.
    pub fn is_bad(&self, kind: Kind, extent: &Extent) -> bool {
        let bad = match kind {
            Kind::Read => &self.bad_read,
            Kind::Write => &self.bad_write,
            Kind::Flush | Kind::Trim => return false,
        };
        let first = bad.partition_point(|range| range.end() <= extent.offset);
        bad.get(first).is_some_and(|range| range.overlaps(extent))
    }

    /// How a command fails that begins at `now_ns`, if it does. Called once for each.
    pub fn fails(&mut self, kind: Kind, extent: &Extent, now_ns: u64) -> Option<Failure> {
        if kind == Kind::Read && (extent.len >= LARGE_BYTES || self.worked_from_ns.is_some()) {
            self.reads += 1;
            let since_ns = now_ns.saturating_sub(*self.worked_from_ns.get_or_insert(now_ns));
            let failing = &self.failing;
            let dead = (failing.dies_after_ns > 0 && since_ns >= failing.dies_after_ns)
                || (failing.dies_after_reads > 0 && self.reads > failing.dies_after_reads);
            if dead {
                return Some(Failure::Dead);
            }
        }
        let flaky = kind == Kind::Read && self.fails_this_time(extent);
        (flaky || self.is_bad(kind, extent)).then_some(Failure::Bad)
    }

    /// Whether a flaky sector fails; each of them is tried once more.
    fn fails_this_time(&mut self, extent: &Extent) -> bool {
        let mut fails = false;
        for range in self.failing.flaky.iter().filter(|range| range.overlaps(extent)) {
            let (start, end) = (extent.offset.max(range.offset), extent.end().min(range.end()));
            for sector in start / SECTOR_BYTES..end.div_ceil(SECTOR_BYTES) {
                let attempt = self.attempts.entry(sector).or_default();
                fails |= !self.failing.is_lucky(sector, *attempt);
                *attempt += 1;
            }
        }
        fails
    }

    /// Additional time for reading the slow part of `extent`.
    pub fn slow_ns(&self, kind: Kind, extent: &Extent) -> u64 {
        let slow = self.failing.slow.iter().filter(|range| kind == Kind::Read && range.overlaps(extent));
        let bytes: u64 = slow.map(|range| extent.end().min(range.end()) - extent.offset.max(range.offset)).sum();
        if bytes == 0 { 0 } else { span_ns(bytes, self.failing.slow_bytes_per_s) }
    }

    /// Duration of a stall at `extent`; each stall occurs once.
    pub fn stall_ns(&mut self, extent: &Extent) -> u64 {
        let here = |(offset, _): &(u64, u64)| extent.offset <= *offset && *offset < extent.end();
        let ns = self.stall_at.iter().filter(|stall| here(stall)).map(|(_, ns)| ns).sum();
        self.stall_at.retain(|stall| !here(stall));
        ns
    }
}
