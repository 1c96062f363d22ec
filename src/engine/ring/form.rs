//! The two forms of a ring: normal entries, and wide ones for passthrough commands.
use crate::core::{OnRing, Request};
use io_uring::{cqueue, squeue, types};
use std::io;

/// Converts requests to ring entries and completions to byte counts. All entries of a ring have one form.
pub trait EntryForm {
    /// Submission queue entry.
    type Entry: squeue::EntryMarker;
    /// Completion queue entry.
    type Completion: cqueue::EntryMarker;
    /// Detail for the report, if any.
    const DETAIL: Option<&'static str>;

    /// The entry for the current transfer.
    fn encode(on_ring: &dyn OnRing, request: &mut Request, fd: types::Fixed) -> Self::Entry;

    /// The result of a request from its completion.
    fn decode(on_ring: &dyn OnRing, request: &Request, completion: &Self::Completion) -> io::Result<Option<u32>>;
}

/// Entries of 64 bytes and completions of 16, sufficient for files and block devices.
pub struct Narrow;

/// Entries of 128 bytes and completions of 32 (since 5.19). They need twice the memory, so they are used only if a side
/// requires them.
pub struct Wide;

impl EntryForm for Narrow {
    type Entry = squeue::Entry;
    type Completion = cqueue::Entry;
    const DETAIL: Option<&'static str> = None;

    fn encode(on_ring: &dyn OnRing, request: &mut Request, fd: types::Fixed) -> squeue::Entry {
        on_ring.encode(request, fd)
    }

    fn decode(on_ring: &dyn OnRing, request: &Request, completion: &cqueue::Entry) -> io::Result<Option<u32>> {
        on_ring.decode(request, completion.result(), [0; 2])
    }
}

impl EntryForm for Wide {
    type Entry = squeue::Entry128;
    type Completion = cqueue::Entry32;
    const DETAIL: Option<&'static str> = Some("wide entries");

    fn encode(on_ring: &dyn OnRing, request: &mut Request, fd: types::Fixed) -> squeue::Entry128 {
        on_ring.encode_wide(request, fd)
    }

    fn decode(on_ring: &dyn OnRing, request: &Request, completion: &cqueue::Entry32) -> io::Result<Option<u32>> {
        on_ring.decode(request, completion.result(), *completion.big_cqe())
    }
}
