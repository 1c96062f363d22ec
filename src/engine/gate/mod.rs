//! Gates: they delay requests before a queue, for order, a rate, or a limit on requests in flight.
//!
//! Gates come before queues, one chain per side, because both sides share one ring but order and rate belong to one
//! side. Gates must not know queues or endpoints.
mod in_order;
mod max_in_flight;
mod rate;

pub use in_order::InOrder;
pub use max_in_flight::MaxInFlight;
pub use rate::Rate;

use crate::core::Request;
use std::time::{Duration, Instant};

/// Delays requests.
pub trait Gate {
    /// Takes a request, and pushes to `through` all requests that may be submitted now, this one or others.
    fn admit(&mut self, request: Request, through: &mut Vec<Request>);

    /// The block with this ticket is finished on this side, or will never be submitted.
    fn release_ticket(&mut self, _ticket: u64) {}

    /// Pushes the requests that may be submitted now.
    fn release(&mut self, through: &mut Vec<Request>);

    /// Returns all delayed requests.
    fn cancel_pending(&mut self, back: &mut Vec<Request>);

    /// Time from `now` until a request may be submitted, if it waits for time to pass.
    fn due_in(&self, _now: Instant) -> Option<Duration> {
        None
    }
}
