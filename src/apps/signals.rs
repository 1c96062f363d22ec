//! Signals: a status line on SIGUSR1, an orderly end on SIGINT and its like, the end at once on the second.
use crate::core::{Endpoint, Error, Kind, Result, Stop};
use crate::report::{Out, Progress};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::{Handle, Signals as Incoming};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// A copy that can be asked about and stopped.
pub(super) struct Running {
    pub(super) stop: Arc<Stop>,
    pub(super) ends: [Arc<dyn Endpoint>; 2],
    /// `None`: there is none to ask.
    pub(super) progress: Option<Arc<Progress>>,
}

/// Hears signals in a thread of its own, from before the copy to its end.
pub(super) struct Signals {
    running: Arc<Mutex<Option<Running>>>,
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Signals {
    /// Begins to listen. Signals that were ignored when the process began stay ignored, as nohup and shells expect.
    ///
    /// # Errors
    /// The kernel has no thread or descriptor left.
    pub(super) fn watch(out: Out) -> Result<Signals> {
        let heard = [SIGUSR1, SIGINT, SIGTERM, SIGHUP];
        let heard: Vec<i32> = heard.into_iter().filter(|&signal| !crate::sys::is_ignored(signal)).collect();
        let failed = |error| Error::new(Kind::Io, "cannot listen for signals").because(error);
        let mut incoming = Incoming::new(heard).map_err(failed)?;
        let (running, handle) = (Arc::new(Mutex::new(None)), incoming.handle());
        let shared: Arc<Mutex<Option<Running>>> = running.clone();
        let listen = move || incoming.forever().for_each(|signal| hear(signal, &shared, out));
        let thread = thread::Builder::new().name("haul-signals".to_owned()).spawn(listen).map_err(failed)?;
        Ok(Signals { running, handle, thread: Some(thread) })
    }

    /// From now on, signals are about this copy.
    pub(super) fn now_running(&self, copy: Running) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(copy);
    }

    /// The copy is over: the report is written, and a signal ends the process at once.
    pub(super) fn now_done(&self) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = None;
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

fn hear(signal: i32, running: &Mutex<Option<Running>>, out: Out) {
    let running = running.lock().unwrap_or_else(PoisonError::into_inner);
    match (signal, &*running) {
        (SIGUSR1, Some(Running { progress: Some(progress), .. })) => progress.print_status(),
        (SIGUSR1, Some(_)) => {}
        (SIGUSR1, None) => out.tell("haul: no byte has been copied yet\n"),
        (_, Some(copy)) if !copy.stop.asked_by_signal() => {
            copy.stop.ask(signal);
            copy.ends.iter().for_each(|end| end.cancel());
        }
        // Before the first byte, after the last one, or asked a second time.
        _ => super::exit::die_by(signal),
    }
}
