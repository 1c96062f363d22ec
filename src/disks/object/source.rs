//! An object that is read.
use super::store::{Content, Store};
use crate::core::{ClosingReport, Endpoint, Facts, Kind, Op, Queue, Request, SidePart};
use crate::disks::http::failure::{Failure, kind_of};
use crate::disks::http::queue::{self, HttpQueue};
use crate::disks::http::runtime;
use object_store::ObjectMeta;
use std::io;
use std::sync::{Arc, OnceLock};

/// An object that is read, by ranges.
pub(super) struct OpenObject {
    facts: Facts,
    store: Arc<Store>,
    content: OnceLock<Arc<Content>>,
}

impl OpenObject {
    /// `meta`: what it is. `None`: what it is when it is read first, because the copy writes it before.
    pub(super) fn new(facts: Facts, store: Store, meta: Option<ObjectMeta>) -> Self {
        let store = Arc::new(store);
        let content = meta.map(|meta| Arc::new(Content { store: store.clone(), meta }));
        OpenObject { facts, store, content: content.map(OnceLock::from).unwrap_or_default() }
    }

    fn content(&self) -> io::Result<Arc<Content>> {
        if let Some(content) = self.content.get() {
            return Ok(content.clone());
        }
        let store = self.store.clone();
        let found = runtime::wait(async move { store.cancelled.unless(async { Ok(store.head().await) }).await })??;
        let found = found.and_then(|meta| meta.ok_or_else(|| Failure::last("the object does not exist", "")));
        let content = Content { store: self.store.clone(), meta: found.map_err(|failure| failure.at(0))? };
        Ok(self.content.get_or_init(|| Arc::new(content)).clone())
    }
}

/// The note about requests that were repeated, if there were any.
pub(super) fn repeated(facts: &Facts, failed: u32) -> Option<String> {
    (failed > 0).then(|| format!("requests to {} that were repeated: {failed}", facts.address))
}

impl Endpoint for OpenObject {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        queue::perform(&self.content()?, request)
    }

    fn own_queue(&self, _depth: u32) -> Option<io::Result<Box<dyn Queue>>> {
        let queue = self.content().and_then(HttpQueue::open);
        Some(queue.map(|queue| Box::new(queue) as Box<dyn Queue>))
    }

    fn cancel(&self) {
        self.store.cancelled.cancel();
    }

    fn diagnose(&self, _op: Op, _offset: u64, error: &io::Error) -> Kind {
        kind_of(error)
    }

    fn slowest_part(&self) -> Option<SidePart> {
        Some(SidePart::Network)
    }

    fn closing(&self) -> ClosingReport {
        let notes = repeated(&self.facts, self.store.failed()).into_iter().collect();
        ClosingReport { notes, ..ClosingReport::default() }
    }
}
