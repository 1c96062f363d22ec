//! A time limit for a copy: when it expires, the copy ends in an orderly way, as after a signal.
use crate::core::{Error, Kind, Result, Stop};
use crate::engine::Endpoints;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Executes a copy. After `time` it is stopped, and calls that wait for another process are cancelled.
///
/// # Errors
/// No thread is available to wait for the time limit.
pub(crate) fn bounded<T>(time: Option<Duration>, stop: &Stop, ends: &Endpoints, copy: impl FnOnce() -> T) -> Result<T> {
    let Some(time) = time else { return Ok(copy()) };
    let (running, ended) = channel::<()>();
    thread::scope(|scope| {
        let watch = move || {
            if ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout) && stop.expire() {
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
    fn only_a_copy_beyond_its_time_limit_is_stopped() {
        let stop = Stop::default();
        let wait = || {
            while !stop.is_requested() {
                thread::yield_now();
            }
        };
        bounded(Some(Duration::from_millis(1)), &stop, &nothing(), wait).unwrap();
        assert!(matches!(stop.ending(), Some(Ended::OutOfTime)));
        let stop = Stop::default();
        assert_eq!(bounded(Some(Duration::from_secs(86_400)), &stop, &nothing(), || 7).unwrap(), 7);
        assert_eq!(bounded(None, &stop, &nothing(), || 8).unwrap(), 8);
        assert!(!stop.is_requested());
    }
}
