//! The block sizes, depths and ways to measure.
use super::{DD_BLOCK_BYTES, Point, Way};

/// Minimum and maximum block size, in bytes.
const BLOCK_BYTES: (u32, u32) = (512, 64 << 20);

/// Depths to measure.
const DEPTHS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];

/// Depths to measure with buffered I/O, where the kernel mostly reads ahead.
const BUFFERED_DEPTHS: [u32; 4] = [1, 4, 16, 64];

/// How many points are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// All powers of two.
    Full,
    /// Every fourth block size and depth, and buffered I/O only at depth 1.
    Quick,
}

/// The points to measure, small blocks first. Block sizes start at 512 bytes or `least_bytes` (the logical block size),
/// whichever is larger, and no point exceeds `in_flight_bytes_max`. Includes the defaults of dd.
pub fn grid(ways: &[Way], least_bytes: u32, in_flight_bytes_max: u64, effort: Effort) -> Vec<Point> {
    let quick = effort == Effort::Quick;
    let step = if quick { 4 } else { 2 };
    let (first, last) = (BLOCK_BYTES.0.max(least_bytes), BLOCK_BYTES.1);
    let mut blocks: Vec<u32> = std::iter::successors(Some(u64::from(first)), |block| Some(block * step))
        .take_while(|&block| block <= u64::from(last))
        .filter_map(|block| u32::try_from(block).ok())
        .collect();
    if quick {
        // 512 B, then 4 KiB times powers of four, which include common device block sizes.
        blocks = [first].into_iter().chain((12..=24).step_by(2).map(|power| 1 << power)).collect();
        blocks.retain(|&block| block >= first);
    }
    blocks.dedup();
    let depths = |way: Way| -> Vec<u32> {
        match way {
            Way::Direct if quick => DEPTHS.into_iter().step_by(2).collect(),
            Way::Direct => DEPTHS.to_vec(),
            Way::Buffered if quick => vec![1],
            Way::Buffered => BUFFERED_DEPTHS.to_vec(),
            Way::Mapped | Way::Indirect => vec![1],
        }
    };
    let mut points: Vec<Point> = Vec::new();
    for &way in ways {
        let pairs = blocks
            .iter()
            .flat_map(|&block_bytes| depths(way).into_iter().map(move |depth| Point { way, block_bytes, depth }));
        points.extend(pairs.filter(|point| point.in_flight_bytes() <= in_flight_bytes_max));
    }
    // dd reads 512 bytes by buffered I/O, regardless of the block size of the disk.
    if ways.contains(&Way::Buffered) && first > DD_BLOCK_BYTES {
        points.push(Point::of_dd());
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_full_grid_has_every_power_of_two_that_memory_allows() {
        let points = grid(&[Way::Direct, Way::Buffered], 512, 128 << 20, Effort::Full);
        let has = |way, block_bytes, depth| points.contains(&Point { way, block_bytes, depth });
        assert!(has(Way::Direct, 512, 64) && has(Way::Direct, 64 << 20, 2) && !has(Way::Direct, 64 << 20, 4));
        assert!(has(Way::Buffered, 512, 1) && has(Way::Direct, 128 << 10, 32) && has(Way::Direct, 1 << 20, 64));
        assert!(points.iter().all(|point| point.in_flight_bytes() <= 128 << 20));
    }

    #[test]
    fn direct_blocks_are_at_least_a_logical_block_and_dd_sizes_are_included() {
        for effort in [Effort::Full, Effort::Quick] {
            let points = grid(&[Way::Direct, Way::Buffered], 4096, 64 << 20, effort);
            assert!(points.iter().filter(|point| point.way == Way::Direct).all(|point| point.block_bytes >= 4096));
            assert_eq!(points.iter().filter(|point| **point == Point::of_dd()).count(), 1, "{effort:?}");
        }
    }

    #[test]
    fn the_quick_grid_is_a_fraction_of_the_full_one() {
        let count = |effort| grid(&[Way::Direct, Way::Buffered], 512, 64 << 20, effort).len();
        assert!(count(Effort::Quick) * 3 < count(Effort::Full), "{}", count(Effort::Quick));
    }
}
