//! A queue of blocking calls.
use super::work::HelperQueue;
use crate::core::{CallStyle, Completion, Endpoint, Mailbox, Queue, Ready, Request, Transferred};
use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

/// Blocking calls to one endpoint: in place if they return immediately or only one is made at a time, otherwise on
/// helper threads, which are started on demand, at most as many as the depth. In place too where no thread is left.
pub struct Calls {
    end: Arc<dyn Endpoint>,
    finished: VecDeque<Completion>,
    helpers: Option<Helpers>,
}

struct Helpers {
    most: u32,
    threads: Vec<JoinHandle<()>>,
    /// Submitted requests, to be passed on as one batch.
    batch: Vec<Request>,
    work: Arc<HelperQueue>,
    mailbox: Arc<Mailbox>,
    in_flight: usize,
}

impl Calls {
    /// A queue whose calls are made by the submitting thread.
    pub fn in_place(end: Arc<dyn Endpoint>) -> Self {
        Calls { end, finished: VecDeque::new(), helpers: None }
    }

    /// A queue whose calls are made by at most `most` helpers, or in place if they return immediately.
    ///
    /// # Errors
    /// No file descriptor is available.
    pub fn by_helpers(end: Arc<dyn Endpoint>, most: u32) -> io::Result<Self> {
        if end.facts().calls == CallStyle::AtOnce {
            return Ok(Calls::in_place(end));
        }
        let helpers = Helpers {
            most: most.max(1),
            threads: Vec::new(),
            batch: Vec::new(),
            work: Arc::default(),
            mailbox: Arc::new(Mailbox::new()?),
            in_flight: 0,
        };
        Ok(Calls { end, finished: VecDeque::new(), helpers: Some(helpers) })
    }

    /// Whether the calls are made by the submitting thread.
    pub fn are_in_place(&self) -> bool {
        self.helpers.is_none()
    }
}

impl Helpers {
    /// Starts another helper unless there is one per request. If the machine has no thread available, the existing
    /// helpers continue. Returns whether there is any.
    fn grow(&mut self, end: &Arc<dyn Endpoint>) -> bool {
        let needed = self.in_flight.min(self.most as usize);
        if self.threads.len() >= needed {
            return true;
        }
        let (end, work, mailbox) = (end.clone(), self.work.clone(), self.mailbox.clone());
        let help = move || {
            while let Some(mut request) = work.take() {
                // Without this, the pump would wait forever for a request whose call panicked.
                let call = AssertUnwindSafe(|| end.perform(&mut request));
                let result = catch_unwind(call).unwrap_or_else(|_| Err(io::Error::other("internal error in haul")));
                let result = Transferred::by(&*end, &request, result.map(Some));
                mailbox.push(Completion { request, result });
            }
        };
        match thread::Builder::new().name("haul-io".to_owned()).spawn(help) {
            Ok(thread) => self.threads.push(thread),
            Err(_) => self.most = self.threads.len() as u32,
        }
        !self.threads.is_empty()
    }
}

impl Queue for Calls {
    fn submit(&mut self, mut request: Request) {
        let Some(helpers) = &mut self.helpers else {
            let result = self.end.perform(&mut request).map(Some);
            let result = Transferred::by(&*self.end, &request, result);
            self.finished.push_back(Completion { request, result });
            return;
        };
        helpers.in_flight += 1;
        if helpers.grow(&self.end) {
            helpers.batch.push(request);
        } else {
            // Nothing is in flight without a helper: from now on as with a depth of 1.
            self.helpers = None;
            self.submit(request);
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Some(helpers) = self.helpers.as_mut().filter(|helpers| !helpers.batch.is_empty()) {
            helpers.work.put(&mut helpers.batch);
        }
        Ok(())
    }

    fn reap(&mut self, done: &mut Vec<Completion>) -> io::Result<()> {
        done.extend(self.finished.drain(..));
        if let Some(helpers) = self.helpers.as_mut().filter(|helpers| helpers.in_flight > 0) {
            helpers.in_flight -= helpers.mailbox.take(done);
        }
        Ok(())
    }

    fn ready(&self) -> Ready {
        match &self.helpers {
            _ if !self.finished.is_empty() => Ready::Now,
            Some(helpers) if helpers.in_flight > 0 => Ready::On { fd: helpers.mailbox.eventfd(), events: libc::POLLIN },
            _ => Ready::Idle,
        }
    }
}

impl Drop for Calls {
    /// Waits for the helpers, which own the buffers in flight, after cancelling calls that wait for another process.
    fn drop(&mut self) {
        let Some(helpers) = &mut self.helpers else { return };
        helpers.work.put(&mut helpers.batch);
        helpers.work.close();
        if helpers.in_flight > 0 {
            self.end.cancel();
        }
        for thread in helpers.threads.drain(..) {
            thread.join().ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Arena, EndpointKind, Facts, Kind, Op, Side};

    struct Panics(Facts);

    impl Endpoint for Panics {
        fn facts(&self) -> &Facts {
            &self.0
        }

        fn perform(&self, _request: &mut Request) -> io::Result<u32> {
            panic!("a sum that does not fit")
        }

        fn diagnose(&self, _op: Op, _offset: u64, _error: &io::Error) -> Kind {
            Kind::Io
        }
    }

    #[test]
    fn a_call_that_panics_completes_as_an_error() {
        let end = Arc::new(Panics(Facts::new("panics", EndpointKind::Memory)));
        let mut calls = Calls::by_helpers(end, 1).unwrap();
        let buffer = Arena::map(1 << 20).unwrap().carve(4096, 1).remove(0);
        let (side, op) = (Side::Source, Op::Read);
        calls.submit(Request { slot: 0, ticket: 0, side, op, offset: 0, len: 4096, done: 0, until: 4096, buffer });
        calls.flush().unwrap();
        // A helper pushes its completion before it ends, so all completions are available after joining.
        let helpers = calls.helpers.as_mut().unwrap();
        helpers.work.close();
        helpers.threads.drain(..).for_each(|thread| thread.join().unwrap_or_default());
        let mut done = Vec::new();
        calls.reap(&mut done).unwrap();
        let Transferred::Failed(error) = &done[0].result else { panic!("{:?}", done[0].result) };
        assert!(error.source.to_string().contains("internal error"));
    }
}
