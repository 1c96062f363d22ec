//! dd's front: what can be wrong with its words, and which way an invocation goes.
mod classify;
#[cfg(test)]
mod tests;
mod usage;

pub use classify::{Blocks, CopyMethod, DdFacts, DdKind, as_dd_would, block_options, classify, whole_records};
pub use usage::{Conflict, DdUsage, DdWarning};
