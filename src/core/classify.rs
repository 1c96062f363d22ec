//! Classifies what an endpoint gave for a request, by asking the endpoint.
use super::{Endpoint, Op, Request, RequestError, Transferred};
use std::io;

impl Transferred {
    /// What `end` gave for this request; `None`: nothing has happened.
    #[inline]
    pub fn by(end: &dyn Endpoint, request: &Request, result: io::Result<Option<u32>>) -> Self {
        Transferred::of(result, |error| end.diagnose(request.op, request.at(), error))
    }
}

impl RequestError {
    /// The failure of `op` at `offset` of this endpoint.
    pub fn of(end: &dyn Endpoint, op: Op, offset: u64, source: io::Error) -> Self {
        RequestError::new(source, |error| end.diagnose(op, offset, error))
    }
}
