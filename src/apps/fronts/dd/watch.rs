//! Signals and regular words about progress of a running dd, and of its kin.
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

/// Tells what a running copy is asked about.
pub(crate) trait Watcher: Send + Sync {
    /// SIGUSR1.
    fn report(&self);
    /// It is time for a word about progress.
    fn progress(&self);
    /// The same while records are moved, not blocks.
    fn progress_by_records(&self) {
        self.progress();
    }
    /// The process ends by a signal.
    fn interrupted(&self);
}

/// Blocks that are being moved.
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
    /// The counts are final.
    over: Mutex<bool>,
    ended: Condvar,
}

impl Shared {
    fn moving(&self) -> MutexGuard<'_, Option<BlockCopy>> {
        self.moving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// While blocks move, the counts are what their bytes come to: those, in bytes.
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
    /// Begins to listen: SIGUSR1 tells how far it is, the others tell that and end the process. What the caller ignores
    /// is to be left out. From then on no call of this thread is cut short by them. Progress is reported every `tick`.
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

    /// The process is about to end by a signal, with nothing in flight any more.
    pub(crate) fn interrupted(&self) {
        self.shared.watcher.interrupted();
    }

    /// From now on, or no longer, blocks are being moved.
    pub(super) fn moving(&self, moving: Option<BlockCopy>) {
        *self.shared.moving() = moving;
    }

    /// The copy is over: the counts are final, and nothing is drawn any more.
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
        // Blocks in flight are brought home first; the counts are reported then.
        Some(moving) if !moving.stop.is_asked() => {
            moving.stop.ask(signal);
            moving.ends.iter().for_each(|end| end.cancel());
        }
        Some(_) => die_by(signal),
        None => {
            shared.watcher.interrupted();
            die_by(signal);
        }
    }
}

/// How soon the first blocks are reported of where that was due before there were any.
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
