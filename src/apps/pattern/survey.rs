//! Determines which run of the test pattern is on a disk, from samples.
use crate::core::stages::{Mark, PATTERN_BLOCK_BYTES_MIN, Surveyor};
use crate::core::{Arena, Endpoint, Extent, Op, Request, Side};
use std::sync::Arc;

/// Number of samples, spread evenly: if one is damaged, another replaces it.
const SAMPLES: u64 = 33;

/// A mark of this run, or of the newest, in samples of `range`; unreadable samples are skipped.
pub(crate) fn survey(disk: &Arc<dyn Endpoint>, range: Extent, run: Option<u64>) -> Option<Mark> {
    let sample = u64::from(Surveyor::SAMPLE_BYTES);
    let first = range.offset.next_multiple_of(sample);
    let samples = range.end().saturating_sub(first) / sample;
    let mut surveyor = Surveyor::new(run);
    let mut buffer = Arena::map(sample as usize).ok()?.carve(Surveyor::SAMPLE_BYTES, 1).pop()?;
    let places = (0..SAMPLES).map(|number| first + number * samples.saturating_sub(1) / (SAMPLES - 1) * sample);
    // A range shorter than a sample: its whole blocks.
    let (places, len): (Vec<u64>, u64) = match samples {
        0 => (vec![range.offset], range.len - range.len % u64::from(PATTERN_BLOCK_BYTES_MIN)),
        _ => (places.collect(), sample),
    };
    for offset in places {
        let (side, op, len) = (Side::Source, Op::Read, len.min(sample) as u32);
        let mut request = Request { slot: 0, ticket: 0, side, op, offset, len, done: 0, until: len, buffer };
        if let Ok(moved) = disk.perform(&mut request) {
            surveyor.look(&request.buffer.bytes()[..moved.min(len) as usize]);
        }
        buffer = request.buffer;
    }
    surveyor.found()
}
