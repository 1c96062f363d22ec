//! MaxInFlight requests at a time.
use super::Gate;
use crate::core::Request;
use std::collections::{BTreeMap, BTreeSet};

/// Lets so many blocks at most be with the device at once, in the order of their tickets.
///
/// A head that serves one stream of large requests needs one to work on and one to go on with. More only give whatever
/// lies between (schedulers, bridges, servers with threads) the chance to mix up neighbours, and each mixed-up pair
/// costs the head a turn. Without it, all blocks are with the slower side in the end, and come and go in clumps.
pub struct MaxInFlight {
    most: usize,
    /// `most` follows the depth.
    half_of_all: bool,
    /// Tickets that are with the device.
    there: BTreeSet<u64>,
    held: BTreeMap<u64, Request>,
}

impl MaxInFlight {
    /// A gate that lets `most` blocks through at a time; not 0.
    pub fn new(most: usize) -> Self {
        MaxInFlight { most, half_of_all: false, there: BTreeSet::new(), held: BTreeMap::new() }
    }

    /// A gate that lets half of `depth` blocks through at a time, and one at least.
    pub fn half_of(depth: u32) -> Self {
        MaxInFlight { half_of_all: true, ..MaxInFlight::new(half(depth)) }
    }
}

fn half(depth: u32) -> usize {
    (depth / 2).max(1) as usize
}

impl Gate for MaxInFlight {
    fn set_depth(&mut self, depth: u32) {
        if self.half_of_all {
            self.most = half(depth);
        }
    }

    fn admit(&mut self, request: Request, through: &mut Vec<Request>) {
        // The rest of a short transfer: the block has never left.
        if self.there.contains(&request.ticket) {
            through.push(request);
        } else {
            self.held.insert(request.ticket, request);
            self.release(false, through);
        }
    }

    fn release_ticket(&mut self, ticket: u64) {
        self.there.remove(&ticket);
    }

    fn release(&mut self, _source_idle: bool, through: &mut Vec<Request>) {
        while self.there.len() < self.most
            && let Some((ticket, request)) = self.held.pop_first()
        {
            self.there.insert(ticket);
            through.push(request);
        }
    }

    fn cancel_pending(&mut self, back: &mut Vec<Request>) {
        back.extend(std::mem::take(&mut self.held).into_values());
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
        let (mut gate, mut through) = (MaxInFlight::new(2), Vec::new());
        (0..5).for_each(|ticket| gate.admit(request(ticket, 0), &mut through));
        assert_eq!(tickets(&mut through), [0, 1]);
        gate.release(true, &mut through);
        assert!(through.is_empty());
        gate.release_ticket(1);
        gate.release(false, &mut through);
        assert_eq!(tickets(&mut through), [2]);
        gate.release_ticket(0);
        gate.release_ticket(2);
        gate.release(false, &mut through);
        assert_eq!(tickets(&mut through), [3, 4]);
    }

    #[test]
    fn half_of_the_blocks_go_with_any_depth_and_a_fixed_number_stays() {
        let (mut half, mut fixed, mut through) = (MaxInFlight::half_of(4), MaxInFlight::new(2), Vec::new());
        [&mut half, &mut fixed].into_iter().for_each(|gate| gate.set_depth(8));
        (0..9).for_each(|ticket| half.admit(request(ticket, 0), &mut through));
        assert_eq!(tickets(&mut through), [0, 1, 2, 3]);
        (0..9).for_each(|ticket| fixed.admit(request(ticket, 0), &mut through));
        assert_eq!(tickets(&mut through), [0, 1]);
        let mut least = MaxInFlight::half_of(1);
        least.admit(request(0, 0), &mut through);
        assert_eq!(tickets(&mut through), [0]);
    }

    #[test]
    fn blocks_that_come_in_any_order_go_by_their_tickets() {
        let (mut gate, mut through) = (MaxInFlight::new(1), Vec::new());
        [7, 9, 3].into_iter().for_each(|ticket| gate.admit(request(ticket, 0), &mut through));
        assert_eq!(tickets(&mut through), [7]);
        gate.release_ticket(7);
        gate.release(false, &mut through);
        assert_eq!(tickets(&mut through), [3]);
    }

    #[test]
    fn the_rest_of_a_short_transfer_does_not_wait_again() {
        let (mut gate, mut through) = (MaxInFlight::new(1), Vec::new());
        gate.admit(request(0, 0), &mut through);
        gate.admit(request(1, 0), &mut through);
        gate.admit(request(0, 512), &mut through);
        assert_eq!(tickets(&mut through), [0, 0]);
    }

    #[test]
    fn what_is_held_comes_back_and_a_block_that_never_came_makes_no_room() {
        let (mut gate, mut through) = (MaxInFlight::new(1), Vec::new());
        (0..3).for_each(|ticket| gate.admit(request(ticket, 0), &mut through));
        gate.release_ticket(17);
        gate.release(false, &mut through);
        assert_eq!(tickets(&mut through), [0]);
        gate.cancel_pending(&mut through);
        assert_eq!(tickets(&mut through), [1, 2]);
    }
}
