//! The command lines of `haul tune` and `haul profile`.
pub(crate) mod profile;
pub(crate) mod tune;
mod write;
