//! So many blocks at a time.
use crate::core::Request;
use std::collections::VecDeque;

/// Lets so many blocks at most be with the device at once, in the order of their tickets. How many may change at any
/// time; a lower number holds once enough of the blocks in flight have completed.
///
/// A head that serves one stream of large requests needs one to work on and one to continue with. More only give
/// whatever lies between (schedulers, bridges, servers with threads) the chance to reorder neighbours, and each such
/// pair costs the head a revolution. Without it, all blocks are with the slower side in the end, and come in clumps.
pub struct MaxInFlight {
    most: usize,
    is_open: bool,
    /// Tickets that are with the device: few enough to look through.
    there: Vec<u64>,
    /// By ascending tickets.
    held: VecDeque<Request>,
}

impl MaxInFlight {
    /// A gate for at most `blocks` blocks, with the device or held, that lets `most` of them through at a time.
    pub fn new(most: u32, blocks: u32) -> Self {
        let (there, held) = (Vec::with_capacity(blocks as usize), VecDeque::with_capacity(blocks as usize));
        MaxInFlight { most: most as usize, is_open: true, there, held }
    }

    /// From now on `most` blocks go through at a time.
    pub fn set_most(&mut self, most: u32) {
        self.most = most as usize;
    }

    /// Lets blocks through from now on. A gate is open at first.
    pub fn open(&mut self) {
        self.is_open = true;
    }

    /// Lets no further block through until it is opened.
    pub fn close(&mut self) {
        self.is_open = false;
    }

    /// Whether a request of this block may go at once. If so, the block is with the device from now on.
    pub fn lets_through(&mut self, ticket: u64) -> bool {
        // The rest of a short transfer: the block has never left.
        if self.there.contains(&ticket) {
            return true;
        }
        let may_go = self.is_open && self.held.is_empty() && self.there.len() < self.most;
        if may_go {
            self.there.push(ticket);
        }
        may_go
    }

    /// Takes a request in.
    pub fn admit(&mut self, request: Request, through: &mut Vec<Request>) {
        if self.lets_through(request.ticket) {
            through.push(request);
            return;
        }
        // Nearly always the last.
        let at = self.held.iter().rposition(|held| held.ticket < request.ticket).map_or(0, |before| before + 1);
        self.held.insert(at, request);
        self.release(through);
    }

    /// The block with this ticket is through with this side, or will never come to it.
    pub fn release_ticket(&mut self, ticket: u64) {
        if let Some(at) = self.there.iter().position(|&there| there == ticket) {
            self.there.swap_remove(at);
        }
    }

    /// Pushes whatever may go by now.
    pub fn release(&mut self, through: &mut Vec<Request>) {
        while self.is_open
            && self.there.len() < self.most
            && let Some(request) = self.held.pop_front()
        {
            self.there.push(request.ticket);
            through.push(request);
        }
    }

    /// Gives back everything that is held.
    pub fn cancel_pending(&mut self, back: &mut Vec<Request>) {
        back.extend(self.held.drain(..));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Arena, Op, Side};

    fn request(ticket: u64, done: u32) -> Request {
        let buffer = Arena::map(4096).expect("a page can be had").carve(4096, 1).pop().expect("one was asked for");
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
    fn no_more_than_that_many_blocks_are_with_the_device_and_each_that_passes_makes_room_for_the_next() {
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
    fn another_limit_holds_at_once_and_takes_nothing_back() {
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
        assert!(through.is_empty(), "two are still there");
        gate.release_ticket(2);
        gate.release(&mut through);
        assert_eq!(tickets(&mut through), [4]);
    }

    #[test]
    fn a_block_that_need_not_wait_goes_at_once_and_counts() {
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
    fn a_closed_gate_lets_only_the_rest_of_what_is_there_through() {
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
    fn blocks_that_come_in_any_order_go_by_their_tickets() {
        let (mut gate, mut through) = (MaxInFlight::new(1, 8), Vec::new());
        [7, 9, 3].into_iter().for_each(|ticket| gate.admit(request(ticket, 0), &mut through));
        assert_eq!(tickets(&mut through), [7]);
        gate.release_ticket(7);
        gate.release(&mut through);
        assert_eq!(tickets(&mut through), [3]);
    }

    #[test]
    fn what_is_held_comes_back_and_a_block_that_never_came_makes_no_room() {
        let (mut gate, mut through) = (MaxInFlight::new(1, 8), Vec::new());
        (0..3).for_each(|ticket| gate.admit(request(ticket, 0), &mut through));
        gate.release_ticket(17);
        gate.release(&mut through);
        assert_eq!(tickets(&mut through), [0]);
        gate.cancel_pending(&mut through);
        assert_eq!(tickets(&mut through), [1, 2]);
    }
}
