//! A few short reads across a part of a disk, for a forecast: as many as the time allows.
use super::{Failure, Point, Subject, Zone};
use crate::core::{Extent, Stop};
use std::time::Duration;

/// Most places: more than the sweep of a head across a disk needs.
const PLACES_MAX: u32 = 17;

/// As many places are read as shortly as the time wants it; beyond them, longer reads say more than further places.
const PLACES_WANTED: u32 = 5;

/// Bounds of what one place is read for, besides the way there: below, a few blocks say little; above, more places say
/// more.
const PATIENCE: (Duration, Duration) = (Duration::from_millis(15), Duration::from_millis(100));

/// The first look at a disk.
const LOOK: Duration = Duration::from_millis(2);

/// Time that looking and sampling may take together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// At most.
    pub time_max: Duration,
    /// As a share of the time that whatever is foretold takes.
    pub share: f64,
    /// Where there is no time for as many places, none is read.
    pub places_min: u32,
}

/// What the first look at a disk gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Block size and depth that are short enough for the places to come.
    pub point: Point,
    /// Seconds that the whole range takes by it.
    pub whole_s: f64,
    /// How long it took.
    pub took: Duration,
}

/// The first look at `range`; `None` where it could not be read there.
///
/// # Errors
/// It was asked to stop, or the disk is gone.
pub fn look(
    subject: &mut Subject,
    range: Extent,
    point: Point,
    budget: Budget,
    stop: &Stop,
) -> Result<Option<Look>, Failure> {
    let began = subject.clock.now();
    // Blocks in flight are waited for at both ends of a place, so that it is three times as long as they are; as much
    // again goes into the way there.
    let most = (range.len as f64 * budget.share / f64::from(PLACES_WANTED) / 6.0).min(range.len as f64 / 16.0);
    let point = fitting(point, most as u64, subject.align_bytes);
    let shallow = Point { depth: point.depth.min(2), ..point };
    // Not where a place will be, which are at odd parts of twice an odd number: the disk would have kept those bytes.
    let first = place(subject, range, shallow, (3, 8), LOOK, stop)?;
    let took = subject.clock.now() - began;
    Ok(first.map(|first| Look { point, whole_s: range.len as f64 / first.bytes_per_s, took }))
}

/// Rates at places of `range`, each in the middle of as large a part of it; offsets count from its first byte. No place
/// where the time would not be enough: what is foretold takes `whole_s`. Places that could not be read are left out.
///
/// # Errors
/// It was asked to stop, or the disk is gone.
pub fn sample(
    subject: &mut Subject,
    range: Extent,
    look: &Look,
    whole_s: f64,
    budget: Budget,
    stop: &Stop,
) -> Result<Vec<Zone>, Failure> {
    let began = subject.clock.now();
    let Look { point, took, .. } = *look;
    let time = Duration::try_from_secs_f64(whole_s * budget.share).unwrap_or(Duration::MAX).min(budget.time_max);
    let Some(left) = time.checked_sub(took) else { return Ok(Vec::new()) };
    let room = range.len / (point.in_flight_bytes() * 4).max(1);
    let few = count(left, took + PATIENCE.0, room.min(PLACES_WANTED.into()));
    let count = few.max(count(left, took + PATIENCE.1, room));
    let patience = (left / count.max(1)).saturating_sub(took).clamp(PATIENCE.0, PATIENCE.1);
    let mut zones = Vec::new();
    if count < budget.places_min {
        return Ok(Vec::new());
    }
    let mut longest = Duration::ZERO;
    for number in in_spread_order(count) {
        let now = subject.clock.now();
        // Where the way to a place is longer than it was at first, fewer places have to do.
        if now + longest > began + left {
            break;
        }
        zones.extend(place(subject, range, point, (2 * number + 1, 2 * count), patience, stop)?);
        longest = longest.max(subject.clock.now() - now);
    }
    Ok(zones)
}

/// Places for the time that is left: an odd number, so that one is in the middle.
fn count(left: Duration, each: Duration, room: u64) -> u32 {
    let most = (left.as_secs_f64() / each.as_secs_f64()).min(room as f64);
    let count = (most as u32).min(PLACES_MAX);
    if count == 0 { 0 } else { count - 1 + count % 2 }
}

/// Numbers below `count`, the middle one first and each far from those before it, so that any of the first are spread.
fn in_spread_order(count: u32) -> Vec<u32> {
    let common = |mut one: u32, mut other: u32| {
        while other > 0 {
            (one, other) = (other, one % other);
        }
        one
    };
    // The golden section, as near as a step that meets every number allows.
    let step = (count * 382 / 1000..).find(|&step| common(step, count) == 1).unwrap_or(1);
    (0..count).map(|number| (count / 2 + number * step) % count).collect()
}

/// The point, with smaller and fewer blocks where `most_bytes` in flight allow no more; two at least, as far as the
/// point has two, for behind one alone the disk would wait for us.
fn fitting(point: Point, most_bytes: u64, align_bytes: u64) -> Point {
    let align = align_bytes.max(4096);
    let few = u64::from(point.depth.min(2));
    let block = (most_bytes / few / align * align).clamp(align, u64::from(point.block_bytes).max(align));
    let depth = (most_bytes / block).clamp(few, point.depth.into()) as u32;
    Point { depth, block_bytes: u32::try_from(block).unwrap_or(point.block_bytes), ..point }
}

/// The rate at `of.0` parts of `of.1`.
fn place(
    subject: &mut Subject,
    range: Extent,
    point: Point,
    of: (u32, u32),
    patience: Duration,
    stop: &Stop,
) -> Result<Option<Zone>, Failure> {
    let align = subject.align_bytes.max(4096);
    let part = u128::from(range.len) * u128::from(of.0) / u128::from(of.1);
    let begin = (range.offset + u64::try_from(part).unwrap_or(0)) / align * align;
    if begin < range.offset || begin >= range.end() {
        return Ok(None);
    }
    let extent = Extent::new(begin, range.end() - begin);
    if subject.cached_bytes(point, extent) > 0 {
        return Ok(None);
    }
    let trial = subject.run(point, extent, patience, stop)?;
    let offset = begin - range.offset + trial.moved_bytes / 2;
    Ok(trial.is_sound().then(|| Zone { offset, bytes_per_s: trial.bytes_per_s() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_odd_number_of_places_is_taken_as_far_as_time_and_room_go() {
        let ms = Duration::from_millis;
        assert_eq!(count(ms(10), ms(20), 100), 0);
        assert_eq!(count(ms(25), ms(20), 100), 1);
        assert_eq!(count(ms(50), ms(20), 100), 1);
        assert_eq!(count(ms(130), ms(20), 100), 5);
        assert_eq!(count(ms(2000), ms(20), 100), PLACES_MAX);
        assert_eq!(count(ms(2000), ms(20), 4), 3);
    }

    #[test]
    fn the_first_of_the_places_are_spread_over_all_of_them() {
        for count in [1u32, 3, 5, 9, 33] {
            let order = in_spread_order(count);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..count).collect::<Vec<_>>());
            assert_eq!(order[0], count / 2);
        }
        let first: Vec<u32> = in_spread_order(33).into_iter().take(4).collect();
        assert!(first.iter().any(|&at| at < 11) && first.iter().any(|&at| at >= 22), "{first:?}");
    }

    #[test]
    fn blocks_shrink_where_there_is_little_to_read() {
        let point = Point { way: crate::measure::Way::Direct, block_bytes: 1 << 20, depth: 8 };
        assert_eq!(fitting(point, 64 << 20, 512), point);
        assert_eq!(fitting(point, 3 << 20, 512), Point { depth: 3, ..point });
        assert_eq!(fitting(point, 1 << 20, 512), Point { depth: 2, block_bytes: 512 << 10, ..point });
        assert_eq!(fitting(point, 70_000, 4096), Point { depth: 2, block_bytes: 32_768, ..point });
        assert_eq!(fitting(point, 10, 512), Point { depth: 2, block_bytes: 4096, ..point });
        let one = Point { depth: 1, ..point };
        assert_eq!(fitting(one, 70_000, 512), Point { block_bytes: 69_632, ..one });
    }
}
