//! Time limits for requests with long bodies: as long as bytes move, the server is not silent.
use hyper::body::{Body, Bytes, Frame, SizeHint};
use object_store::client::{HttpError, HttpRequestBody};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::timeout;

/// Counts the pieces of a body that were sent.
#[derive(Default)]
pub(super) struct Progress(AtomicU64);

impl Progress {
    /// The result of `work`, unless no piece is sent and no result is there for this long.
    pub(super) async fn unless_silent<T>(&self, silent: Duration, work: impl Future<Output = T>) -> Result<T, ()> {
        let mut work = pin!(work);
        loop {
            let before = self.0.load(Relaxed);
            match timeout(silent, work.as_mut()).await {
                Ok(result) => return Ok(result),
                Err(_) if self.0.load(Relaxed) == before => return Err(()),
                Err(_) => {}
            }
        }
    }
}

/// A body that counts its pieces as they are sent.
pub(super) struct Moving {
    body: HttpRequestBody,
    progress: Arc<Progress>,
}

impl Moving {
    pub(super) fn new(body: HttpRequestBody, progress: Arc<Progress>) -> Moving {
        Moving { body, progress }
    }
}

impl Body for Moving {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        self.progress.0.fetch_add(1, Relaxed);
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
