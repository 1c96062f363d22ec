//! dd's decisions: which operands are invalid, and how dd copies.
mod classify;
#[cfg(test)]
mod tests;
mod usage;

pub use classify::{Blocks, CopyMethod, DdFacts, DdKind, as_dd_would, block_options, classify, whole_records};
pub use usage::{Conflict, DdUsage, DdWarning};
