//! Measurements as pages with charts.
mod measured;
mod profile;
mod random;
mod sustained;
mod tune;

#[cfg(test)]
mod measured_tests;

pub use measured::Measured;
pub use profile::profile;
pub use random::random;
pub use sustained::sustained;
pub use tune::tune;
