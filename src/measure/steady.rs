//! The rate of a few blocks, consecutively.
use std::time::Duration;

/// The first blocks of a place come late, for the head has to get there, or early, from what was read ahead.
const DROPPED_MIN: u32 = 2;

/// So many blocks behind those are counted.
const COUNTED_MIN: u32 = 8;

/// Blocks that a place is read for, so many in flight.
pub(super) fn blocks(depth: u32) -> u32 {
    dropped(depth) + COUNTED_MIN.max(2 * depth)
}

/// The first blocks that say nothing: as many as are sent at once.
fn dropped(depth: u32) -> u32 {
    DROPPED_MIN.max(depth)
}

/// Seconds of a block, by the times at which blocks came, `depth` of them in flight: the median gap between two that
/// come after the first ones. `None` of too few.
///
/// The median, because a turn of the disk that was missed once says nothing of the place. Blocks that are served
/// together come together, and most gaps between them are nothing; so a gap goes from a block to the one that is
/// `depth` further on.
pub(super) fn block_seconds(came: &[Duration], depth: u32) -> Option<f64> {
    let counted = came.get(dropped(depth) as usize - 1..)?;
    let gap = |window: &[Duration]| window[window.len() - 1].saturating_sub(window[0]);
    let mut gaps: Vec<Duration> = counted.windows(depth as usize + 1).map(gap).collect();
    gaps.sort_unstable();
    let median = gaps.get(gaps.len() / 2)?;
    Some(median.as_secs_f64() / f64::from(depth)).filter(|seconds| *seconds > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks that come after these gaps, in milliseconds.
    fn came(gaps_ms: &[u64]) -> Vec<Duration> {
        let mut at = Duration::ZERO;
        let mut next = |gap: &u64| {
            at += Duration::from_millis(*gap);
            at
        };
        gaps_ms.iter().map(&mut next).collect()
    }

    #[test]
    fn ten_blocks_are_read_two_at_a_time_and_the_first_two_do_not_count() {
        assert_eq!(blocks(2), 10);
        let late = came(&[30, 0, 5, 5, 5, 5, 5, 5, 5, 5]);
        let early = came(&[1, 1, 5, 5, 5, 5, 5, 5, 5, 5]);
        assert_eq!([block_seconds(&late, 2), block_seconds(&early, 2)], [Some(0.005); 2]);
    }

    #[test]
    fn where_more_are_in_flight_as_many_of_the_first_do_not_count() {
        assert_eq!(blocks(8), 24);
        // Eight that come late, and a turn that was missed at the end.
        let gaps = [[20; 8], [5; 8], [5, 5, 5, 5, 5, 5, 5, 13]].concat();
        assert_eq!(block_seconds(&came(&gaps), 8), Some(0.005));
    }

    #[test]
    fn a_turn_that_was_missed_once_does_not_count() {
        for late in 2..10 {
            let mut gaps = [5; 10];
            gaps[late] = 13;
            assert_eq!(block_seconds(&came(&gaps), 2), Some(0.005), "before block {late}");
        }
    }

    #[test]
    fn blocks_that_come_two_by_two_take_half_as_long_each() {
        assert_eq!(block_seconds(&came(&[20, 0, 10, 0, 10, 0, 10, 0, 10, 0]), 2), Some(0.005));
        assert_eq!(block_seconds(&came(&[20, 0, 0, 10, 0, 10, 0, 10, 0, 10]), 2), Some(0.005));
    }

    #[test]
    fn of_too_few_blocks_there_is_no_rate() {
        assert_eq!(block_seconds(&came(&[5, 5, 5]), 2), None);
        assert_eq!(block_seconds(&[], 2), None);
        assert_eq!(block_seconds(&came(&[0; 10]), 2), None);
    }
}
