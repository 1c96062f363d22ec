//! How long a copy may take, from a few short reads on both sides; nothing is written.
use crate::contract::{Arena, Cache, Endpoint, EndpointKind, Existing, Facts, Op, Plan, PlanSide, Request, Side};
use crate::endpoint;
use crate::report::text::Estimate;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Places to read at, in sixteenths of the range: outer, middle and inner tracks.
const PLACES: [u64; 3] = [0, 8, 15];
/// Bytes to read at each place, in one request after the other.
const BYTES_A_PLACE: u64 = 8 << 20;
const BLOCK_BYTES: u32 = 1 << 20;
/// A side that is slower than this is known well enough after one place.
const LONG_ENOUGH: Duration = Duration::from_secs(1);

/// How long the plan may take; `None` where neither side can be read beforehand, or the length is not known.
pub(super) fn estimate(plan: &Plan, source: &Facts, dest: &Facts) -> Option<Estimate> {
    let len = plan.len.filter(|&len| len > 0)?;
    let source_bytes_per_s = read_rate(&plan.source, source, len);
    let dest_bytes_per_s = if dest.exists { read_rate(&plan.dest, dest, len) } else { None };
    let rates = [source_bytes_per_s, dest_bytes_per_s, plan.limit_bytes_per_s];
    let slowest = rates.into_iter().flatten().filter(|&rate| rate > 0).min()?;
    let time = Duration::from_secs_f64(len as f64 / slowest as f64);
    Some(Estimate { time, source_bytes_per_s, dest_bytes_per_s })
}

/// Bytes a second that the side gives when read alone, past the page cache where the plan goes past it.
fn read_rate(side: &PlanSide, facts: &Facts, len: u64) -> Option<u64> {
    if !matches!(facts.kind, EndpointKind::File | EndpointKind::Block) || facts.size == Some(0) {
        return None;
    }
    let mut side = side.clone();
    (side.access.existing, side.access.exclusive) = (Existing::Keep, false);
    if side.access.cache != Cache::Direct && facts.cached_bytes.is_none_or(|cached| cached == 0) {
        // Reading ahead for a guess must not fill the cache.
        side.access.cache = Cache::Drop;
    }
    let end = endpoint::open_source(&side, facts).ok()?;
    let readable = facts.size?.saturating_sub(side.offset).min(len);
    let mut buffer = Arena::map(BLOCK_BYTES as usize).ok()?.carve(BLOCK_BYTES, 1).pop()?;
    let (mut bytes, mut time) = (0, Duration::ZERO);
    for place in PLACES {
        let start = readable / 16 * place / u64::from(BLOCK_BYTES) * u64::from(BLOCK_BYTES);
        let stop = (start + BYTES_A_PLACE).min(readable);
        let began = Instant::now();
        let mut at = start;
        while at + u64::from(BLOCK_BYTES) <= stop && time + began.elapsed() < LONG_ENOUGH {
            let (moved, back) = read(&end, side.offset + at, buffer);
            buffer = back;
            at += moved?;
        }
        bytes += at - start;
        time += began.elapsed();
    }
    (bytes > 0 && !time.is_zero()).then(|| (bytes as f64 / time.as_secs_f64()) as u64)
}

/// One read. `None`: it failed; the copy will say so better than a guess could.
fn read(
    end: &Arc<dyn Endpoint>,
    offset: u64,
    buffer: crate::contract::Buffer,
) -> (Option<u64>, crate::contract::Buffer) {
    let (side, op, len) = (Side::Source, Op::Read, BLOCK_BYTES);
    let mut request = Request { slot: 0, ticket: 0, side, op, offset, len, done: 0, until: len, buffer };
    let moved = end.perform(&mut request).ok().filter(|&moved| moved > 0).map(u64::from);
    (moved, request.buffer)
}
