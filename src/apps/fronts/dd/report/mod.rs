//! dd's messages on standard error: errors, counts, and the line about the transfer.
mod counts;
mod explain;
mod quoting;
mod reporter;
mod sentences;
#[cfg(test)]
mod tests;

pub use explain::explained;
pub use quoting::Quoting;
pub use reporter::Reporter;
pub use sentences::{usage, warning};
