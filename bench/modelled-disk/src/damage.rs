//! Silent data corruption by a disk: lost writes, misdirected writes, flipped bits.
use std::sync::atomic::{AtomicU64, Ordering};

use crate::parameters::{Extent, Parameters};

/// Length of each of two swapped extents, in bytes.
pub const SWAPPED_BYTES: u64 = 4096;

/// A position, and the number of further requests that are damaged there.
#[derive(Debug)]
struct Spot<T> {
    at: T,
    left: AtomicU64,
}

impl<T: Copy> Spot<T> {
    fn all(places: &[T], times: u64) -> Vec<Spot<T>> {
        // Zero means always.
        let times = if times == 0 { u64::MAX } else { times };
        places.iter().map(|at| Spot { at: *at, left: times.into() }).collect()
    }

    /// The position, if this request is to be damaged.
    fn take(&self, concerned: impl Fn(T) -> bool) -> Option<T> {
        let one_less = |left: u64| left.checked_sub(1);
        let at = Some(self.at).filter(|at| concerned(*at))?;
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).ok().map(|_| at)
    }
}

/// The damage of a disk. Every call may be made from any thread.
#[derive(Debug)]
pub struct Damage {
    drops: Vec<Spot<Extent>>,
    flips: Vec<Spot<u64>>,
    misreads: Vec<Spot<u64>>,
    swaps: Vec<(u64, u64)>,
}

/// A part of a write: its bytes, and where they are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The requested extent.
    pub asked: Extent,
    /// The offset at which it is stored.
    pub lands_at: u64,
}

impl Damage {
    /// The damage of `disk`; `None` for a disk without damage.
    pub fn new(disk: &Parameters) -> Option<Damage> {
        let times = disk.damage_times;
        let damage = Damage {
            drops: Spot::all(&disk.drop, times),
            flips: Spot::all(&disk.flip, times),
            misreads: Spot::all(&disk.misread, times),
            swaps: disk.swap.clone(),
        };
        let none = damage.drops.is_empty() && damage.flips.is_empty() && damage.misreads.is_empty();
        (!none || !damage.swaps.is_empty()).then_some(damage)
    }

    /// The pieces of a write of `extent` that reach the medium, in order.
    pub fn pieces(&self, extent: Extent) -> Vec<Piece> {
        let dropped: Vec<Extent> =
            self.drops.iter().filter_map(|drop| drop.take(|range| range.overlaps(&extent))).collect();
        let swapped = |at: u64| Extent { offset: at, len: SWAPPED_BYTES };
        let both = self.swaps.iter().flat_map(|(one, other)| [(*one, *other), (*other, *one)]);
        let edges = dropped.iter().copied().chain(both.clone().map(|(from, _)| swapped(from)));
        let mut cuts: Vec<u64> = edges.flat_map(|edge| [edge.offset, edge.end()]).collect();
        cuts.retain(|cut| extent.offset < *cut && *cut < extent.end());
        cuts.extend([extent.offset, extent.end()]);
        cuts.sort_unstable();
        cuts.dedup();
        let between = cuts.windows(2).map(|pair| Extent { offset: pair[0], len: pair[1] - pair[0] });
        let kept = between.filter(|piece| !dropped.iter().any(|range| range.overlaps(piece)));
        kept.map(|asked| {
            let landed = both.clone().find(|(from, _)| swapped(*from).overlaps(&asked));
            Piece { asked, lands_at: landed.map_or(asked.offset, |(from, to)| to + (asked.offset - from)) }
        })
        .collect()
    }

    /// Flips bits of `bytes`, which are to be written at `offset`.
    pub fn flip(&self, bytes: &mut [u8], offset: u64) {
        turn(&self.flips, bytes, offset);
    }

    /// Flips bits of `bytes`, which were read at `offset` and are correct on the medium.
    pub fn misread(&self, bytes: &mut [u8], offset: u64) {
        turn(&self.misreads, bytes, offset);
    }
}

/// Flips the lowest bit of each byte at a spot.
fn turn(spots: &[Spot<u64>], bytes: &mut [u8], offset: u64) {
    let extent = Extent { offset, len: bytes.len() as u64 };
    let here = |at: u64| extent.offset <= at && at < extent.end();
    for at in spots.iter().filter_map(|spot| spot.take(here)) {
        bytes[(at - offset) as usize] ^= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn damage(change: impl Fn(&mut Parameters)) -> Damage {
        let mut disk = Parameters::default();
        change(&mut disk);
        Damage::new(&disk).expect("something is damaged")
    }

    fn extent(offset: u64, len: u64) -> Extent {
        Extent { offset, len }
    }

    /// Offset, length and stored offset of each piece.
    fn pieces(damage: &Damage, offset: u64, len: u64) -> Vec<(u64, u64, u64)> {
        let shown = |piece: Piece| (piece.asked.offset, piece.asked.len, piece.lands_at);
        damage.pieces(extent(offset, len)).into_iter().map(shown).collect()
    }

    #[test]
    fn a_disk_without_damage_has_none() {
        assert!(Damage::new(&Parameters::default()).is_none());
    }

    #[test]
    fn dropped_sectors_are_omitted_from_every_write() {
        let damage = damage(|disk| disk.drop = vec![extent(1000, 500)]);
        assert_eq!(pieces(&damage, 0, 1000), [(0, 1000, 0)]);
        assert_eq!(pieces(&damage, 0, 4096), [(0, 1000, 0), (1500, 2596, 1500)]);
        assert_eq!(pieces(&damage, 1100, 100), []);
        assert_eq!(pieces(&damage, 1499, 2), [(1500, 1, 1500)]);
    }

    #[test]
    fn swapped_sectors_are_written_at_each_other_s_offset() {
        let damage = damage(|disk| disk.swap = vec![(0, 65536)]);
        assert_eq!(pieces(&damage, 0, 8192), [(0, 4096, 65536), (4096, 4096, 4096)]);
        assert_eq!(pieces(&damage, 66048, 512), [(66048, 512, 512)]);
    }

    #[test]
    fn the_configured_number_of_requests_is_damaged() {
        let damage = damage(|disk| {
            (disk.drop, disk.flip, disk.misread) = (vec![extent(0, 512)], vec![600], vec![700]);
            disk.damage_times = 2;
        });
        let seen: Vec<(usize, u8, u8)> = (0..3)
            .map(|_| {
                let (mut written, mut read) = ([0; 512], [0; 512]);
                damage.flip(&mut written, 512);
                damage.misread(&mut read, 512);
                // Requests that do not touch the position do not count.
                damage.flip(&mut [0; 512], 0);
                (damage.pieces(extent(0, 512)).len(), written[600 - 512], read[700 - 512])
            })
            .collect();
        assert_eq!(seen, [(0, 1, 1), (0, 1, 1), (1, 0, 0)]);
    }
}
