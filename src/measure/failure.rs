//! Failures of a disk as a whole, distinguished from those of a place on it.
use crate::core::{Endpoint, Error, Kind, Op, RequestError, Side};
use std::io;
use std::sync::Arc;

/// Why measuring ends before its time.
#[derive(Debug)]
pub enum MeasureFailure {
    /// Asked for, by this signal.
    Stopped(i32),
    /// The disk has disappeared, or requests cannot be made at all.
    Broken(Error),
}

/// What a request says that failed because the disk has disappeared, full, or shorter than it was.
///
/// # Errors
/// The error itself where the place alone is to blame.
pub(super) fn failure_of_all(
    end: &Arc<dyn Endpoint>,
    op: Op,
    address: &str,
    offset: u64,
    RequestError { kind, source: error, .. }: RequestError,
) -> Result<Error, io::Error> {
    let told = |error| of_request(end, kind, op, address, offset, error);
    match kind {
        Kind::Gone => Ok(told(error)),
        Kind::NoSpace if end.facts().logical_block_bytes > 1 => Ok(told(error)
            .advise("The storage below it is full, for example the pool of a thin volume: free space there.")),
        Kind::NoSpace => Ok(told(error)),
        Kind::EndedEarly => {
            let advice = "It became shorter during the measurement: measure it again when no program writes to it.";
            Ok(told(error).advise(advice))
        }
        _ => Err(error),
    }
}

/// What a disk says that is there, and fails whatever is asked of it: `last` of all, at `offset`.
pub(super) fn answers_no_more(
    end: &Arc<dyn Endpoint>,
    op: Op,
    address: &str,
    asked: &str,
    (offset, last): (u64, String),
) -> Error {
    let mut error = of_request(end, Kind::Io, op, address, offset, io::Error::other(last));
    error.what = format!("{} any more: {asked} failed, the last one", error.what);
    error.advise(
        "The device does not respond: check its cable and power, and see the kernel log (dmesg). The results before \
         that are above.",
    )
}

fn of_request(end: &Arc<dyn Endpoint>, kind: Kind, op: Op, address: &str, offset: u64, error: io::Error) -> Error {
    let side = if op == Op::Read { Side::Source } else { Side::Dest };
    Error::of_request(kind, op, side, address, offset, error).in_sectors_of(end.facts().logical_block_bytes)
}
