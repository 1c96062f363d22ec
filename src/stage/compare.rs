//! Where two pieces of memory differ.
use std::ops::Range;

/// Pieces that are looked at as a whole first: the library compares memory many bytes at a time.
const PIECE_BYTES: usize = 4096;

/// A run of sectors in which bytes differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferingRun {
    /// The sectors, as offsets; the last may be cut by the end.
    pub bytes: Range<usize>,
    /// The first byte that differs.
    pub first: usize,
    /// How many differ.
    pub count: u64,
}

/// Tells `each` run of sectors of `sector_bytes` in which `one` and `other`, which are equally long, differ. Sectors
/// count from the first byte; neighbours that differ are one run. Equal memory costs one comparison of it.
pub fn differing_runs(one: &[u8], other: &[u8], sector_bytes: usize, mut each: impl FnMut(DifferingRun)) {
    assert_eq!(one.len(), other.len(), "only what is equally long can be compared");
    if one == other {
        return;
    }
    let step = sector_bytes.max(1);
    // Whole sectors, so that a sector is in one piece.
    let piece = PIECE_BYTES.next_multiple_of(step);
    let mut run: Option<DifferingRun> = None;
    for (number, (ones, others)) in one.chunks(piece).zip(other.chunks(piece)).enumerate() {
        if ones == others {
            if let Some(run) = run.take() {
                each(run);
            }
            continue;
        }
        for (sector, (a, b)) in ones.chunks(step).zip(others.chunks(step)).enumerate() {
            let start = number * piece + sector * step;
            let count = a.iter().zip(b).filter(|(a, b)| a != b).count() as u64;
            match (&mut run, count) {
                (Some(_), 0) => run.take().into_iter().for_each(&mut each),
                (None, 0) => {}
                (Some(run), _) => {
                    run.bytes.end = start + a.len();
                    run.count += count;
                }
                (None, _) => {
                    let first = start + a.iter().zip(b).take_while(|(a, b)| a == b).count();
                    run = Some(DifferingRun { bytes: start..start + a.len(), first, count });
                }
            }
        }
    }
    run.into_iter().for_each(each);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn runs(one: &[u8], other: &[u8], sector_bytes: usize) -> Vec<DifferingRun> {
        let mut found = Vec::new();
        differing_runs(one, other, sector_bytes, |run| found.push(run));
        found
    }

    proptest! {
        #[test]
        fn runs_are_what_a_look_at_every_byte_says(
            len in 0usize..20_000,
            sector_bytes in prop::sample::select(vec![1usize, 7, 512, 520, 4096]),
            changes in prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 0..20),
        ) {
            let one: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
            let mut other = one.clone();
            for (at, by) in changes {
                if len > 0 {
                    let at = at.index(len);
                    other[at] = other[at].wrapping_add(by);
                }
            }
            let mut expected: Vec<DifferingRun> = Vec::new();
            for at in (0..len).filter(|&at| one[at] != other[at]) {
                let start = at / sector_bytes * sector_bytes;
                let end = (start + sector_bytes).min(len);
                match expected.last_mut().filter(|run| run.bytes.end >= start) {
                    Some(run) => (run.bytes.end, run.count) = (end, run.count + 1),
                    None => expected.push(DifferingRun { bytes: start..end, first: at, count: 1 }),
                }
            }
            prop_assert_eq!(runs(&one, &other, sector_bytes), expected);
        }
    }
}
