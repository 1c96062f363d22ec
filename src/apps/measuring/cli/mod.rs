//! The command lines of `haul tune` and `haul profile`.
pub(crate) mod profile;
pub(crate) mod tune;
mod write;

use crate::apps::command_line::generate;
use crate::cli::help::SIZES;

const TUNE_EXAMPLES: &str = include_str!("help/tune-examples.txt");
const PROFILE_EXAMPLES: &str = include_str!("help/profile-examples.txt");
const STATUS_AND_FILES: &str = include_str!("help/status-and-files.txt");

/// The man page `haul-tune(1)`.
pub(in crate::apps) fn tune_manual() -> String {
    manual("tune", TUNE_EXAMPLES)
}

/// The man page `haul-profile(1)`.
pub(in crate::apps) fn profile_manual() -> String {
    manual("profile", PROFILE_EXAMPLES)
}

fn manual(command: &str, examples: &str) -> String {
    let sections = [SIZES, STATUS_AND_FILES, examples, include_str!("help/see-also.txt")];
    generate::manual(include_str!("manual.roff"), command, &sections)
}
