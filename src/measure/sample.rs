//! Samples the read rate of an extent for an estimate: as many short reads as the time allows, including both ends.
use super::steady::{block_seconds, blocks};
use super::{MeasureFailure, Point, Subject, Zone, spread};
use crate::core::{Extent, Stop};
use std::time::Duration;

/// Maximum number of places: rates of a disk fall evenly, so more are not needed.
const PLACES_MAX: u32 = 9;

/// Maximum time for a place.
const PATIENCE: Duration = Duration::from_secs(2);

/// Limits on the cost of sampling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Maximum time.
    pub time_max: Duration,
    /// Maximum share of the estimated time, and of the bytes.
    pub share: f64,
    /// Minimum number of places; if fewer are possible, nothing is read.
    pub places_min: u32,
}

/// The result of the first place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstSample {
    /// Block size and depth.
    pub point: Point,
    /// The place, in the middle.
    pub zone: Zone,
    /// Estimated time for the whole range from it, in seconds.
    pub whole_s: f64,
    /// Duration of the measurement.
    pub took: Duration,
}

/// Reads the first place, in the middle of `range`, at `point`. `None` if it could not be read, or if the required
/// number of places would exceed the limit on bytes; then nothing was read.
///
/// Blocks are never shorter than those of the copy, because the rates differ.
///
/// # Errors
/// A stop was requested, or the disk has disappeared.
pub fn look(
    subject: &mut Subject,
    range: Extent,
    point: Point,
    budget: Budget,
    stop: &Stop,
) -> Result<Option<FirstSample>, MeasureFailure> {
    let began = subject.clock.now();
    let needed = place_bytes(point).saturating_mul(budget.places_min.into());
    if needed as f64 > range.len as f64 * budget.share.min(1.0) {
        return Ok(None);
    }
    let begin = spread(range.len, 1, place_bytes(point), align_bytes(subject))[0];
    let zone = place(subject, range, point, begin, stop)?;
    let took = subject.clock.now() - began;
    Ok(zone.map(|zone| FirstSample { point, zone, whole_s: range.len as f64 / zone.bytes_per_s, took }))
}

/// Measures the rates at places of `range`, including both ends and the middle; offsets count from its first byte.
/// Empty if there is not enough time; the estimated operation takes `whole_s`. Places that could not be read are
/// omitted.
///
/// # Errors
/// A stop was requested, or the disk has disappeared.
pub fn sample(
    subject: &mut Subject,
    range: Extent,
    look: &FirstSample,
    whole_s: f64,
    budget: Budget,
    stop: &Stop,
) -> Result<Vec<Zone>, MeasureFailure> {
    let began = subject.clock.now();
    let time = Duration::try_from_secs_f64(whole_s * budget.share).unwrap_or(Duration::MAX).min(budget.time_max);
    let room = range.len as f64 * budget.share.min(1.0) / place_bytes(look.point) as f64;
    let count = count(time, look.took, room as u64);
    if count < budget.places_min {
        return Ok(Vec::new());
    }
    let places = spread(range.len, count, place_bytes(look.point), align_bytes(subject));
    let mut zones = vec![look.zone];
    let mut longest = look.took;
    for number in outer_first(count) {
        let now = subject.clock.now();
        // If seeks take longer than at first, fewer places suffice.
        if look.took + (now - began) + longest > time && zones.len() >= budget.places_min as usize {
            break;
        }
        zones.extend(place(subject, range, look.point, places[number as usize], stop)?);
        longest = longest.max(subject.clock.now() - now);
    }
    Ok(zones)
}

/// Number of bytes read at a place.
fn place_bytes(point: Point) -> u64 {
    u64::from(point.block_bytes) * u64::from(blocks(point.depth))
}

/// Alignment of places.
fn align_bytes(subject: &Subject) -> u64 {
    subject.align_bytes.max(4096)
}

/// Number of places for this time, including the first one; odd, so that one is in the middle.
fn count(time: Duration, each: Duration, room: u64) -> u32 {
    let most = (time.as_secs_f64() / each.as_secs_f64().max(1e-9)).min(room as f64);
    let count = (most as u32).min(PLACES_MAX);
    if count == 0 { 0 } else { count - 1 + count % 2 }
}

/// Numbers below `count` except for the middle one, both ends first, such that any prefix is spread over all of them.
fn outer_first(count: u32) -> Vec<u32> {
    let mut numbers: Vec<u32> = (0..count).filter(|number| *number != count / 2).collect();
    // Sorted by the number of bisections after which they are reached.
    let halvings = |number: u32| (0..8u32).find(|halvings| (number << halvings).is_multiple_of(count - 1)).unwrap_or(8);
    numbers.sort_by_key(|number| halvings(*number));
    numbers
}

/// The rate of the blocks at `begin` of the range; `None` if they could not be read, or are in the page cache.
fn place(
    subject: &mut Subject,
    range: Extent,
    point: Point,
    begin: u64,
    stop: &Stop,
) -> Result<Option<Zone>, MeasureFailure> {
    let align = align_bytes(subject);
    let first = (range.offset + begin).next_multiple_of(align);
    if first >= range.end() {
        return Ok(None);
    }
    let extent = Extent::new(first, place_bytes(point).min(range.end() - first));
    if subject.cached_bytes(point, extent) > 0 {
        return Ok(None);
    }
    let (trial, completion_times) = subject.run_noting(point, extent, PATIENCE, stop)?;
    let seconds = block_seconds(&completion_times, point.depth).filter(|_| trial.is_sound());
    let offset = first - range.offset + trial.moved_bytes / 2;
    Ok(seconds.map(|seconds| Zone { offset, bytes_per_s: f64::from(point.block_bytes) / seconds }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_odd_number_of_samples_is_read_within_time_and_size() {
        let ms = Duration::from_millis;
        assert_eq!(count(ms(10), ms(20), 100), 0);
        assert_eq!(count(ms(25), ms(20), 100), 1);
        assert_eq!(count(ms(50), ms(20), 100), 1);
        assert_eq!(count(ms(110), ms(20), 100), 5);
        assert_eq!(count(ms(2000), ms(20), 100), PLACES_MAX);
        assert_eq!(count(ms(2000), ms(20), 4), 3);
    }

    #[test]
    fn samples_are_read_from_the_middle_then_both_ends_then_between() {
        assert_eq!(outer_first(1), Vec::<u32>::new());
        assert_eq!(outer_first(3), [0, 2]);
        assert_eq!(outer_first(5), [0, 4, 1, 3]);
        assert_eq!(outer_first(9), [0, 8, 2, 6, 1, 3, 5, 7]);
    }
}
