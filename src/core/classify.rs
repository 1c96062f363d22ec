//! Classifies the result of a request with the help of its endpoint.
use super::{Endpoint, Op, Request, RequestError, Transferred};
use std::io;

impl Transferred {
    /// Classifies the `result` of this request on `end`; `Ok(None)` means that nothing has happened.
    #[inline]
    pub fn by(end: &dyn Endpoint, request: &Request, result: io::Result<Option<u32>>) -> Self {
        Transferred::of(result, |error| end.diagnose(request.op, request.at(), error))
    }
}

impl RequestError {
    /// Classifies the error `source` of `op` at `offset` of this endpoint.
    pub fn of(end: &dyn Endpoint, op: Op, offset: u64, source: io::Error) -> Self {
        RequestError::new(source, |error| end.diagnose(op, offset, error))
    }
}
