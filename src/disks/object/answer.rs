//! The body of an answer: with a time limit for silence, and its connection, which is kept afterwards.
use super::connections::{Connections, Server};
use super::failure::Carried;
use crate::disks::http::failure::{Again, Failure, in_words};
use crate::disks::http::link::Link;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use object_store::client::{HttpError, HttpErrorKind};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};

/// A server, and the connection to it.
type Kept = (Server, Link);

/// The body of an answer.
pub(super) struct Answer {
    body: Incoming,
    connections: Arc<Connections>,
    link: Option<Kept>,
    silent: Duration,
    timer: Pin<Box<Sleep>>,
}

impl Answer {
    pub(super) fn new(body: Incoming, connections: Arc<Connections>, link: Kept) -> Answer {
        let silent = connections.retries.silent;
        let mut answer = Answer { body, connections, link: Some(link), silent, timer: Box::pin(sleep(silent)) };
        if answer.body.is_end_stream() {
            answer.keep();
        }
        answer
    }

    fn keep(&mut self) {
        if let Some((server, link)) = self.link.take() {
            self.connections.keep(server, link);
        }
    }

    fn error(&self, failure: Failure) -> HttpError {
        self.connections.on_failure();
        HttpError::new(HttpErrorKind::Interrupted, Carried(failure))
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => {
                let until = Instant::now() + self.silent;
                self.timer.as_mut().reset(until);
                if self.body.is_end_stream() {
                    self.keep();
                }
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(Some(Err(error))) => {
                self.link = None;
                Poll::Ready(Some(Err(self.error(Failure::lost(in_words(&error))))))
            }
            Poll::Ready(None) => {
                self.keep();
                Poll::Ready(None)
            }
            Poll::Pending if self.timer.as_mut().poll(context).is_ready() => {
                let words = format!("the server sent nothing for {} s", self.silent.as_secs());
                self.link = None;
                Poll::Ready(Some(Err(self.error(Failure::new(Again::Later(None), words)))))
            }
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
