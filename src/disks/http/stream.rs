//! A resource that the server sends from the first byte on only, open.
use super::body::OrderedBody;
use super::client::Client;
use super::failure::kind_of;
use super::resource::closing;
use crate::core::{ClosingReport, Endpoint, Facts, Kind, Op, Request, SidePart, locked};
use std::io::{self, Read};
use std::sync::{Arc, Mutex};

/// A resource that the server sends from the first byte on only, open.
pub(super) struct OpenStream {
    facts: Facts,
    client: Arc<Client>,
    state: Mutex<State>,
}

struct State {
    body: OrderedBody,
    /// Offset of the next byte.
    position: u64,
}

impl OpenStream {
    /// # Errors
    /// No thread or no descriptor is left.
    pub(super) fn open(facts: Facts, client: Arc<Client>) -> io::Result<Self> {
        let body = OrderedBody::open(client.clone())?;
        Ok(OpenStream { facts, client, state: Mutex::new(State { body, position: 0 }) })
    }
}

impl Endpoint for OpenStream {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        if request.op != Op::Read {
            return Err(io::Error::from_raw_os_error(libc::EROFS));
        }
        let mut state = locked(&self.state);
        let State { body, position } = &mut *state;
        if *position != request.at() {
            // A bug in haul: bytes that were read cannot be requested again.
            let at = request.at();
            return Err(io::Error::other(format!("byte {at} would be read at the position of byte {position}")));
        }
        // Filled here rather than by one request after the other: each would be a hand-over between threads.
        let bytes = request.rest_mut();
        let mut filled = 0;
        while filled < bytes.len() {
            match body.read(&mut bytes[filled..]) {
                Ok(0) => break,
                Ok(moved) => filled += moved,
                Err(error) => return Err(error),
            }
        }
        *position += filled as u64;
        Ok(filled as u32)
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
