//! Memory that the driver of a node shares with haul.
use super::node::Node;
use crate::core::{Arena, Buffer, PAGE_BYTES};
use crate::sys::sg;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Memory that the driver shares with haul, by a descriptor that is used for nothing else: any command with bytes would
/// use the same memory.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) node: Node,
    /// Where it is mapped; 0: nowhere yet.
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

    /// `bytes` are at the beginning of it: a command moves them there, to the given place.
    pub(super) fn holds(&self, bytes: &[u8]) -> bool {
        bytes.as_ptr() as usize == self.at.load(Relaxed) && bytes.len() <= self.len.load(Relaxed)
    }
}

/// Has the driver reserve `len` bytes for this descriptor, `least` of them if it has not as many, and maps them.
///
/// # Errors
/// ENOMEM where it has fewer than `least`; what `mmap(2)` said.
pub(super) fn map_reserved(node: &Node, len: u32, least: u32) -> io::Result<Buffer> {
    // Whole pages are mapped.
    let reserved = sg::reserve(node.fd(), len.next_multiple_of(PAGE_BYTES as u32))?;
    if reserved < least {
        return Err(io::Error::from_raw_os_error(libc::ENOMEM));
    }
    let buffer = Arena::shared(node.fd(), len.min(reserved))?;
    // Touched now: the other side's driver can do without a copy only where pages are mapped already.
    std::hint::black_box(buffer.bytes().iter().step_by(PAGE_BYTES).fold(0, |all, byte| all | byte));
    Ok(buffer)
}
