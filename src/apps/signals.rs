//! Signals: a status line on SIGUSR1, an orderly end on SIGINT, SIGTERM and SIGHUP, an immediate end on the second.
use crate::core::{Endpoint, Error, Kind, Result, Stop};
use crate::report::{Out, Progress};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::{Handle, Signals as Incoming};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// A copy that can report its progress and be stopped.
pub(super) struct Running {
    pub(super) stop: Arc<Stop>,
    pub(super) ends: Vec<Arc<dyn Endpoint>>,
    /// `None`: no progress is available.
    pub(super) progress: Option<Arc<Progress>>,
}

/// The reaction to a signal before there is a run: it ends the process at once.
pub(super) struct PreRunSignals {
    /// Reports to programs that read the output why the process ends.
    pub(super) report: Box<dyn Fn(i32) + Send>,
    /// Whether SIGUSR1 is answered with text, which is not allowed between lines of JSON.
    pub(super) reports_idle: bool,
}

/// Handles signals in a separate thread, from before the copy to its end.
pub(super) struct Signals {
    running: Arc<Mutex<Option<Running>>>,
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Signals {
    /// Starts to listen. Signals that were ignored when the process began stay ignored, as nohup expects.
    ///
    /// # Errors
    /// No thread or descriptor is available.
    pub(super) fn watch(out: Out) -> Result<Signals> {
        Signals::watch_with(out, PreRunSignals { report: Box::new(|_| {}), reports_idle: true })
    }

    /// The same, with a reaction to signals that arrive before there is a run.
    ///
    /// # Errors
    /// As for [`Signals::watch`].
    pub(super) fn watch_with(out: Out, pre_run: PreRunSignals) -> Result<Signals> {
        let handled = [SIGUSR1, SIGHUP, SIGTERM, SIGINT]; // One by one: where SIGINT is caught, all are.
        let handled: Vec<i32> = handled.into_iter().filter(|&signal| !crate::sys::is_ignored(signal)).collect();
        let failed = |error| Error::new(Kind::Io, "cannot listen for signals").because(error);
        let mut incoming = Incoming::new(handled).map_err(failed)?;
        let (running, handle) = (Arc::new(Mutex::new(None)), incoming.handle());
        let shared: Arc<Mutex<Option<Running>>> = running.clone();
        let listen = move || incoming.forever().for_each(|signal| handle_signal(signal, &shared, &pre_run, out));
        let thread = thread::Builder::new().name("haul-signals".to_owned()).spawn(listen).map_err(failed)?;
        Ok(Signals { running, handle, thread: Some(thread) })
    }

    /// From now on signals concern this copy.
    pub(super) fn now_running(&self, copy: Running) {
        self.begin(|| copy);
    }

    /// The same for the run that `begin` starts. No signal is handled meanwhile, so that the message about an
    /// earlier one is the last. A signal that arrived after the previous run stops this one.
    pub(super) fn begin(&self, begin: impl FnOnce() -> Running) {
        let mut running = self.running();
        let copy = begin();
        if let Some(signal) = running.as_ref().and_then(|before| before.stop.signal()) {
            copy.stop.request(signal);
        }
        *running = Some(copy);
    }

    /// The run has ended. A signal ends the process after the report, or stops the next run; a second one at once.
    pub(super) fn now_between(&self) {
        // The next run could not open a disk that is still open here.
        self.running().iter_mut().for_each(|running| (running.ends, running.progress) = (Vec::new(), None));
    }

    /// The run has ended, and a signal ends the process at once.
    pub(super) fn now_done(&self) {
        *self.running() = None;
    }

    /// The signal that requested the end of the current run, or of the most recent one.
    pub(super) fn asked(&self) -> Option<i32> {
        self.running().as_ref().and_then(|running| running.stop.signal())
    }

    fn running(&self) -> MutexGuard<'_, Option<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

fn handle_signal(signal: i32, running: &Mutex<Option<Running>>, pre_run: &PreRunSignals, out: Out) {
    // Locked until the end: a run about to begin waits until the last message is printed.
    let running = running.lock().unwrap_or_else(PoisonError::into_inner);
    match (signal, &*running) {
        (SIGUSR1, Some(Running { progress: Some(progress), .. })) => progress.print_status(),
        (SIGUSR1, None) if pre_run.reports_idle => out.eprint("haul: no data copied yet\n"),
        (SIGUSR1, _) => {}
        (_, Some(copy)) if copy.stop.signal().is_none() => {
            copy.stop.request(signal);
            copy.ends.iter().for_each(|end| end.cancel());
        }
        (_, None) => {
            (pre_run.report)(signal);
            super::exit::die_by(signal);
        }
        _ => super::exit::die_by(signal), // Asked a second time.
    }
}
