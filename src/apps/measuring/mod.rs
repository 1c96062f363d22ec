//! `haul tune` and `haul profile`: measure a disk, by reading or by writing.
//!
//! The runs themselves are in the room `measure`, because the estimate of a copy makes them too; everything
//! else is here.
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
