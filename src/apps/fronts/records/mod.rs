//! The copy by records: what one read brings is a record, short or not, and is counted, converted and written as one.
//!
//! Reader, converter and writer are three steps with a small ring of buffers between them: each in its own thread
//! where both sides can gain by it, one after the other where the copy is tiny. This room must not know which
//! invocations come here and why, nor how anything is reported: it does what a `RecordPlan` says.
#![forbid(unsafe_code)]
mod addresses;
mod batch;
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
