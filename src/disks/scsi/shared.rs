//! Memory that the driver of a node shares with haul.
use super::node::Node;
use crate::core::{Arena, Buffer, PAGE_BYTES};
use crate::sys::sg;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Memory that the driver shares with haul, by a separate descriptor: any other command with data would overwrite the
/// memory.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) node: Node,
    /// Address of the mapping; 0 if it is not mapped yet.
    at: AtomicUsize,
    len: AtomicUsize,
}

impl Shared {
    pub(super) fn new(node: Node) -> Self {
        Shared { node, at: 0.into(), len: 0.into() }
    }

    pub(super) fn map(&self, len: u32) -> io::Result<Buffer> {
        let buffer = map_reserved(&self.node, len, len)?;
        self.at.store(buffer.bytes().as_ptr() as usize, Relaxed);
        self.len.store(len as usize, Relaxed);
        Ok(buffer)
    }

    /// Whether `bytes` are at the start of the memory, so that a command can transfer them in place.
    pub(super) fn holds(&self, bytes: &[u8]) -> bool {
        bytes.as_ptr() as usize == self.at.load(Relaxed) && bytes.len() <= self.len.load(Relaxed)
    }
}

/// Reserves `len` bytes in the driver for this descriptor, at least `least` of them, and maps them.
///
/// # Errors
/// ENOMEM if it has fewer than `least`; otherwise the error of `mmap(2)`.
pub(super) fn map_reserved(node: &Node, len: u32, least: u32) -> io::Result<Buffer> {
    // Mappings consist of whole pages.
    let reserved = sg::reserve(node.fd(), len.next_multiple_of(PAGE_BYTES as u32))?;
    if reserved < least {
        return Err(io::Error::from_raw_os_error(libc::ENOMEM));
    }
    let buffer = Arena::shared(node.fd(), len.min(reserved))?;
    // Populates the pages, because the driver of the other side can use direct I/O only for populated pages.
    std::hint::black_box(buffer.bytes().iter().step_by(PAGE_BYTES).fold(0, |all, byte| all | byte));
    Ok(buffer)
}
