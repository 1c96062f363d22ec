//! A gate that limits the number of blocks in flight.
use crate::core::Request;
use std::collections::VecDeque;

/// Limits the number of blocks in flight on the device, and passes them in the order of their tickets. The limit may
/// change at any time; a lower limit applies once enough blocks have completed.
///
/// A rotational disk that serves one stream of large requests needs one to work on and one queued. More requests only
/// allow layers in between (schedulers, bridges, servers with threads) to reorder them, and each reordering costs a
/// revolution. Without a limit, all blocks collect on the slower side and complete in bursts.
pub struct MaxInFlight {
    most: usize,
    is_open: bool,
    /// Tickets in flight; few enough for a linear search.
    in_flight: Vec<u64>,
    /// Delayed requests, by ascending ticket.
    held: VecDeque<Request>,
}

impl MaxInFlight {
    /// A gate for at most `blocks` blocks in total that passes `most` of them at a time.
    pub fn new(most: u32, blocks: u32) -> Self {
        let (in_flight, held) = (Vec::with_capacity(blocks as usize), VecDeque::with_capacity(blocks as usize));
        MaxInFlight { most: most as usize, is_open: true, in_flight, held }
    }

    /// Changes the limit to `most` blocks.
    pub fn set_most(&mut self, most: u32) {
        self.most = most as usize;
    }

    /// Opens the gate. It is open initially.
    pub fn open(&mut self) {
        self.is_open = true;
    }

    /// Closes the gate: no further block passes until it is opened.
    pub fn close(&mut self) {
        self.is_open = false;
    }

    /// Whether a request of this block may be submitted now; if so, the block counts as in flight.
    pub fn lets_through(&mut self, ticket: u64) -> bool {
        // The rest of a short transfer: the block is still in flight.
        if self.in_flight.contains(&ticket) {
            return true;
        }
        let may_go = self.is_open && self.held.is_empty() && self.in_flight.len() < self.most;
        if may_go {
            self.in_flight.push(ticket);
        }
        may_go
    }

    /// Takes a request, and pushes to `through` those that may be submitted now.
    pub fn admit(&mut self, request: Request, through: &mut Vec<Request>) {
        if self.lets_through(request.ticket) {
            through.push(request);
            return;
        }
        // The position is nearly always the last.
        let at = self.held.iter().rposition(|held| held.ticket < request.ticket).map_or(0, |before| before + 1);
        self.held.insert(at, request);
        self.release(through);
    }

    /// The block with this ticket is finished on this side, or will never be submitted.
    pub fn release_ticket(&mut self, ticket: u64) {
        if let Some(at) = self.in_flight.iter().position(|&other| other == ticket) {
            self.in_flight.swap_remove(at);
        }
    }

    /// Pushes the requests that may be submitted now.
    pub fn release(&mut self, through: &mut Vec<Request>) {
        while self.is_open
            && self.in_flight.len() < self.most
            && let Some(request) = self.held.pop_front()
        {
            self.in_flight.push(request.ticket);
            through.push(request);
        }
    }

    /// Returns all delayed requests.
    pub fn cancel_pending(&mut self, back: &mut Vec<Request>) {
        back.extend(self.held.drain(..));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Arena, Op, Side};

    fn request(ticket: u64, done: u32) -> Request {
        let buffer = Arena::map(4096).expect("a page is available").carve(4096, 1).pop().expect("one was requested");
        Request {
            slot: 0,
            ticket,
            side: Side::Source,
            op: Op::Read,
            offset: ticket * 4096,
            len: 4096,
            done,
            until: 4096,
            buffer,
        }
    }

    fn tickets(through: &mut Vec<Request>) -> Vec<u64> {
        through.drain(..).map(|request| request.ticket).collect()
    }

    #[test]
    fn at_most_the_limit_of_blocks_is_in_flight() {
        let (mut gate, mut through) = (MaxInFlight::new(2, 8), Vec::new());
        (0..5).for_each(|ticket| gate.admit(request(ticket, 0), &mut through));
        assert_eq!(tickets(&mut through), [0, 1]);
        gate.release(&mut through);
        assert!(through.is_empty());
        gate.release_ticket(1);
        gate.release(&mut through);
        assert_eq!(tickets(&mut through), [2]);
        gate.release_ticket(0);
        gate.release_ticket(2);
        gate.release(&mut through);
        assert_eq!(tickets(&mut through), [3, 4]);
    }

    #[test]
    fn a_new_limit_applies_at_once_and_recalls_no_request() {
        let (mut gate, mut through) = (MaxInFlight::new(1, 16), Vec::new());
        (0..9).for_each(|ticket| gate.admit(request(ticket, 0), &mut through));
        assert_eq!(tickets(&mut through), [0]);
        gate.set_most(4);
        gate.release(&mut through);
        assert_eq!(tickets(&mut through), [1, 2, 3]);
        gate.set_most(2);
        gate.release_ticket(0);
        gate.release_ticket(1);
        gate.release(&mut through);
        assert!(through.is_empty(), "two are still in flight");
        gate.release_ticket(2);
        gate.release(&mut through);
        assert_eq!(tickets(&mut through), [4]);
    }

    #[test]
    fn an_unordered_block_passes_at_once_and_counts() {
        let (mut gate, mut through) = (MaxInFlight::new(2, 8), Vec::new());
        assert!(gate.lets_through(0) && gate.lets_through(0) && gate.lets_through(1) && !gate.lets_through(2));
        gate.admit(request(2, 0), &mut through);
        gate.release_ticket(0);
        assert!(through.is_empty() && !gate.lets_through(3), "another waits");
        gate.release(&mut through);
        assert_eq!(tickets(&mut through), [2]);
        gate.close();
        gate.release_ticket(1);
        assert!(!gate.lets_through(4));
    }

    #[test]
    fn a_closed_gate_passes_only_the_rest_of_started_blocks() {
        let (mut gate, mut through) = (MaxInFlight::new(2, 8), Vec::new());
        gate.admit(request(0, 0), &mut through);
        gate.close();
        gate.admit(request(1, 0), &mut through);
        gate.admit(request(0, 512), &mut through);
        assert_eq!(tickets(&mut through), [0, 0]);
        gate.open();
        gate.release(&mut through);
        assert_eq!(tickets(&mut through), [1]);
    }

    #[test]
    fn blocks_in_any_order_pass_by_ticket() {
        let (mut gate, mut through) = (MaxInFlight::new(1, 8), Vec::new());
        [7, 9, 3].into_iter().for_each(|ticket| gate.admit(request(ticket, 0), &mut through));
        assert_eq!(tickets(&mut through), [7]);
        gate.release_ticket(7);
        gate.release(&mut through);
        assert_eq!(tickets(&mut through), [3]);
    }

    #[test]
    fn held_blocks_are_returned_and_missing_ones_free_no_slot() {
        let (mut gate, mut through) = (MaxInFlight::new(1, 8), Vec::new());
        (0..3).for_each(|ticket| gate.admit(request(ticket, 0), &mut through));
        gate.release_ticket(17);
        gate.release(&mut through);
        assert_eq!(tickets(&mut through), [0]);
        gate.cancel_pending(&mut through);
        assert_eq!(tickets(&mut through), [1, 2]);
    }
}
