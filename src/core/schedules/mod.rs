//! Which extent goes next: forward, around holes, backward, in bursts.
//!
//! This room must not know how a request is carried out or kept in flight: it hands out extents and hears when they
//! have arrived.
#![forbid(unsafe_code)]
mod backward;
mod bursts;
mod claim;
mod following;
mod forward;
mod listed;
mod rest;
#[cfg(test)]
mod tests;

use crate::core::{Direction, Endpoint, ExtentSet, PAGE_BYTES, Plan, Route, Schedule, Side, Zeros};
use std::sync::Arc;

use backward::Backward;
use bursts::Bursts;
use claim::Claim;
pub use following::{Front, following};
use forward::Forward;
pub use listed::listed;
use rest::Rest;

/// Largest run of zeros in one request: a device that zeroes 1 GiB/s then still answers a signal within a tick.
const ZERO_RUN_BYTES_MAX: u32 = 64 << 20;

/// The schedule that the plan asks for. `source` is asked for its holes, where the plan wants that.
pub fn make(plan: &Plan, source: &Arc<dyn Endpoint>) -> Box<dyn Schedule> {
    let shape = Shape::of(plan);
    in_bursts(
        plan,
        match plan.direction {
            Direction::Forward => Box::new(Forward::new(shape, plan.ask_holes.then(|| source.clone()))),
            Direction::Backward => Box::new(Backward::new(shape)),
        },
    )
}

/// The schedule of what is left of a copy of known length, of which `durable` needs nothing any more. It goes forward.
pub fn rest(plan: &Plan, source: &Arc<dyn Endpoint>, durable: &ExtentSet) -> Box<dyn Schedule> {
    let source = plan.ask_holes.then(|| source.clone());
    let aligns = Side::BOTH.map(|side| u64::from(plan.side(side).access.offset_align_bytes));
    // Of what went past the page cache no page may be written through it as well.
    let align_bytes =
        aligns.into_iter().max().map_or(1, |align| if align > 1 { align.max(PAGE_BYTES as u64) } else { 1 });
    in_bursts(plan, Box::new(Rest::new(Shape::of(plan), source, durable, align_bytes)))
}

fn in_bursts(plan: &Plan, inner: Box<dyn Schedule>) -> Box<dyn Schedule> {
    match plan.burst_bytes {
        Some(burst_bytes) => Box::new(Bursts::new(inner, u64::from(burst_bytes))),
        None => inner,
    }
}

/// Where blocks begin and end. Offsets count from the first byte of the copy.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Bytes to copy; `u64::MAX` for a stream.
    len: u64,
    source_offset: u64,
    dest_offset: u64,
    head_bytes: u64,
    tail_align_bytes: u64,
    /// Longest zero run in one request; `None`: as long as a block, because it is written from one.
    zero_bytes_max: Option<u32>,
}

impl Shape {
    fn of(plan: &Plan) -> Shape {
        Shape {
            len: plan.len.unwrap_or(u64::MAX - plan.source.offset.max(plan.dest.offset)),
            source_offset: plan.source.offset,
            dest_offset: plan.dest.offset,
            head_bytes: u64::from(plan.head_bytes),
            tail_align_bytes: u64::from(plan.tail_align_bytes.max(1)),
            zero_bytes_max: long_zeros(plan).then_some(ZERO_RUN_BYTES_MAX),
        }
    }

    /// The greatest offset at or below `offset` that is aligned on the dest; 0 where there is none.
    fn aligned_down(&self, offset: u64) -> u64 {
        let on_dest = self.dest_offset + offset;
        (on_dest - on_dest % self.tail_align_bytes).saturating_sub(self.dest_offset)
    }

    /// The least offset at or above `offset` that is aligned on the dest, or the end of the copy.
    fn aligned_up(&self, offset: u64) -> u64 {
        let down = self.aligned_down(offset);
        let up = if down == offset { offset } else { self.aligned_down(offset.saturating_add(self.tail_align_bytes)) };
        up.min(self.len)
    }

    /// Where the last block has to be cut, so that its odd rest goes alone.
    fn tail_cut(&self) -> u64 {
        self.aligned_down(self.len)
    }
}

/// Zeros take no place in memory, so that a run of them may be longer than a block.
fn long_zeros(plan: &Plan) -> bool {
    !matches!(plan.zeros, Zeros::Write | Zeros::Each) && !matches!(plan.route, Route::Delta { .. })
}
