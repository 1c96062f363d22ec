//! The copy by records: the result of one read is a record, short or not, and is counted, converted and written
//! as one.
//!
//! Reader, converter and writer are three steps connected by a few buffers: each in a separate thread if both
//! sides benefit, in turn if the copy is tiny. This module does what a `RecordPlan` states; it does not depend
//! on the command that made the plan, nor on how results are reported.
#![forbid(unsafe_code)]
mod addresses;
mod batch;
mod buffers;
mod busy;
mod calls;
mod careful;
mod commands_only;
mod convert;
#[cfg(test)]
mod device_tests;
mod end;
mod open;
mod opened;
mod pattern;
mod pipeline;
mod reader;
mod salvage;
mod start;
#[cfg(test)]
mod tests;
mod writer;

pub use busy::busy;
pub use commands_only::check_nodes;
pub use end::finish;
pub use open::{OpenSides, empty, open};
pub use opened::{Opened, SideKind};
pub use pipeline::{RecordsEnd, has_memory, run};
pub use start::{SkipResult, StartResult, begin};
