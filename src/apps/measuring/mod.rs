//! `haul tune` and `haul profile`: a disk measured, by reading or by writing.
//!
//! Everything of them is here but the runs themselves, which the estimate of a copy makes too: those are the room
//! `measure`.
pub mod cli;
pub mod json;
mod measured;
pub mod page;
pub mod plan;
pub(in crate::apps) mod profile;
mod random;
mod read_buffer;
pub mod report;
mod scratch;
mod sustained;
mod system_impact;
pub(in crate::apps) mod tune;

pub(super) use cli::profile::ProfileArguments;
pub(super) use cli::tune::TuneArguments;
