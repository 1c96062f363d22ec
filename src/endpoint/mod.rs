//! One room per kind of thing that holds bytes, each with its own `probe`; and the only list of kinds.
//!
//! This room must not know which engine drives it nor which extent comes next, and decides nothing that a plan
//! settles: how to open and what to do to the page cache is told to it.
pub mod block;
pub mod file;
pub mod null;
pub mod pipe;
mod queue_limits;
mod reading;
