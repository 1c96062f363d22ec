//! The command lines of `haul tune` and `haul profile`.
pub(crate) mod profile;
mod random;
pub(crate) mod tune;
mod write;

use crate::cli::help::{ENVIRONMENT, SIZES};

const TUNE_EXAMPLES: &str = include_str!("help/tune-examples.txt");
const PROFILE_EXAMPLES: &str = include_str!("help/profile-examples.txt");
const STATUS: &str = include_str!("help/status.txt");
const FILES: &str = include_str!("help/files.txt");

const TUNE_SEE_ALSO: &str = "# SEE ALSO\nhaul(1), haul-copy(1), haul-profile(1), hdparm(8), fio(1)\n";
const PROFILE_SEE_ALSO: &str = "# SEE ALSO\nhaul(1), haul-tune(1), hdparm(8), fio(1), sg_rbuf(8)\n";

/// Sections of the man page of `haul tune`.
const TUNE_PAGE: &[&str] = &[SIZES, STATUS, ENVIRONMENT, FILES, TUNE_EXAMPLES, TUNE_SEE_ALSO];

/// Sections of the man page of `haul profile`.
const PROFILE_PAGE: &[&str] = &[SIZES, STATUS, ENVIRONMENT, FILES, PROFILE_EXAMPLES, PROFILE_SEE_ALSO];
