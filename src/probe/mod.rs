//! Room probe.
pub mod signature;
