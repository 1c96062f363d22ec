//! What a failing disk cannot read: scattered sectors, a scratch, a head, flaky and slow areas, and its end.
//!
//! Everything is drawn from a seed, so that two programs meet the same disk.
use serde::Serialize;

use crate::parameters::Extent;
use crate::words::{duration_ns, list, pair, size_bytes};

/// The unit that fails.
pub const SECTOR_BYTES: u64 = 512;

/// How a disk fails; by default not at all.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Failing {
    /// The seed of all draws.
    pub seed: u64,
    /// Number of single bad sectors, anywhere on the disk.
    pub scattered: u64,
    /// The area of a scratch, which crosses a track every so many bytes, and damages so many bytes of each.
    pub scratch: Vec<Extent>,
    /// See `scratch`.
    pub scratch_every_bytes: u64,
    /// See `scratch`.
    pub scratch_bytes: u64,
    /// Number of heads, which take turns at runs of `head_bytes` addresses; 0: heads do not matter.
    pub heads: u64,
    /// See `heads`.
    pub head_bytes: u64,
    /// The head that reads nothing, from 0.
    pub bad_head: u64,
    /// Ranges of which each sector is read once in `flaky_one_in` attempts.
    pub flaky: Vec<Extent>,
    /// See `flaky`.
    pub flaky_one_in: u64,
    /// Ranges that are read at `slow_bytes_per_s`.
    pub slow: Vec<Extent>,
    /// See `slow`.
    pub slow_bytes_per_s: u64,
    /// Time after the first read of 64 KiB or more from which every read fails at once; 0: never.
    pub dies_after_ns: u64,
    /// Number of reads, from that one on, after which every further one fails at once; 0: never.
    pub dies_after_reads: u64,
}

impl Failing {
    /// Sets one parameter; `None`: there is none of this name.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Option<Result<(), String>> {
        let extents = || {
            let pairs = list(value, |word| pair(word, size_bytes))?;
            Ok::<_, String>(pairs.into_iter().map(|(offset, len)| Extent { offset, len }).collect::<Vec<_>>())
        };
        let size = || size_bytes(value);
        fn put<T>(at: &mut T, parsed: Result<T, String>) -> Result<(), String> {
            parsed.map(|parsed| *at = parsed)
        }
        Some(match key {
            "failing_seed" => put(&mut self.seed, size()),
            "scattered_bad" => put(&mut self.scattered, size()),
            "scratch" => put(&mut self.scratch, extents()),
            "scratch_every" => put(&mut self.scratch_every_bytes, size()),
            "scratch_bytes" => put(&mut self.scratch_bytes, size()),
            "heads" => put(&mut self.heads, size()),
            "head_bytes" => put(&mut self.head_bytes, size()),
            "bad_head" => put(&mut self.bad_head, size()),
            "flaky_read" => put(&mut self.flaky, extents()),
            "flaky_one_in" => put(&mut self.flaky_one_in, size()),
            "slow_read" => put(&mut self.slow, extents()),
            "slow_read_rate" => put(&mut self.slow_bytes_per_s, size()),
            "dies_after_ms" => put(&mut self.dies_after_ns, duration_ns(value, 1e6)),
            "dies_after_reads" => put(&mut self.dies_after_reads, size()),
            _ => return None,
        })
    }

    /// Why these numbers are invalid.
    pub(crate) fn wrong(&self) -> Option<&'static str> {
        let wrong = [
            (!self.scratch.is_empty() && self.scratch_every_bytes == 0, "scratch_every: must go with scratch"),
            (self.scratch_bytes > self.scratch_every_bytes, "scratch_bytes: must not be more than scratch_every"),
            (self.heads > 0 && self.head_bytes == 0, "head_bytes: must go with heads"),
            (self.heads > 0 && self.bad_head >= self.heads, "bad_head: must be less than heads"),
            (!self.flaky.is_empty() && self.flaky_one_in == 0, "flaky_one_in: must go with flaky_read"),
            (!self.slow.is_empty() && self.slow_bytes_per_s == 0, "slow_read_rate: must go with slow_read"),
        ];
        wrong.iter().find(|(is_wrong, _)| *is_wrong).map(|(_, why)| *why)
    }

    /// With time running faster by `factor`.
    pub(crate) fn scale(&mut self, factor: f64) {
        self.dies_after_ns = (self.dies_after_ns as f64 / factor).round() as u64;
        self.slow_bytes_per_s = (self.slow_bytes_per_s as f64 * factor).round() as u64;
    }

    /// What can never be read of a disk of `size_bytes`, ascending; neighbours are joined.
    pub fn bad(&self, size_bytes: u64) -> Vec<Extent> {
        let mut bad = Vec::new();
        let mut seed = self.seed;
        for _ in 0..self.scattered {
            let offset = draw(&mut seed) % (size_bytes / SECTOR_BYTES).max(1) * SECTOR_BYTES;
            bad.push(Extent { offset, len: SECTOR_BYTES });
        }
        for area in &self.scratch {
            let tracks = (area.offset..area.end()).step_by(self.scratch_every_bytes as usize);
            bad.extend(tracks.map(|offset| Extent { offset, len: self.scratch_bytes.min(area.end() - offset) }));
        }
        if self.heads > 0 {
            let runs = (self.bad_head * self.head_bytes..size_bytes).step_by((self.heads * self.head_bytes) as usize);
            bad.extend(runs.map(|offset| Extent { offset, len: self.head_bytes.min(size_bytes - offset) }));
        }
        joined(bad)
    }

    /// Whether a flaky sector is read at this attempt, the first being 0.
    pub(crate) fn is_lucky(&self, sector: u64, attempt: u64) -> bool {
        let mut seed = self.seed ^ sector.wrapping_mul(0xd6e8_feb8_6659_fd93) ^ attempt.rotate_left(48);
        draw(&mut seed).is_multiple_of(self.flaky_one_in.max(1))
    }
}

/// The same bytes as ascending extents that do not touch.
pub(crate) fn joined(mut extents: Vec<Extent>) -> Vec<Extent> {
    extents.sort_unstable_by_key(|extent| extent.offset);
    let mut joined: Vec<Extent> = Vec::new();
    for extent in extents {
        match joined.last_mut() {
            Some(last) if extent.offset <= last.end() => last.len = last.len.max(extent.end() - last.offset),
            _ => joined.push(extent),
        }
    }
    joined
}

/// The next number of a sequence: splitmix64, for which every seed is suitable.
fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failing(words: &[(&str, &str)]) -> Failing {
        let mut failing = Failing::default();
        words.iter().for_each(|(key, value)| failing.set(key, value).unwrap().unwrap());
        assert_eq!(failing.wrong(), None);
        failing
    }

    #[test]
    fn bad_areas_are_those_of_the_scratch_the_head_and_the_seed() {
        let scratch = failing(&[("scratch", "1M:1M"), ("scratch_every", "512K"), ("scratch_bytes", "4K")]);
        let (mib, kib) = (1 << 20, 1 << 10);
        assert_eq!(scratch.bad(4 * mib), [(mib, 4 * kib), (mib + 512 * kib, 4 * kib)].map(of));
        let head = failing(&[("heads", "4"), ("head_bytes", "1M"), ("bad_head", "1")]);
        assert_eq!(head.bad(6 * mib), [(mib, mib), (5 * mib, mib)].map(of));
        let scattered = |seed| failing(&[("scattered_bad", "100"), ("failing_seed", seed)]).bad(mib * 1024);
        assert_eq!(scattered("1"), scattered("1"));
        assert_ne!(scattered("1"), scattered("2"));
        assert_eq!(scattered("1").iter().map(|bad| bad.len).sum::<u64>(), 100 * SECTOR_BYTES);
    }

    fn of((offset, len): (u64, u64)) -> Extent {
        Extent { offset, len }
    }

    #[test]
    fn a_flaky_sector_is_read_once_in_the_given_number_of_attempts() {
        let flaky = failing(&[("flaky_read", "0:1M"), ("flaky_one_in", "4")]);
        let lucky = (0..2000).filter(|sector| flaky.is_lucky(*sector, 7)).count();
        assert!((400..600).contains(&lucky), "{lucky}");
        let lucky = (0..2000).filter(|attempt| flaky.is_lucky(7, *attempt)).count();
        assert!((400..600).contains(&lucky), "{lucky}");
    }

    #[test]
    fn incomplete_parameters_are_refused() {
        for (key, value) in
            [("scratch", "0:1M"), ("scratch_bytes", "1"), ("heads", "2"), ("flaky_read", "0:1"), ("slow_read", "0:1")]
        {
            let mut failing = Failing::default();
            failing.set(key, value).unwrap().unwrap();
            assert!(failing.wrong().is_some(), "{key}");
        }
        assert!(Failing::default().set("nonsense", "1").is_none());
    }
}
