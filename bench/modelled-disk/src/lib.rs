//! A disk with modelled service times, served by nbdkit.
//!
//! ```text
//!  preset, parameters (what it is like) ──▶ model (virtual time) ◀── server (real time, threads) ◀── plugin (nbdkit)
//!                                              └─▶ limit (arithmetic)       store (the bytes), damage, volatile, clock
//! ```
//! The bench uses the first row and `limit` as a library; nbdkit loads the same crate as a plugin.
pub mod clock;
pub mod damage;
pub mod failing;
pub mod keys;
pub mod limit;
pub mod model;
pub mod parameters;
pub mod plugin;
pub mod preset;
pub mod server;
pub mod store;
pub mod trace;
pub mod volatile;
pub mod words;
