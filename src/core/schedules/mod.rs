//! Which extent goes next: forward, around holes, backward.
//!
//! This room must not know how a request is carried out or kept in flight: it hands out extents and is notified when
//! they have arrived.
#![forbid(unsafe_code)]
mod backward;
mod claim;
mod following;
mod forward;
mod listed;
mod ranges;
mod shape;
#[cfg(test)]
mod tests;

use crate::core::{Direction, Endpoint, Extent, ExtentSet, PAGE_BYTES, Plan, Schedule, Side};
use std::sync::Arc;

use backward::Backward;
use claim::ContiguousExtent;
pub use following::{Front, following};
use forward::Forward;
pub use listed::listed;
use ranges::InRanges;
use shape::Shape;

/// The schedule that the plan asks for. `source` is asked for its holes, where the plan requests that.
pub fn make(plan: &Plan, source: &Arc<dyn Endpoint>) -> Box<dyn Schedule> {
    let shape = Shape::of(plan);
    if let Some(ranges) = plan.ranges_from_first() {
        return Box::new(InRanges::new(shape, plan.ask_holes.then(|| source.clone()), ranges));
    }
    match plan.direction {
        Direction::Forward => Box::new(Forward::new(shape, plan.ask_holes.then(|| source.clone()))),
        Direction::Backward => Box::new(Backward::new(shape)),
    }
}

/// The schedule of what is left of a copy of known length, of which `durable` needs nothing any more. It goes forward.
/// A copy that digests all data has to read the durable part again: its schedule hands out that part too, in its place.
pub fn rest(plan: &Plan, source: &Arc<dyn Endpoint>, durable: &ExtentSet) -> Box<dyn Schedule> {
    let source = plan.ask_holes.then(|| source.clone());
    let aligns = Side::BOTH.map(|side| u64::from(plan.side(side).access.offset_align_bytes));
    // Of what went past the page cache no page may be written through it as well.
    let align_bytes =
        aligns.into_iter().max().map_or(1, |align| if align > 1 { align.max(PAGE_BYTES as u64) } else { 1 });
    let shape = Shape::of(plan);
    let ranges = plan.ranges_from_first().unwrap_or_else(|| vec![Extent::new(0, shape.len)]);
    let rest = InRanges::rest(shape, source, &ranges, durable, align_bytes);
    Box::new(if plan.hashes.is_empty() { rest } else { rest.and_reread(&ranges) })
}
