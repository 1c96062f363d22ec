//! The front of sg_dd, sgp_dd and sgm_dd: what can be wrong with their words, what an endpoint can honour, how many
//! blocks there are, and with which status it ends.
mod count;
mod status;
#[cfg(test)]
mod tests;
mod usage;
mod wishes;

pub use count::{CountRefusal, blocks_to_copy};
pub use status::{Failure, status};
pub use usage::{Operand, SgUsage};
pub use wishes::{Refusal, refused_wish};
