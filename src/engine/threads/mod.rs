//! Blocking calls: in place, or on helper threads.
//!
//! This room must not know what it calls: it uses only `perform` of an endpoint.
mod calls;
mod work;

pub use calls::Calls;
