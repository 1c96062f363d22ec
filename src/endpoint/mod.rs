//! One room per kind of thing that holds bytes.
//!
//! This room must not know engines: it says what an endpoint is and how one request is carried out, not how many are
//! kept in flight.
pub mod memory;
