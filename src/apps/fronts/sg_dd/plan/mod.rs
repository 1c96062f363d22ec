//! Decisions of sg_dd, sgp_dd and sgm_dd: which operands are invalid, which flags an endpoint supports, how
//! many blocks to copy, and the exit status.
mod commands;
mod count;
mod scsi_flags;
mod status;
#[cfg(test)]
mod tests;
mod usage;

pub use commands::{
    CommandRefusal, are_one_disk, by_commands, check_blocks, check_commands, check_one_way, command_facts,
    command_side, shared_side,
};
pub use count::{CountRefusal, blocks_to_copy};
pub use scsi_flags::{Refusal, refused_flag};
pub use status::{SgFailure, status};
pub use usage::{Operand, SgUsage};
