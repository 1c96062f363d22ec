//! A bound on the time of a copy: when it is up, the copy ends in good order, as after a signal.
use crate::core::{Error, Kind, Result, Stop};
use crate::engine::Endpoints;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Carries a copy out. After `time` it is asked to end, and what waits for another process is abandoned.
///
/// # Errors
/// No thread is left to watch the time.
pub(crate) fn bounded<T>(time: Option<Duration>, stop: &Stop, ends: &Endpoints, copy: impl FnOnce() -> T) -> Result<T> {
    let Some(time) = time else { return Ok(copy()) };
    let (running, ended) = channel::<()>();
    thread::scope(|scope| {
        let watch = move || {
            if ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout) && stop.time_is_up() {
                ends.iter().for_each(|end| end.cancel());
            }
        };
        let failed = |source| Error::new(Kind::Io, "cannot start a thread for --time").because(source);
        thread::Builder::new().name("haul-time".to_owned()).spawn_scoped(scope, watch).map_err(failed)?;
        let done = copy();
        drop(running);
        Ok(done)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Ended;
    use crate::disks;

    fn nothing() -> Endpoints {
        [disks::missing_side(), disks::missing_side()]
    }

    #[test]
    fn a_copy_that_takes_longer_is_asked_to_end_and_one_that_does_not_is_let_be() {
        let stop = Stop::default();
        let wait = || {
            while !stop.is_asked() {
                thread::yield_now();
            }
        };
        bounded(Some(Duration::from_millis(1)), &stop, &nothing(), wait).unwrap();
        assert!(matches!(stop.ending(), Some(Ended::OutOfTime)));
        let stop = Stop::default();
        assert_eq!(bounded(Some(Duration::from_secs(86_400)), &stop, &nothing(), || 7).unwrap(), 7);
        assert_eq!(bounded(None, &stop, &nothing(), || 8).unwrap(), 8);
        assert!(!stop.is_asked());
    }
}
