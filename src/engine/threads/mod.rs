//! Blocking calls: on the spot, or on helper threads.
//!
//! Must not know what it calls: any endpoint's `perform` will do.
mod calls;
mod work;

pub use calls::Calls;
