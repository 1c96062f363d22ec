//! A gate that passes requests in the order of their tickets.
use super::Gate;
use crate::core::Request;
use std::collections::{BTreeMap, BTreeSet};

/// Passes requests in the order of their tickets, regardless of the order of submission.
///
/// Tickets are assigned with the reads, so a write is submitted only after all earlier reads have completed. That makes
/// copies between overlapping extents correct, and keeps accesses to rotational disks sequential.
pub struct InOrder {
    one_at_a_time: bool,
    waiting: BTreeMap<u64, Request>,
    /// Tickets from `next` on that will never be submitted.
    passed: BTreeSet<u64>,
    /// The next ticket. With `one_at_a_time`, it stays the same until its block is finished.
    next: u64,
}

impl InOrder {
    /// Any number of requests in flight, submitted in order.
    pub fn of_submission() -> Self {
        InOrder { one_at_a_time: false, waiting: BTreeMap::new(), passed: BTreeSet::new(), next: 0 }
    }

    /// The next request is submitted when the previous one is finished: for pipes.
    pub fn one_at_a_time() -> Self {
        InOrder { one_at_a_time: true, ..InOrder::of_submission() }
    }

    fn skip_passed(&mut self) {
        while self.passed.remove(&self.next) {
            self.next += 1;
        }
    }
}

impl Gate for InOrder {
    fn admit(&mut self, request: Request, through: &mut Vec<Request>) {
        // The rest of a short transfer, or the next piece of a block that was admitted before.
        let had_its_turn = if self.one_at_a_time { request.done > 0 } else { request.ticket < self.next };
        if had_its_turn {
            through.push(request);
        } else {
            self.waiting.insert(request.ticket, request);
            self.release(through);
        }
    }

    fn release_ticket(&mut self, ticket: u64) {
        if ticket >= self.next {
            self.passed.insert(ticket);
            self.skip_passed();
        }
    }

    fn release(&mut self, through: &mut Vec<Request>) {
        while let Some(request) = self.waiting.remove(&self.next) {
            through.push(request);
            if self.one_at_a_time {
                return;
            }
            self.next += 1;
            self.skip_passed();
        }
    }

    fn cancel_pending(&mut self, back: &mut Vec<Request>) {
        back.extend(std::mem::take(&mut self.waiting).into_values());
    }
}
