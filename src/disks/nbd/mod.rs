//! Exports of NBD servers: an NBD client that transfers data between sockets and the memory of the copy.
//!
//! This room must not know the storage behind a server, nor the steps of a copy before and after a request.
#![forbid(unsafe_code)]
mod client;
mod connection;
mod export;
mod flights;
#[cfg(any(test, feature = "internals"))]
pub mod fuzzed;
mod handshake;
mod kept;
mod probe;
mod programs;
mod protocol;
mod queue;
mod replies;
mod requests;
#[cfg(feature = "tls")]
mod secure;
#[cfg(not(feature = "tls"))]
#[path = "without_tls.rs"]
mod secure;
mod socket;
mod stream;
#[cfg(test)]
mod tests;
mod zeroing;
mod zeros;

use super::opening::Opening;
use crate::core::{Address, DeviceError, Endpoint, Error, Kind, NbdAddress, Result, Side};
use client::Client;
use export::OpenExport;
pub(super) use probe::probe;
use std::io;
use std::sync::Arc;

/// Ends all servers that haul started, and waits for them.
pub fn stop_servers() {
    kept::close();
    programs::stop();
}

/// Connects to a probed export. Lost connections are restored if nothing is written.
pub(super) fn open(opening: Opening<'_>) -> Result<Arc<dyn Endpoint>> {
    let Address::Nbd(address) = Address::parse(&opening.plan.address, opening.side)? else {
        return Err(opening.error(Kind::Unsupported, ": its address is that of a file"));
    };
    let client = Client::open(&address, !opening.writes);
    let client = client.map_err(|cause| cannot_open(opening.side, &opening.plan.address, &address, cause))?;
    let mut facts = opening.facts.clone();
    probe::fill(client.agreed(), &address, &mut facts);
    if facts.size != opening.facts.size || facts.export != opening.facts.export {
        return Err(opening.changed(": the server offers another export under this address now"));
    }
    Ok(Arc::new(OpenExport::new(facts, client, opening.writes)))
}

/// The error of connecting to an export: the server's or the kernel's.
pub(super) fn cannot_open(side: Side, address: &str, nbd: &NbdAddress, cause: io::Error) -> Error {
    let name = side.name();
    if let Some(DeviceError { kind, words, advice, .. }) = DeviceError::of(&cause).cloned() {
        return Error::new(kind, format!("cannot open {name} {address}: {words}")).on(side).advise(advice);
    }
    let advice = match (cause.kind(), nbd.socket()) {
        (io::ErrorKind::NotFound, Some(_)) => "Check the path of the socket, and whether the server runs.",
        (io::ErrorKind::PermissionDenied, Some(_)) => "Run the command as a user who may write to the socket.",
        (io::ErrorKind::ConnectionRefused, _) => "Check whether the server runs, and on which port or socket.",
        (io::ErrorKind::TimedOut, _) => "Check the host and the port, and whether a firewall is in between.",
        _ => "Check the address and whether the server can be reached.",
    };
    Error::new(Kind::Open, format!("cannot open {name} {address}")).on(side).because(cause).advise(advice)
}
