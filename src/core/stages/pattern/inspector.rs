//! Checks a whole disk for damage.
use super::conclude::conclude;
use super::{Mark, Pattern, Verdict};
use crate::core::{DAMAGED_RUNS_MAX, Damage, DamageKind, DamagedRun, Extent, Maker, PatternChecker};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

impl Maker for Pattern {
    fn make(&self, bytes: &mut [u8], offset: u64) {
        self.fill(bytes, offset);
    }
}

/// Checks all blocks of `range` and collects the damage.
#[derive(Debug)]
pub struct Inspector {
    pattern: Pattern,
    range: Extent,
    // Locked at most once per buffer, and only if the buffer contains damage.
    found: Mutex<Findings>,
}

#[derive(Debug, Default)]
struct Findings {
    checked_bytes: u64,
    /// By the offset of the run.
    runs: BTreeMap<u64, DamagedRun>,
    blocks: [u64; DamageKind::NAMES.len()],
    flipped_bits: u64,
    unlisted: bool,
}

impl Inspector {
    /// Checks against this pattern. `range` is the extent that will be checked.
    pub fn new(pattern: Pattern, range: Extent) -> Self {
        Inspector { pattern, range, found: Mutex::default() }
    }

    fn found(&self) -> MutexGuard<'_, Findings> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run_of(&self, offset: u64, verdict: Verdict) -> Option<DamagedRun> {
        let distance = |mark: Mark| mark.address.wrapping_sub(offset) as i64;
        let (kind, within, bits) = match verdict {
            Verdict::Good => return None,
            Verdict::Misplaced(mark) => (DamageKind::Misplaced { distance: distance(mark), run: mark.run }, 0, 0),
            Verdict::Stale(mark) => (DamageKind::Stale { run: mark.run }, 0, 0),
            Verdict::Torn { at } => (DamageKind::Torn, at, 0),
            Verdict::Zero => (DamageKind::Zero, 0, 0),
            Verdict::Foreign => (DamageKind::Foreign, 0, 0),
            Verdict::Flipped { first, bits } => (DamageKind::Flipped, first, bits),
        };
        let extent = Extent::new(offset, self.pattern.block_bytes().into());
        Some(DamagedRun { extent, kind, first: offset + u64::from(within), bits: bits.into() })
    }
}

impl PatternChecker for Inspector {
    fn judge(&self, bytes: &[u8], offset: u64) {
        let block_bytes = self.pattern.block_bytes() as usize;
        let whole = &bytes[..bytes.len() - bytes.len() % block_bytes];
        let mut runs: Vec<DamagedRun> = Vec::new();
        self.pattern.judge(whole, offset, |at, verdict| {
            let Some(run) = self.run_of(at, verdict) else { return };
            match runs.last_mut().filter(|last| follows(last, &run)) {
                Some(last) => join(last, &run),
                None => runs.push(run),
            }
        });
        let mut found = self.found();
        found.checked_bytes += whole.len() as u64;
        runs.into_iter().for_each(|run| found.add(run, block_bytes as u64));
    }

    fn damage(&self) -> Damage {
        let found = self.found();
        let mut damage = Damage {
            block_bytes: self.pattern.block_bytes(),
            run: self.pattern.run(),
            checked_bytes: found.checked_bytes,
            runs: found.runs.values().copied().collect(),
            blocks: found.blocks,
            flipped_bits: found.flipped_bits,
            unlisted: found.unlisted,
            conclusion: None,
        };
        drop(found);
        conclude(&mut damage, self.range);
        damage
    }
}

/// Whether `next` is adjacent to `run` and has the same damage.
fn follows(run: &DamagedRun, next: &DamagedRun) -> bool {
    run.extent.end() == next.extent.offset && run.kind == next.kind
}

fn join(run: &mut DamagedRun, next: &DamagedRun) {
    run.extent.len += next.extent.len;
    run.bits += next.bits;
}

impl Findings {
    /// Adds a run and merges it with adjacent runs, because buffers are checked in any order.
    fn add(&mut self, mut run: DamagedRun, block_bytes: u64) {
        self.blocks[run.kind.index()] += run.extent.len / block_bytes;
        self.flipped_bits += run.bits;
        if let Some(next) = self.runs.get(&run.extent.end()).copied().filter(|next| follows(&run, next)) {
            self.runs.remove(&next.extent.offset);
            join(&mut run, &next);
        }
        let before = self.runs.range_mut(..run.extent.offset).next_back();
        if let Some((_, last)) = before.filter(|(_, last)| follows(last, &run)) {
            join(last, &run);
        } else if self.runs.len() < DAMAGED_RUNS_MAX {
            self.runs.insert(run.extent.offset, run);
        } else {
            self.unlisted = true;
        }
    }
}
