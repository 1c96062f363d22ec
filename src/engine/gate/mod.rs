//! What may hold a request back on its way to a queue: order, a rate, how many are there already.
//!
//! Gates are in front of queues, one chain a side, because one ring serves both sides while order and rate belong to
//! one. They must not know queues or endpoints.
mod in_order;
mod max_in_flight;
mod rate;

pub use in_order::InOrder;
pub use max_in_flight::MaxInFlight;
pub use rate::Rate;

use crate::core::Request;
use std::time::{Duration, Instant};

/// Holds requests back until they may go.
pub trait Gate {
    /// Takes a request in, and pushes to `through` whatever may go now, this one or others.
    fn admit(&mut self, request: Request, through: &mut Vec<Request>);

    /// The block with this ticket is through with this side, or will never come to it.
    fn release_ticket(&mut self, _ticket: u64) {}

    /// Pushes whatever may go by now.
    fn release(&mut self, through: &mut Vec<Request>);

    /// Gives back everything that is held.
    fn cancel_pending(&mut self, back: &mut Vec<Request>);

    /// How long from `now` until something may go merely because time has passed.
    fn due_in(&self, _now: Instant) -> Option<Duration> {
        None
    }
}
