//! The front of sg_dd, sgp_dd and sgm_dd: what can be wrong with their words, what an endpoint can honour, how many
//! blocks there are, and with which status it ends.
mod commands;
mod count;
mod status;
#[cfg(test)]
mod tests;
mod usage;
mod wishes;

pub use commands::{
    CommandRefusal, are_one_disk, by_commands, check_blocks, check_commands, check_one_way, command_facts,
    command_side, shared_side,
};
pub use count::{CountRefusal, blocks_to_copy};
pub use status::{SgFailure, status};
pub use usage::{Operand, SgUsage};
pub use wishes::{Refusal, refused_wish};
