//! A gate that limits the rate.
use super::Gate;
use crate::core::Request;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Maximum idle time that a burst may compensate.
const CREDIT: Duration = Duration::from_millis(100);

/// Delays each request by the time that the previous ones take at the rate, counted from the first request, so that the
/// mean rate is exact for any block size.
pub struct Rate {
    bytes_per_s: u64,
    held: VecDeque<Request>,
    /// When the next request may be submitted.
    next_at: Option<Instant>,
}

impl Rate {
    /// A gate that passes `bytes_per_s`, which must not be 0.
    pub fn new(bytes_per_s: u64) -> Self {
        Rate { bytes_per_s, held: VecDeque::new(), next_at: None }
    }

    fn release_at(&mut self, now: Instant, through: &mut Vec<Request>) {
        while let Some(request) = self.held.front() {
            let due = self.next_at.unwrap_or(now);
            if due > now {
                return;
            }
            let price = Duration::from_secs_f64(f64::from(request.left()) / self.bytes_per_s as f64);
            self.next_at = Some(due.max(now.checked_sub(CREDIT).unwrap_or(now)) + price);
            through.extend(self.held.pop_front());
        }
    }
}

impl Gate for Rate {
    fn admit(&mut self, request: Request, through: &mut Vec<Request>) {
        if request.done > 0 {
            // The rest of a short transfer; its bytes were counted before.
            through.push(request);
            return;
        }
        self.held.push_back(request);
        self.release_at(Instant::now(), through);
    }

    fn release(&mut self, through: &mut Vec<Request>) {
        if !self.held.is_empty() {
            self.release_at(Instant::now(), through);
        }
    }

    fn cancel_pending(&mut self, back: &mut Vec<Request>) {
        back.extend(self.held.drain(..));
    }

    fn due_in(&self, now: Instant) -> Option<Duration> {
        let due = self.next_at.filter(|_| !self.held.is_empty())?;
        Some(due.saturating_duration_since(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Arena, Op, Side};

    #[test]
    fn each_request_sets_the_earliest_time_of_the_next() {
        let mut gate = Rate::new(1000);
        let start = Instant::now();
        let buffers = Arena::map(1 << 20).unwrap().carve(4096, 4);
        for (slot, buffer) in buffers.into_iter().enumerate() {
            let (slot, ticket) = (slot as u32, slot as u64);
            let (side, op) = (Side::Source, Op::Read);
            gate.held.push_back(Request { slot, ticket, side, op, offset: 0, len: 500, done: 0, until: 500, buffer });
        }
        let mut through = Vec::new();
        let counts: Vec<usize> = [0, 499, 500, 999, 1000, 1501]
            .map(|ms| {
                gate.release_at(start + Duration::from_millis(ms), &mut through);
                through.len()
            })
            .to_vec();
        assert_eq!(counts, [1, 1, 2, 2, 3, 4]);
    }
}
