//! Signals and the line of progress of a running dd.
use super::super::die_by;
use super::blocks;
use crate::contract::{Endpoint, Error, Kind, RecordPlan, RecordTally, Result, Stop, Tally, Telling};
use crate::report::dd::Teller;
use crate::sys;
use signal_hook::consts::{SIGINT, SIGUSR1};
use signal_hook::iterator::Signals;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How often progress is told.
const TICK: Duration = Duration::from_secs(1);

/// Blocks that are being moved.
#[derive(Clone)]
pub(super) struct Moving {
    pub(super) stop: Arc<Stop>,
    pub(super) tally: Arc<Tally>,
    pub(super) ends: [Arc<dyn Endpoint>; 2],
}

struct Shared {
    plan: Arc<RecordPlan>,
    teller: Arc<Teller>,
    tally: Arc<RecordTally>,
    moving: Mutex<Option<Moving>>,
    /// The counts are final.
    over: Mutex<bool>,
    ended: Condvar,
}

impl Shared {
    fn moving(&self) -> MutexGuard<'_, Option<Moving>> {
        self.moving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// While blocks move, the counts are what their bytes come to.
    fn refresh(&self) {
        if let Some(moving) = &*self.moving() {
            self.tally.set(blocks::counts(&self.plan, moving.tally.copied_bytes()));
        }
    }
}

/// Hears signals and tells progress until the process ends.
pub(super) struct Watch {
    shared: Arc<Shared>,
    pub(super) teller: Arc<Teller>,
    pub(super) tally: Arc<RecordTally>,
}

impl Watch {
    /// Begins to listen: SIGUSR1 tells the counts, SIGINT tells them and ends the process. What the caller ignores
    /// stays ignored. From then on no call of this thread is cut short by them.
    pub(super) fn start(plan: &Arc<RecordPlan>, teller: &Arc<Teller>, tally: &Arc<RecordTally>) -> Result<Watch> {
        let shared = Arc::new(Shared {
            plan: plan.clone(),
            teller: teller.clone(),
            tally: tally.clone(),
            moving: Mutex::new(None),
            over: Mutex::new(false),
            ended: Condvar::new(),
        });
        let mut heard = Vec::new();
        if std::env::var_os("POSIXLY_CORRECT").is_none() {
            heard.push(SIGUSR1);
        }
        if !sys::is_ignored(SIGINT) {
            heard.push(SIGINT);
        }
        let failed = |error| Error::new(Kind::Io, "cannot listen for signals").because(error);
        let mut incoming = Signals::new(&heard).map_err(failed)?;
        let listening = shared.clone();
        let listen = move || incoming.forever().for_each(|signal| hear(signal, &listening));
        thread::Builder::new().name("haul-signals".to_owned()).spawn(listen).map_err(failed)?;
        sys::block(&heard);
        if plan.telling == Telling::Progress {
            let ticking = shared.clone();
            let tick = move || tick(&ticking);
            thread::Builder::new().name("haul-progress".to_owned()).spawn(tick).map_err(failed)?;
        }
        Ok(Watch { shared, teller: teller.clone(), tally: tally.clone() })
    }

    /// From now on, or no longer, blocks are being moved.
    pub(super) fn moving(&self, moving: Option<Moving>) {
        *self.shared.moving() = moving;
    }

    /// The copy is over: the counts are final, and nothing is drawn any more.
    pub(super) fn over(&self) {
        *self.shared.over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.shared.ended.notify_all();
    }
}

fn hear(signal: i32, shared: &Shared) {
    shared.refresh();
    if signal != SIGINT {
        shared.teller.tell_counts();
        return;
    }
    let moving = shared.moving().clone();
    match moving {
        // Blocks in flight are brought home first; the counts are told then.
        Some(moving) if moving.stop.asked().is_none() => {
            moving.stop.ask(signal);
            moving.ends.iter().for_each(|end| end.cancel());
        }
        Some(_) => die_by(signal),
        None => {
            shared.teller.tell_counts();
            die_by(signal);
        }
    }
}

fn tick(shared: &Shared) {
    let mut over = shared.over.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let (guard, waited) = shared.ended.wait_timeout(over, TICK).unwrap_or_else(PoisonError::into_inner);
        over = guard;
        if *over {
            return;
        }
        if waited.timed_out() {
            shared.refresh();
            shared.teller.tell_progress();
        }
    }
}
