//! Signals and periodic progress of a running dd or sg_dd.
use crate::apps::exit::die_by;
use crate::apps::fronts::record_counts::{RecordCounts, RecordTally};
use crate::apps::fronts::record_plan::RecordPlan;
use crate::core::{Endpoint, Error, Kind, Result, Stop, Tally};
use crate::sys;
use signal_hook::consts::SIGUSR1;
use signal_hook::iterator::Signals;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Reports on a running copy.
pub(crate) trait Watcher: Send + Sync {
    /// On SIGUSR1.
    fn report(&self);
    /// Every tick.
    fn progress(&self);
    /// Every tick while records are copied instead of blocks.
    fn progress_by_records(&self) {
        self.progress();
    }
    /// The process is about to end by a signal.
    fn interrupted(&self);
}

/// A copy of blocks in progress.
#[derive(Clone)]
pub(crate) struct BlockCopy {
    pub(super) stop: Arc<Stop>,
    pub(super) tally: Arc<Tally>,
    pub(super) ends: [Arc<dyn Endpoint>; 2],
}

struct Shared {
    plan: Arc<RecordPlan>,
    watcher: Arc<dyn Watcher>,
    tally: Arc<RecordTally>,
    moving: Mutex<Option<BlockCopy>>,
    /// Whether the counts are final.
    over: Mutex<bool>,
    ended: Condvar,
}

impl Shared {
    fn moving(&self) -> MutexGuard<'_, Option<BlockCopy>> {
        self.moving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Derives the counts from the bytes copied as blocks, while blocks are copied; returns those bytes.
    fn refresh(&self) -> Option<u64> {
        let bytes = self.moving().as_ref().map(|moving| moving.tally.copied_bytes())?;
        self.tally.set(RecordCounts::of_bytes(&self.plan, bytes));
        Some(bytes)
    }
}

/// Handles signals and reports progress until the process ends.
pub(crate) struct SignalThread {
    shared: Arc<Shared>,
    pub(super) tally: Arc<RecordTally>,
}

impl SignalThread {
    /// Starts to listen: SIGUSR1 prints the progress, the other signals print it and end the process. Omit
    /// signals that the caller ignores. They interrupt no system call of this thread from now on. Progress is
    /// reported every `tick`.
    pub(crate) fn start(
        plan: &Arc<RecordPlan>,
        watcher: Arc<dyn Watcher>,
        tally: &Arc<RecordTally>,
        heard: &[i32],
        tick: Option<Duration>,
    ) -> Result<SignalThread> {
        let shared = Arc::new(Shared {
            plan: plan.clone(),
            watcher,
            tally: tally.clone(),
            moving: Mutex::new(None),
            over: Mutex::new(false),
            ended: Condvar::new(),
        });
        let failed = |error| Error::new(Kind::Io, "cannot listen for signals").because(error);
        let mut incoming = Signals::new(heard).map_err(failed)?;
        let listening = shared.clone();
        let listen = move || incoming.forever().for_each(|signal| handle_signal(signal, &listening));
        thread::Builder::new().name("haul-signals".to_owned()).spawn(listen).map_err(failed)?;
        sys::block(heard);
        if let Some(every) = tick {
            let ticking = shared.clone();
            let tick = move || tick_on(&ticking, every);
            thread::Builder::new().name("haul-progress".to_owned()).spawn(tick).map_err(failed)?;
        }
        Ok(SignalThread { shared, tally: tally.clone() })
    }

    /// Reports that the process is about to end by a signal, with no request in flight.
    pub(crate) fn interrupted(&self) {
        self.shared.watcher.interrupted();
    }

    /// Starts or ends the time in which blocks are copied.
    pub(super) fn moving(&self, moving: Option<BlockCopy>) {
        *self.shared.moving() = moving;
    }

    /// The copy has ended: the counts are final, and progress is no longer drawn.
    pub(crate) fn over(&self) {
        *self.shared.over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.shared.ended.notify_all();
    }
}

fn handle_signal(signal: i32, shared: &Shared) {
    let _ = shared.refresh();
    if signal == SIGUSR1 {
        shared.watcher.report();
        return;
    }
    let moving = shared.moving().clone();
    match moving {
        // Blocks in flight are completed first; then the counts are reported.
        Some(moving) if !moving.stop.is_requested() => {
            moving.stop.request(signal);
            moving.ends.iter().for_each(|end| end.cancel());
        }
        Some(_) => die_by(signal),
        None => {
            shared.watcher.interrupted();
            die_by(signal);
        }
    }
}

/// How soon progress is reported after the first blocks, if it was due before them.
const OVERDUE: Duration = Duration::from_millis(20);

fn tick_on(shared: &Shared, every: Duration) {
    let mut over = shared.over.lock().unwrap_or_else(PoisonError::into_inner);
    let mut wait = every;
    loop {
        let (guard, waited) = shared.ended.wait_timeout(over, wait).unwrap_or_else(PoisonError::into_inner);
        over = guard;
        if *over {
            return;
        }
        if !waited.timed_out() {
            continue;
        }
        wait = every;
        match shared.refresh() {
            Some(0) => wait = OVERDUE,
            Some(_) => shared.watcher.progress(),
            None => shared.watcher.progress_by_records(),
        }
    }
}
