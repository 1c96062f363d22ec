//! The command lines of `haul tune` and `haul profile`.
pub(crate) mod profile;
mod random;
pub(crate) mod tune;
mod write;

use crate::cli::help::{self, SIZES};

const TUNE_EXAMPLES: &str = include_str!("help/tune-examples.txt");
const PROFILE_EXAMPLES: &str = include_str!("help/profile-examples.txt");
const STATUS_AND_FILES: &str = include_str!("help/status-and-files.txt");

/// The man page `haul-tune(1)`.
pub(in crate::apps) fn tune_manual(haul: clap::Command) -> String {
    manual(haul, "tune", TUNE_EXAMPLES)
}

/// The man page `haul-profile(1)`.
pub(in crate::apps) fn profile_manual(haul: clap::Command) -> String {
    manual(haul, "profile", PROFILE_EXAMPLES)
}

fn manual(haul: clap::Command, command: &str, examples: &str) -> String {
    let sections = [SIZES, STATUS_AND_FILES, examples, include_str!("help/see-also.txt")];
    help::manual(haul, include_str!("manual.roff"), command, &sections)
}
