//! The messages of sg_dd, sgp_dd and sgm_dd on standard error: errors, counts, times, and the command that
//! continues.
mod again;
mod counts;
mod reporter;
mod sentences;
#[cfg(test)]
mod tests;

pub use again::{Continuation, continue_command};
pub use reporter::SgReporter;
pub use sentences::{command_refusal, count_refusal, disk_failure, refusal, usage};

pub(in crate::apps::fronts) use sentences::careful;
