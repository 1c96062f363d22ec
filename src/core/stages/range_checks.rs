//! Checks the ranges of a block map against their digests, in a stream that has these ranges one after the other.
use super::hasher::Hasher;
use crate::core::zero_bytes::zero_bytes;
use crate::core::{BlockMap, DamagedRange};
use std::sync::Arc;

/// Checks the ranges of a block map while their bytes pass, the first range first.
pub struct RangeChecks {
    map: Arc<BlockMap>,
    /// The range of the next byte.
    range: usize,
    /// Bytes of it that have passed.
    done: u64,
    /// `None`: the range has no digest.
    hasher: Option<Hasher>,
}

impl RangeChecks {
    /// Of no bytes yet.
    pub fn new(map: Arc<BlockMap>) -> Self {
        let mut checks = RangeChecks { map, range: 0, done: 0, hasher: None };
        checks.begin();
        checks
    }

    fn begin(&mut self) {
        let has_digest = self.map.ranges.get(self.range).is_some_and(|range| range.digest.is_some());
        self.hasher = self.map.algorithm.filter(|_| has_digest).map(Hasher::new);
    }

    /// The next bytes, `len` zeros if they were not read: returns the first range that has ended and is damaged.
    pub fn add(&mut self, len: u64, bytes: Option<&[u8]>) -> Option<DamagedRange> {
        let (mut at, mut damaged) = (0, None);
        while at < len {
            let range = self.map.ranges.get(self.range)?;
            let now = (range.extent.len - self.done).min(len - at);
            if let Some(hasher) = &mut self.hasher {
                match bytes {
                    Some(bytes) => hasher.update(&bytes[at as usize..(at + now) as usize]),
                    None => zero_bytes(now).for_each(|zeros| hasher.update(zeros)),
                }
            }
            (at, self.done) = (at + now, self.done + now);
            if self.done == range.extent.len {
                let found = self.hasher.take().map(Hasher::finish);
                if let (Some(expected), Some(found)) = (&range.digest, found)
                    && **expected != *found
                {
                    let wrong = DamagedRange { extent: range.extent, expected: expected.clone(), found };
                    damaged = damaged.or(Some(wrong));
                }
                (self.range, self.done) = (self.range + 1, 0);
                self.begin();
            }
        }
        damaged
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Extent, HashKind, MappedRange};
    use proptest::prelude::*;

    fn digest(bytes: &[u8]) -> String {
        let mut hasher = Hasher::new(HashKind::Sha256);
        hasher.update(bytes);
        hasher.finish()
    }

    proptest! {
        #[test]
        fn a_range_is_damaged_if_a_byte_of_it_is_another(
            lens in prop::collection::vec((1usize..300, any::<bool>()), 1..12),
            cuts in prop::collection::vec((1usize..200, any::<bool>()), 0..40),
            at in any::<prop::sample::Index>(),
            is_damaged in any::<bool>(),
        ) {
            let total: usize = lens.iter().map(|(len, _)| len).sum();
            // Zeros that were not read are those of the image too.
            let (mut stream, mut pieces, mut next) = (vec![0u8; total], Vec::new(), 0);
            for (len, is_zero) in cuts.into_iter().chain([(total, false)]) {
                let end = (next + len).min(total);
                if !is_zero {
                    (next..end).for_each(|at| stream[at] = (at * 7 + 1) as u8);
                }
                pieces.push((next..end, is_zero));
                next = end;
            }
            let (mut ranges, mut first) = (Vec::new(), 0);
            for (len, has_digest) in &lens {
                let digest = has_digest.then(|| digest(&stream[first..first + len]).into());
                ranges.push(MappedRange { extent: Extent::new(first as u64 * 2, *len as u64), digest });
                first += len;
            }
            let (address, version) = ("m".to_owned(), "2.0".to_owned());
            let (image_bytes, block_bytes, algorithm) = (total as u64 * 2, 1, Some(HashKind::Sha256));
            let map = Arc::new(BlockMap { address, version, image_bytes, block_bytes, algorithm, ranges });
            let at = at.index(total);
            let is_read = pieces.iter().any(|(piece, is_zero)| piece.contains(&at) && !is_zero);
            if is_damaged && is_read {
                stream[at] ^= 1;
            }
            let mut checks = RangeChecks::new(map.clone());
            let mut found = Vec::new();
            for (piece, is_zero) in pieces {
                found.extend(checks.add(piece.len() as u64, (!is_zero).then(|| &stream[piece])));
            }
            let mut until = 0;
            let hit = map.ranges.iter().find(|range| {
                until += range.extent.len;
                (at as u64) < until
            });
            let hit = hit.filter(|range| range.digest.is_some() && is_damaged && is_read);
            prop_assert_eq!(found.iter().map(|wrong| wrong.extent).collect::<Vec<_>>(),
                hit.iter().map(|range| range.extent).collect::<Vec<_>>());
        }
    }
}
