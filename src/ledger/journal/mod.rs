//! The journal: which bytes of a copy are durable, so that it can be gone on with after anything.
//!
//! docs/journal.md describes the format. Offsets count from the first byte of the copy. Whoever appends has made the
//! bytes durable before: the journal believes it, and makes its own line durable before it says so.
mod exchange;
mod file;
#[cfg(test)]
mod fits_tests;
mod head;
mod reading;
mod record;
mod state;
#[cfg(test)]
mod tests;

pub use file::{Journal, is_in_use};
pub use head::{Head, Now, Sample, sample_places};
pub use reading::read;
pub use record::Ended;
pub use state::State;
