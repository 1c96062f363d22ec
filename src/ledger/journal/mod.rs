//! The journal: which bytes of a copy are durable, so that it can be resumed after any interruption.
//!
//! docs/user/journal.md describes the format. Offsets count from the first byte of the copy. The caller
//! makes the bytes durable before it appends; the journal makes its own line durable before it returns.
#[cfg(test)]
mod digest_tests;
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
pub use record::FinalStamp;
pub use state::{RecordedDigests, State};
