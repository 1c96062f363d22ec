//! Failures of a whole disk, as opposed to single requests.
use crate::core::{Endpoint, Error, Kind, Op, RequestError, Side};
use std::io;
use std::sync::Arc;

/// Why a measurement ended early.
#[derive(Debug)]
pub enum MeasureFailure {
    /// A stop was requested by this signal.
    Stopped(i32),
    /// The disk has disappeared, or requests cannot be made at all.
    Broken(Error),
}

/// The error of a failed request if the cause is that the disk has disappeared, is full, or has become shorter.
///
/// # Errors
/// The original error if it depends on the offset.
pub(super) fn failure_of_all(
    end: &Arc<dyn Endpoint>,
    op: Op,
    address: &str,
    offset: u64,
    RequestError { kind, source: error, .. }: RequestError,
) -> Result<Error, io::Error> {
    let reported = |error| of_request(end, kind, op, address, offset, error);
    match kind {
        Kind::Disconnected => Ok(reported(error)),
        Kind::NoSpace if end.facts().logical_block_bytes > 1 => Ok(reported(error)
            .advise("The storage below it is full, for example the pool of a thin volume: free space there.")),
        Kind::NoSpace => Ok(reported(error)),
        Kind::EndedEarly => {
            let advice = "It became shorter during the measurement: measure it again when no program writes to it.";
            Ok(reported(error).advise(advice))
        }
        _ => Err(error),
    }
}

/// The error for a disk that exists but fails every request; `last` is the last error, at `offset`.
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
