//! The schedule of a rescue: the phases of GNU ddrescue, decided by the result of each read.
mod caution;
mod copying;
mod heads;
mod limits;
mod located;
mod now;
mod piece;
mod sectors;
#[cfg(test)]
mod tests;
mod trimming;

use crate::core::rescue::{ReadResult, RescueLog, RescuePlan, RescueState, RescueStatus, SharedRescue, Status};
use crate::core::{Extent, Next, Run, RunKind, Schedule, locked};
use caution::Caution;
use copying::Copying;
use limits::Limits;
use located::{Followed, Located};
use now::Now;
use sectors::Sectors;
use std::io;
use std::sync::MutexGuard;
use std::time::{Duration, Instant};
use trimming::Trimming;

/// The current phase.
enum Work {
    Copying(Copying),
    Trimming(Trimming),
    /// Scraping, or retrying in this direction.
    Sectors(Sectors),
    Finished,
}

struct Rescue {
    plan: RescuePlan,
    state: SharedRescue,
    work: Work,
    caution: Caution,
    limits: Limits,
    located: Located,
    /// Whether the last answer was to wait because the source is too hot.
    is_paused: bool,
    /// Blocks that are neither failed nor written.
    unfinished: u32,
    logs: Vec<Box<dyn RescueLog>>,
}

/// The schedule of a rescue that continues `state`, and is recorded by `logs`.
pub fn rescue(plan: RescuePlan, state: SharedRescue, mut logs: Vec<Box<dyn RescueLog>>) -> Box<dyn Schedule> {
    let work = {
        let mut state = locked(&state);
        let copying = Copying::resume(&mut Now { plan: &plan, state: &mut state });
        (state.phase, state.pass) = (RescueStatus::Copying, copying.pass());
        logs.iter_mut().for_each(|log| log.on_phase(&state));
        Work::Copying(copying)
    };
    let (caution, limits) = (Caution::new(plan.cluster_bytes, plan.slow_bytes_per_s), Limits::new(Instant::now()));
    Box::new(Rescue {
        plan,
        state,
        work,
        caution,
        limits,
        located: Located::new(),
        is_paused: false,
        unfinished: 0,
        logs,
    })
}

impl Rescue {
    fn state(&self) -> MutexGuard<'_, RescueState> {
        locked(&self.state)
    }

    /// The next read of the current phase; `None`: the phase has none left.
    fn next_of_phase(&mut self) -> Option<Extent> {
        let now = &mut Now { plan: &self.plan, state: &mut locked(&self.state) };
        if let Some(extent) = self.located.next(now) {
            return Some(extent);
        }
        let located = self.located.is_proven();
        match &mut self.work {
            Work::Copying(copying) => copying.next(now),
            Work::Trimming(trimming) => trimming.next(now, located),
            Work::Sectors(sectors) => sectors.next(now, located),
            Work::Finished => None,
        }
    }

    /// Begins the next phase or pass, when every block of the current one is finished.
    fn begin_next(&mut self) {
        let (mut state, plan) = (locked(&self.state), &self.plan);
        let now = &mut Now { plan, state: &mut state };
        let work = match &self.work {
            Work::Copying(copying) => copying.next_pass(now).map(Work::Copying),
            _ => None,
        };
        let has = |status| now.state.map.next(status, 0, plan.domain.as_ref()).is_some();
        let done = match &self.work {
            Work::Copying(_) => 0,
            Work::Trimming(_) => 1,
            Work::Sectors(sectors) => 2 + sectors.retries(),
            Work::Finished => u64::MAX,
        };
        let scrapes = plan.scrape && has(Status::Unscraped);
        let next_retry = done.saturating_sub(1).max(1);
        let retries = plan.retries.is_none_or(|most| next_retry <= u64::from(most)) && has(Status::Bad);
        self.work = match work {
            Some(work) => work,
            None if done < 1 && plan.trim && has(Status::Untrimmed) => Work::Trimming(Trimming::default()),
            None if done < 2 && scrapes => Work::Sectors(Sectors::scraping()),
            None if retries && done < u64::MAX => Work::Sectors(Sectors::retrying(next_retry, now)),
            None => Work::Finished,
        };
        let (phase, pass) = match &self.work {
            Work::Copying(copying) => (RescueStatus::Copying, copying.pass()),
            Work::Trimming(_) => (RescueStatus::Trimming, 1),
            Work::Sectors(sectors) if sectors.retries() == 0 => (RescueStatus::Scraping, 1),
            Work::Sectors(sectors) => (RescueStatus::Retrying, sectors.retries().min(i32::MAX as u64) as u32),
            Work::Finished => (RescueStatus::Finished, 1),
        };
        (state.phase, state.pass) = (phase, pass);
        state.pos = if phase == RescueStatus::Finished { 0 } else { state.pos };
        if phase != RescueStatus::Finished {
            self.logs.iter_mut().for_each(|log| log.on_phase(&state));
        }
    }
}

impl Schedule for Rescue {
    fn next(&mut self, block_bytes: u32) -> io::Result<Next> {
        debug_assert!(self.plan.cluster_bytes <= u64::from(block_bytes), "a cluster is at most a block");
        loop {
            self.is_paused = locked(&self.state).is_paused();
            if self.is_paused {
                return Ok(Next::Wait);
            }
            let stopped = self.limits.stopped(&self.plan, &locked(&self.state), Instant::now());
            if let Some(stopped) = stopped {
                self.state().stopped = Some(stopped);
                return Ok(Next::Finished);
            }
            let alone = !matches!(self.work, Work::Copying(_));
            if !self.caution.may_read() || alone && self.caution.is_reading() {
                return Ok(Next::Wait);
            }
            if let Some(extent) = self.next_of_phase() {
                self.unfinished += 1;
                self.caution.asked(extent);
                return Ok(Next::Do(Run { extent, kind: RunKind::Data }));
            }
            if self.unfinished > 0 {
                return Ok(Next::Wait);
            }
            if matches!(self.work, Work::Finished) {
                return Ok(Next::Finished);
            }
            self.begin_next();
        }
    }

    /// The length of a source that is rescued is known.
    fn ends_at(&mut self, _offset: u64) {}

    fn complete(&mut self, extent: Extent) {
        self.unfinished -= 1;
        self.state().map.set(extent, Status::Finished);
    }

    fn claimed(&self) -> Extent {
        let state = self.state();
        let first = state.map.blocks().next().filter(|first| first.status == Status::Finished);
        first.map_or(Extent::new(0, 0), |first| first.extent)
    }

    fn is_paused(&self) -> bool {
        self.is_paused
    }

    fn depends_on_results(&self) -> bool {
        true
    }

    fn on_read(&mut self, extent: Extent, took: Duration) {
        self.caution.answered(extent);
        let slow = self.caution.is_slow_read(extent, took);
        let mut state = locked(&self.state);
        state.last_new = Instant::now();
        state.slow_reads += u64::from(slow);
        let now = &mut Now { plan: &self.plan, state: &mut state };
        match &mut self.work {
            _ if self.located.on_read(extent, now) => {}
            Work::Copying(copying) => copying.on_read(extent, slow, now),
            Work::Trimming(trimming) => trimming.on_read(extent),
            Work::Sectors(_) | Work::Finished => {}
        }
        self.logs.iter_mut().for_each(|log| log.on_read(extent, ReadResult::Read, &state));
    }

    fn on_failed(&mut self, extent: Extent, _took: Duration, bad: Option<u64>) {
        // A block of which the first part was read is finished by that part.
        self.unfinished -= u32::from(self.caution.answered(extent));
        self.caution.failed();
        self.limits.failed(extent);
        let mut state = locked(&self.state);
        state.failed_reads += 1;
        let now = &mut Now { plan: &self.plan, state: &mut state };
        let (searched, divided) = match self.located.on_failed(extent, now) {
            Some(Followed::Known) => (None, None),
            Some(Followed::Unknown(searched)) => (Some(searched), None),
            None => (Some(extent), self.located.divide(extent, bad, now)),
        };
        match (&mut self.work, searched, divided) {
            (Work::Copying(copying), _, Some(divided)) => copying.on_divided(extent, divided, now),
            (Work::Trimming(_), _, Some(divided)) => trimming::on_divided(divided, now),
            (Work::Sectors(sectors), _, Some(divided)) => sectors.on_divided(divided, now),
            (Work::Copying(copying), Some(searched), None) => copying.on_failed(searched, now),
            (Work::Trimming(trimming), Some(searched), None) => trimming.on_failed(searched, now),
            (Work::Sectors(sectors), Some(searched), None) => sectors.on_failed(searched, now),
            (Work::Finished, ..) | (_, None, None) => {}
        }
        self.logs.iter_mut().for_each(|log| log.on_read(extent, ReadResult::Failed, &state));
    }

    fn dest_len_min(&self) -> u64 {
        self.state().map.len_bytes()
    }
}

impl Drop for Rescue {
    /// The run has ended: everything read was written, or never will be.
    fn drop(&mut self) {
        let state = locked(&self.state);
        self.logs.iter_mut().for_each(|log| log.on_end(&state));
    }
}
