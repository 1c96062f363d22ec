//! The rate of a few consecutive blocks.
use std::time::Duration;

/// The first blocks are ignored: they are late because of the seek, or early because of read-ahead.
const DROPPED_MIN: u32 = 2;

/// Minimum number of blocks counted after those.
const COUNTED_MIN: u32 = 8;

/// Number of blocks to read at a place, with `depth` of them in flight.
pub(super) fn blocks(depth: u32) -> u32 {
    dropped(depth) + COUNTED_MIN.max(2 * depth)
}

/// Number of first blocks to ignore: those submitted together.
fn dropped(depth: u32) -> u32 {
    DROPPED_MIN.max(depth)
}

/// Time per block in seconds from the completion times of blocks with `depth` of them in flight: the median gap after
/// the first blocks. `None` if there are too few.
///
/// The median ignores a missed revolution. Blocks that are served together complete together, with gaps of almost zero,
/// so each gap spans `depth` blocks.
pub(super) fn block_seconds(completion_times: &[Duration], depth: u32) -> Option<f64> {
    let counted = completion_times.get(dropped(depth) as usize - 1..)?;
    let gap = |window: &[Duration]| window[window.len() - 1].saturating_sub(window[0]);
    let mut gaps: Vec<Duration> = counted.windows(depth as usize + 1).map(gap).collect();
    gaps.sort_unstable();
    let median = gaps.get(gaps.len() / 2)?;
    Some(median.as_secs_f64() / f64::from(depth)).filter(|seconds| *seconds > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Completion times with these gaps, in milliseconds.
    fn completion_times(gaps_ms: &[u64]) -> Vec<Duration> {
        let mut at = Duration::ZERO;
        let mut next = |gap: &u64| {
            at += Duration::from_millis(*gap);
            at
        };
        gaps_ms.iter().map(&mut next).collect()
    }

    #[test]
    fn ten_blocks_are_read_at_depth_two_and_the_first_two_are_excluded() {
        assert_eq!(blocks(2), 10);
        let late = completion_times(&[30, 0, 5, 5, 5, 5, 5, 5, 5, 5]);
        let early = completion_times(&[1, 1, 5, 5, 5, 5, 5, 5, 5, 5]);
        assert_eq!([block_seconds(&late, 2), block_seconds(&early, 2)], [Some(0.005); 2]);
    }

    #[test]
    fn the_first_blocks_are_excluded_up_to_the_queue_depth() {
        assert_eq!(blocks(8), 24);
        // Eight late blocks at the start, and a missed revolution at the end.
        let gaps = [[20; 8], [5; 8], [5, 5, 5, 5, 5, 5, 5, 13]].concat();
        assert_eq!(block_seconds(&completion_times(&gaps), 8), Some(0.005));
    }

    #[test]
    fn one_missed_revolution_is_excluded() {
        for late in 2..10 {
            let mut gaps = [5; 10];
            gaps[late] = 13;
            assert_eq!(block_seconds(&completion_times(&gaps), 2), Some(0.005), "before block {late}");
        }
    }

    #[test]
    fn blocks_that_complete_in_pairs_take_half_the_time_each() {
        assert_eq!(block_seconds(&completion_times(&[20, 0, 10, 0, 10, 0, 10, 0, 10, 0]), 2), Some(0.005));
        assert_eq!(block_seconds(&completion_times(&[20, 0, 0, 10, 0, 10, 0, 10, 0, 10]), 2), Some(0.005));
    }

    #[test]
    fn too_few_blocks_give_no_rate() {
        assert_eq!(block_seconds(&completion_times(&[5, 5, 5]), 2), None);
        assert_eq!(block_seconds(&[], 2), None);
        assert_eq!(block_seconds(&completion_times(&[0; 10]), 2), None);
    }
}
