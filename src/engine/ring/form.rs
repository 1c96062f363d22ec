//! The two forms of a ring: plain entries, and the wide ones that passthrough commands need.
use crate::core::{OnRing, Request};
use io_uring::{cqueue, squeue, types};
use std::io;

/// How requests become entries of a ring, and its completions byte counts. One ring has one form.
pub trait EntryForm {
    /// What is submitted.
    type Entry: squeue::EntryMarker;
    /// What comes back.
    type Completion: cqueue::EntryMarker;
    /// What the report says of it, where it is worth a word.
    const DETAIL: Option<&'static str>;

    /// The entry for the present transfer.
    fn encode(on_ring: &dyn OnRing, request: &mut Request, fd: types::Fixed) -> Self::Entry;

    /// What a completion says of the request.
    fn decode(on_ring: &dyn OnRing, request: &Request, completion: &Self::Completion) -> io::Result<Option<u32>>;
}

/// Entries of 64 bytes, completions of 16: all that files and block devices need.
pub struct Narrow;

/// Entries of 128 bytes, completions of 32 (since 5.19). Twice the memory to go through, so only where a side needs it.
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
