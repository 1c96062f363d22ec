//! What was measured, as a page with charts.
mod measured;
mod sustained;

#[cfg(test)]
mod measured_tests;

pub use measured::{Measured, profile, tune};
pub use sustained::sustained;
