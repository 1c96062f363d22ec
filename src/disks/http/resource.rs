//! A resource of which the server sends any range, open.
use super::client::Client;
use super::failure::kind_of;
use super::queue::{self, HttpQueue};
use crate::core::{ClosingReport, Endpoint, Facts, Kind, Op, Queue, Request, SidePart};
use std::io;
use std::sync::Arc;

/// A resource of which the server sends any range, open.
pub(super) struct OpenResource {
    facts: Facts,
    client: Arc<Client>,
}

impl OpenResource {
    pub(super) fn new(facts: Facts, client: Arc<Client>) -> Self {
        OpenResource { facts, client }
    }
}

/// How a resource was read, for the end of a copy.
pub(super) fn closing(client: &Client, facts: &Facts) -> ClosingReport {
    let connections = match client.connections() {
        1 => "one connection".to_owned(),
        count => format!("{count} connections"),
    };
    let mut notes = Vec::new();
    if client.repeated() > 0 {
        notes.push(format!("requests to {} that were repeated: {}", facts.address, client.repeated()));
    }
    if !client.found().has_end {
        notes.push(format!("{} has no Content-Length: haul cannot detect that its end is missing", facts.address));
    }
    ClosingReport { detail: Some(connections), notes, ..ClosingReport::default() }
}

impl Endpoint for OpenResource {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        queue::perform(&self.client, request)
    }

    fn own_queue(&self, _depth: u32) -> Option<io::Result<Box<dyn Queue>>> {
        let queue = HttpQueue::open(self.client.clone());
        Some(queue.map(|queue| Box::new(queue) as Box<dyn Queue>))
    }

    fn cancel(&self) {
        self.client.cancel();
    }

    fn diagnose(&self, _op: Op, _offset: u64, error: &io::Error) -> Kind {
        kind_of(error)
    }

    fn slowest_part(&self) -> Option<SidePart> {
        Some(SidePart::Network)
    }

    fn closing(&self) -> ClosingReport {
        closing(&self.client, &self.facts)
    }
}
