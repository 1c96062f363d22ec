//! Ending requests at once, when the user ends the copy.
use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::task::Poll;
use tokio::sync::watch;

/// Ends work at once, now and from then on.
pub(in crate::disks) struct Cancellation(watch::Sender<bool>);

impl Default for Cancellation {
    fn default() -> Self {
        Cancellation(watch::Sender::new(false))
    }
}

impl Cancellation {
    /// Ends all work, now and from now on.
    pub(in crate::disks) fn cancel(&self) {
        self.0.send_replace(true);
    }

    /// Does `work` unless it is cancelled.
    ///
    /// # Errors
    /// ECANCELED; otherwise that of the work.
    pub(in crate::disks) async fn unless<T>(&self, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
        let mut cancelled = self.0.subscribe();
        let mut cancelled = pin!(cancelled.wait_for(|cancelled| *cancelled));
        let mut work = pin!(work);
        poll_fn(|context| match cancelled.as_mut().poll(context) {
            Poll::Ready(_) => Poll::Ready(Err(io::Error::from_raw_os_error(libc::ECANCELED))),
            Poll::Pending => work.as_mut().poll(context),
        })
        .await
    }
}
