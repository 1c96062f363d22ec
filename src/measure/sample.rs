//! A few short reads across a part of a disk, for an estimate: as many places as the time allows, both ends among them.
use super::steady::{block_seconds, blocks};
use super::{MeasureFailure, Point, Subject, Zone, spread};
use crate::core::{Extent, Stop};
use std::time::Duration;

/// Most places: more than the rates of a disk need, which fall evenly.
const PLACES_MAX: u32 = 9;

/// A place that has not come in this time is abandoned.
const PATIENCE: Duration = Duration::from_secs(2);

/// What reading at some places may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Time at most.
    pub time_max: Duration,
    /// As a share of the time, and of the bytes, of whatever is estimated.
    pub share: f64,
    /// Where fewer places would have to do, none is read.
    pub places_min: u32,
}

/// What the first place of a disk gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstSample {
    /// Block size and depth.
    pub point: Point,
    /// The place, in the middle.
    pub zone: Zone,
    /// Seconds that the whole range takes by it.
    pub whole_s: f64,
    /// How long it took.
    pub took: Duration,
}

/// Reads the first place of `range`, in its middle, at `point`; `None` where it could not be read there, and where as
/// many places as are needed would have more than their share of the bytes. Then nothing was read.
///
/// Blocks are never shorter than those of the copy: short ones say nothing of long ones.
///
/// # Errors
/// It was asked to stop, or the disk has disappeared.
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

/// Rates at places of `range`, both ends and the middle among them; offsets count from its first byte. None where the
/// time is not enough: what is estimated takes `whole_s`. Places that could not be read are left out.
///
/// # Errors
/// It was asked to stop, or the disk has disappeared.
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
        // Where the way to a place is longer than it was at first, fewer places have to do.
        if look.took + (now - began) + longest > time && zones.len() >= budget.places_min as usize {
            break;
        }
        zones.extend(place(subject, range, look.point, places[number as usize], stop)?);
        longest = longest.max(subject.clock.now() - now);
    }
    Ok(zones)
}

/// Bytes that are read at a place.
fn place_bytes(point: Point) -> u64 {
    u64::from(point.block_bytes) * u64::from(blocks(point.depth))
}

/// Places begin on multiples of this.
fn align_bytes(subject: &Subject) -> u64 {
    subject.align_bytes.max(4096)
}

/// Places for that time, the first one among them: an odd number, so that one is in the middle.
fn count(time: Duration, each: Duration, room: u64) -> u32 {
    let most = (time.as_secs_f64() / each.as_secs_f64().max(1e-9)).min(room as f64);
    let count = (most as u32).min(PLACES_MAX);
    if count == 0 { 0 } else { count - 1 + count % 2 }
}

/// Numbers below `count` without the middle one: both ends first, and any of the first spread over all of them.
fn outer_first(count: u32) -> Vec<u32> {
    let mut numbers: Vec<u32> = (0..count).filter(|number| *number != count / 2).collect();
    // By how often the way from end to end has to be halved until it is met.
    let halvings = |number: u32| (0..8u32).find(|halvings| (number << halvings).is_multiple_of(count - 1)).unwrap_or(8);
    numbers.sort_by_key(|number| halvings(*number));
    numbers
}

/// The rate of the blocks that begin at `begin` of the range; `None` where they could not be read, or where the page
/// cache has them.
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
    let (trial, came) = subject.run_noting(point, extent, PATIENCE, stop)?;
    let seconds = block_seconds(&came, point.depth).filter(|_| trial.is_sound());
    let offset = first - range.offset + trial.moved_bytes / 2;
    Ok(seconds.map(|seconds| Zone { offset, bytes_per_s: f64::from(point.block_bytes) / seconds }))
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
        assert_eq!(count(ms(110), ms(20), 100), 5);
        assert_eq!(count(ms(2000), ms(20), 100), PLACES_MAX);
        assert_eq!(count(ms(2000), ms(20), 4), 3);
    }

    #[test]
    fn behind_the_middle_both_ends_are_read_first_and_then_what_lies_between() {
        assert_eq!(outer_first(1), Vec::<u32>::new());
        assert_eq!(outer_first(3), [0, 2]);
        assert_eq!(outer_first(5), [0, 4, 1, 3]);
        assert_eq!(outer_first(9), [0, 8, 2, 6, 1, 3, 5, 7]);
    }
}
