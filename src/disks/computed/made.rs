use super::cannot;
use crate::core::{Endpoint, Facts, Kind, Maker, Op, Request};
use std::io;
use std::sync::Arc;

/// A source whose bytes are made where they are read: by helpers, on as many processors as there are.
pub(super) struct Made {
    facts: Facts,
    maker: Arc<dyn Maker>,
}

impl Made {
    pub(super) fn new(facts: Facts, maker: Arc<dyn Maker>) -> Self {
        Made { facts, maker }
    }
}

impl Endpoint for Made {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        if request.op != Op::Read {
            return Err(cannot());
        }
        let (offset, left) = (request.at(), request.left());
        self.maker.make(request.rest_mut(), offset);
        Ok(left)
    }

    fn diagnose(&self, _op: Op, _offset: u64, _error: &io::Error) -> Kind {
        Kind::Io
    }
}
