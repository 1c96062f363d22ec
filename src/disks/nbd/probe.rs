//! Facts of an export.
use super::connection::{Connection, connect};
use super::handshake::Agreed;
use super::kept;
use crate::core::{CallStyle, Facts, FileId, NbdAddress, NbdServer, Order};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::PathBuf;

/// Connects to the server and fills in the I/O properties of the export. Reads and writes no data.
///
/// # Errors
/// The error of connecting; a [`crate::core::DeviceError`] with the server's error.
pub(in crate::disks) fn probe(address: &NbdAddress, facts: &mut Facts) -> io::Result<()> {
    let (socket, agreed) = connect(address)?;
    fill(&agreed, address, facts);
    match &address.server {
        NbdServer::Program(program) => kept::keep(program, socket, agreed),
        // Disconnects cleanly.
        NbdServer::Tcp { .. } | NbdServer::Unix(_) => drop(Connection::new(socket, agreed)),
    }
    Ok(())
}

/// Fills in what the server reported.
pub(super) fn fill(agreed: &Agreed, address: &NbdAddress, facts: &mut Facts) {
    let export = &agreed.export;
    let mut hasher = DefaultHasher::new();
    address.hash(&mut hasher);
    facts.id = Some(FileId::Export(hasher.finish()));
    facts.path = PathBuf::from(address.to_string());
    facts.exists = true;
    facts.writable = !export.read_only;
    facts.size = Some(agreed.size);
    facts.order = Order::Any;
    facts.calls = CallStyle::Waits;
    facts.logical_block_bytes = export.block_min_bytes;
    facts.physical_block_bytes = export.block_preferred_bytes.unwrap_or(export.block_min_bytes);
    facts.queue.optimal_io_bytes = export.block_preferred_bytes.unwrap_or(0);
    facts.queue.max_request_bytes = export.block_max_bytes;
    facts.queue.rotational = agreed.rotational.then_some(true);
    facts.queue.write_zeroes_max_bytes = if export.write_zeroes { export.block_max_bytes.into() } else { 0 };
    facts.sparse = export.base_allocation;
    facts.identity.transport = Some("nbd".to_owned());
    facts.export = Some(export.clone());
}
