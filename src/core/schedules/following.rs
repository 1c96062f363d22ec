//! Behind a copy that is still running.
use super::ContiguousExtent;
use crate::core::{Extent, Next, Run, RunKind, Schedule};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// While nothing may be read, it is asked again after this time whether it may.
const LOOK: Duration = Duration::from_millis(100);

/// The progress of a copy: reported by its observer, waited for by its follower.
#[derive(Debug, Default)]
pub struct Front {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Every byte before this one has arrived.
    reached: u64,
    ended: bool,
}

impl Front {
    /// These bytes have arrived. What comes after a gap does not count: it is not followed.
    pub fn arrived(&self, extent: Extent) {
        let mut state = self.state();
        if extent.offset == state.reached {
            state.reached = extent.end();
            self.changed.notify_all();
        }
    }

    /// The copy runs no more.
    pub fn end(&self) {
        self.state().ended = true;
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The first bytes of a copy, as long as it runs, in the order they arrived.
struct Following<F> {
    front: Arc<Front>,
    window_bytes: u64,
    unit_bytes: u64,
    may: F,
    next: u64,
    /// Handed out and not settled.
    in_flight: u64,
    claim: ContiguousExtent,
}

/// Hands out what lies `window_bytes` or more behind `front`, in multiples of `unit_bytes`, whenever `may` says so,
/// until the copy ends. It waits where there is nothing to hand out.
pub fn following(
    front: Arc<Front>,
    window_bytes: u64,
    unit_bytes: u64,
    may: impl FnMut() -> bool + 'static,
) -> Box<dyn Schedule> {
    Box::new(Following {
        front,
        window_bytes,
        unit_bytes,
        may,
        next: 0,
        in_flight: 0,
        claim: ContiguousExtent::default(),
    })
}

impl<F: FnMut() -> bool> Schedule for Following<F> {
    fn next(&mut self, block_bytes: u32) -> io::Result<Next> {
        loop {
            let may = (self.may)();
            let state = self.front.state();
            if state.ended {
                return Ok(Next::Finished);
            }
            let end = state.reached.saturating_sub(self.window_bytes);
            let left = (end - end % self.unit_bytes).saturating_sub(self.next);
            if may && left > 0 {
                let extent = Extent::new(self.next, left.min(u64::from(block_bytes)));
                self.next += extent.len;
                self.in_flight += extent.len;
                return Ok(Next::Do(Run { extent, kind: RunKind::Data }));
            }
            if self.in_flight > 0 {
                return Ok(Next::Wait);
            }
            drop(self.front.changed.wait_timeout(state, LOOK));
        }
    }

    fn ends_at(&mut self, _offset: u64) {}

    fn settled(&mut self, extent: Extent) {
        self.in_flight -= extent.len;
        self.claim.settle(extent);
    }

    fn claimed(&self) -> Extent {
        Extent::new(0, self.claim.reached())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    use std::sync::mpsc;
    use std::thread;

    fn handed(next: Next) -> Option<(u64, u64)> {
        if let Next::Do(run) = next { Some((run.extent.offset, run.extent.len)) } else { None }
    }

    #[test]
    fn nothing_within_the_window_is_handed_out_and_nothing_while_it_may_not() {
        let (front, may) = (Arc::new(Front::default()), Arc::new(AtomicBool::new(true)));
        let asked = may.clone();
        let mut schedule = following(front.clone(), 1000, 64, move || asked.load(Relaxed));
        front.arrived(Extent::new(0, 1100));
        assert_eq!(handed(schedule.next(50).unwrap()), Some((0, 50)));
        assert_eq!(handed(schedule.next(50).unwrap()), Some((50, 14)));
        assert_eq!(schedule.next(50).unwrap(), Next::Wait);
        // After a gap nothing is followed.
        front.arrived(Extent::new(1200, 5000));
        assert_eq!(schedule.next(50).unwrap(), Next::Wait);
        front.arrived(Extent::new(1100, 64));
        may.store(false, Relaxed);
        assert_eq!(schedule.next(50).unwrap(), Next::Wait);
        may.store(true, Relaxed);
        assert_eq!(handed(schedule.next(500).unwrap()), Some((64, 64)));
        for extent in [Extent::new(50, 14), Extent::new(64, 64), Extent::new(0, 50)] {
            schedule.settled(extent);
        }
        assert_eq!(schedule.claimed(), Extent::new(0, 128));
    }

    #[test]
    fn it_waits_for_the_copy_and_ends_with_it() {
        let front = Arc::new(Front::default());
        let (told, (tell, hear)) = (front.clone(), mpsc::channel());
        let follower = thread::spawn(move || {
            let mut schedule = following(told, 10, 1, || true);
            tell.send(handed(schedule.next(100).unwrap())).unwrap();
            schedule.settled(Extent::new(0, 100));
            schedule.next(100).unwrap()
        });
        front.arrived(Extent::new(0, 110));
        assert_eq!(hear.recv().unwrap(), Some((0, 100)));
        front.end();
        assert_eq!(follower.join().unwrap(), Next::Finished);
    }
}
