//! The data in a disk's volatile write cache: a power cut loses it.
use std::collections::BTreeMap;

/// The unit that the medium writes atomically; a write may tear between two of them.
pub const SECTOR_BYTES: usize = 512;

/// One sector's bytes.
pub type Sector = [u8; SECTOR_BYTES];

/// Sectors that were written and are not on the medium yet.
///
/// Some of the written sectors reach the medium at once and in no order, the others wait here for a flush: a server
/// that is killed has kept some of the unflushed data, lost the rest, and torn writes between two sectors.
#[derive(Debug)]
pub struct Volatile {
    percent: u64,
    random: u64,
    waiting: BTreeMap<u64, Sector>,
}

impl Volatile {
    /// `percent` of the sectors wait for a flush, selected by `seed`.
    pub fn new(percent: u64, seed: u64) -> Self {
        Volatile { percent, random: seed, waiting: BTreeMap::new() }
    }

    /// Accepts a write of sector `number`: returns it if it is written to the medium now.
    pub fn take(&mut self, number: u64, sector: Sector) -> Option<Sector> {
        if self.draw() % 100 < self.percent {
            self.waiting.insert(number, sector);
            return None;
        }
        // The waiting version is older.
        self.waiting.remove(&number);
        Some(sector)
    }

    /// The waiting version of sector `number`.
    pub fn get(&self, number: u64) -> Option<&Sector> {
        self.waiting.get(&number)
    }

    /// Removes all waiting sectors, by number, to be written to the medium.
    pub fn drain(&mut self) -> BTreeMap<u64, Sector> {
        std::mem::take(&mut self.waiting)
    }

    /// The next number of a sequence: splitmix64, for which every seed is suitable.
    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.random;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configured_share_of_sectors_stays_volatile_and_a_seed_repeats_it() {
        let waiting = |percent, seed| {
            let mut cache = Volatile::new(percent, seed);
            (0..10_000).for_each(|number| {
                cache.take(number, [1; SECTOR_BYTES]);
            });
            cache.drain().into_keys().collect::<Vec<_>>()
        };
        assert_eq!((waiting(0, 1).len(), waiting(100, 1).len()), (0, 10_000));
        assert!((2500..3500).contains(&waiting(30, 1).len()));
        assert_eq!(waiting(30, 1), waiting(30, 1));
        assert_ne!(waiting(30, 1), waiting(30, 2));
    }

    #[test]
    fn a_sector_on_the_medium_replaces_its_volatile_version() {
        let mut cache = Volatile::new(50, 3);
        let (mut last, mut seen) = (None, [false; 2]);
        for round in 0..100 {
            let went = cache.take(7, [round; SECTOR_BYTES]).is_some();
            seen[usize::from(went)] = true;
            last = cache.get(7).map(|sector| sector[0]);
            assert_eq!(last, (!went).then_some(round));
        }
        assert!(seen == [true; 2], "{last:?}");
    }
}
