//! Schedules: forward, around holes, backward.
//!
//! This room must not know how requests are made or kept in flight: it returns extents and is notified when they were
//! copied.
#![forbid(unsafe_code)]
mod backward;
mod claim;
mod following;
mod forward;
mod listed;
mod pieces;
mod rescue;
mod shape;
#[cfg(test)]
mod tests;

use crate::core::{Direction, Endpoint, Extent, ExtentSet, PAGE_BYTES, Piece, Plan, Schedule, Side};
use std::sync::Arc;

use backward::Backward;
use claim::ContiguousExtent;
pub use following::{CopyPosition, following};
use forward::Forward;
pub use listed::listed;
use pieces::InPieces;
pub use rescue::rescue;
use shape::Shape;

/// The schedule of the plan. It queries `source` for holes if the plan requires that.
pub fn make(plan: &Plan, source: &Arc<dyn Endpoint>) -> Box<dyn Schedule> {
    let shape = Shape::of(plan);
    if plan.is_listed() {
        let pieces = plan.pieces(Extent::new(0, shape.len)).collect();
        return Box::new(InPieces::new(shape, plan.ask_holes.then(|| source.clone()), pieces));
    }
    match plan.direction {
        Direction::Forward => Box::new(Forward::new(shape, plan.ask_holes.then(|| source.clone()))),
        Direction::Backward => Box::new(Backward::new(shape)),
    }
}

/// The schedule for the rest of a copy of known length, of which `durable` is already durable; always forward. If all
/// data is to be digested, the schedule includes the durable part, which is read again, except for what is `digested`.
pub fn rest(plan: &Plan, source: &Arc<dyn Endpoint>, durable: &ExtentSet, digested: &ExtentSet) -> Box<dyn Schedule> {
    let source = plan.ask_holes.then(|| source.clone());
    let aligns = Side::BOTH.map(|side| u64::from(plan.side(side).access.offset_align_bytes));
    // Direct and buffered I/O must not write to the same page.
    let align_bytes =
        aligns.into_iter().max().map_or(1, |align| if align > 1 { align.max(PAGE_BYTES as u64) } else { 1 });
    let shape = Shape::of(plan);
    let pieces: Vec<Piece> = plan.pieces(Extent::new(0, shape.len)).collect();
    let rest = InPieces::rest(shape, source, &pieces, durable, align_bytes);
    Box::new(if plan.digests_all() { rest.and_reread(&pieces, digested) } else { rest })
}
