//! A schedule that follows a running copy, for reading back.
use super::ContiguousExtent;
use crate::core::{Extent, Next, Run, RunKind, Schedule};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Interval for checking `may` again while it returns false.
const MAY_INTERVAL: Duration = Duration::from_millis(100);

/// The position of a running copy: its observer updates it, and the follower waits for it.
#[derive(Debug, Default)]
pub struct CopyPosition {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// All bytes below this offset were copied.
    reached: u64,
    ended: bool,
}

impl CopyPosition {
    /// Records that `extent` was copied. An extent after a gap is ignored.
    pub fn advance(&self, extent: Extent) {
        let mut state = self.state();
        if extent.offset == state.reached {
            state.reached = extent.end();
            self.changed.notify_all();
        }
    }

    /// Records that the copy ended.
    pub fn end(&self) {
        self.state().ended = true;
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Follows a copy in the order of its extents, until it ends.
struct Following<F> {
    position: Arc<CopyPosition>,
    window_bytes: u64,
    unit_bytes: u64,
    may: F,
    next: u64,
    /// Bytes that were scheduled and have not completed.
    in_flight: u64,
    claim: ContiguousExtent,
}

/// Schedules bytes at least `window_bytes` before the position of the copy, in multiples of `unit_bytes`, while `may`
/// returns true and until the copy ends. Blocks while there is nothing to schedule.
pub fn following(
    position: Arc<CopyPosition>,
    window_bytes: u64,
    unit_bytes: u64,
    may: impl FnMut() -> bool + 'static,
) -> Box<dyn Schedule> {
    Box::new(Following {
        position,
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
            let state = self.position.state();
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
            drop(self.position.changed.wait_timeout(state, MAY_INTERVAL));
        }
    }

    fn ends_at(&mut self, _offset: u64) {}

    fn complete(&mut self, extent: Extent) {
        self.in_flight -= extent.len;
        self.claim.complete(extent);
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

    fn scheduled(next: Next) -> Option<(u64, u64)> {
        if let Next::Do(run) = next { Some((run.extent.offset, run.extent.len)) } else { None }
    }

    #[test]
    fn read_back_stays_behind_the_window_and_waits_while_paused() {
        let (position, may) = (Arc::new(CopyPosition::default()), Arc::new(AtomicBool::new(true)));
        let allowed = may.clone();
        let mut schedule = following(position.clone(), 1000, 64, move || allowed.load(Relaxed));
        position.advance(Extent::new(0, 1100));
        assert_eq!(scheduled(schedule.next(50).unwrap()), Some((0, 50)));
        assert_eq!(scheduled(schedule.next(50).unwrap()), Some((50, 14)));
        assert_eq!(schedule.next(50).unwrap(), Next::Wait);
        // An extent after a gap is ignored.
        position.advance(Extent::new(1200, 5000));
        assert_eq!(schedule.next(50).unwrap(), Next::Wait);
        position.advance(Extent::new(1100, 64));
        may.store(false, Relaxed);
        assert_eq!(schedule.next(50).unwrap(), Next::Wait);
        may.store(true, Relaxed);
        assert_eq!(scheduled(schedule.next(500).unwrap()), Some((64, 64)));
        for extent in [Extent::new(50, 14), Extent::new(64, 64), Extent::new(0, 50)] {
            schedule.complete(extent);
        }
        assert_eq!(schedule.claimed(), Extent::new(0, 128));
    }

    #[test]
    fn the_schedule_waits_for_the_copy_and_ends_with_it() {
        let position = Arc::new(CopyPosition::default());
        let (reported, (sender, receiver)) = (position.clone(), mpsc::channel());
        let follower = thread::spawn(move || {
            let mut schedule = following(reported, 10, 1, || true);
            sender.send(scheduled(schedule.next(100).unwrap())).unwrap();
            schedule.complete(Extent::new(0, 100));
            schedule.next(100).unwrap()
        });
        position.advance(Extent::new(0, 110));
        assert_eq!(receiver.recv().unwrap(), Some((0, 100)));
        position.end();
        assert_eq!(follower.join().unwrap(), Next::Finished);
    }
}
