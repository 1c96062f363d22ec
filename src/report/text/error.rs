use crate::core::Error;
use crate::report::columns::message as lines;
use crate::report::printable::printable;
use crate::report::style::{CARE, DANGER, paint};
use std::io;

/// An error as one message: what failed and where, the kernel's message, and on a separate line the advice.
pub fn error(error: &Error) -> String {
    let mut text = lines(&format!("{} ", paint(DANGER, "haul:")), "      ", &message(error));
    let advice = super::advice(error);
    if !advice.is_empty() {
        text += &lines("  → ", "    ", &printable(advice));
    }
    text
}

/// A line about what was done.
pub fn info(words: &str) -> String {
    lines("haul: ", "      ", &printable(words))
}

/// A warning that does not prevent the copy.
pub fn warning(warning: &str) -> String {
    lines(&format!("{} warning: ", paint(CARE, "haul:")), "      ", &printable(warning))
}

/// The first line of an error, without the name of the program.
pub(crate) fn message(error: &Error) -> String {
    let mut text = printable(&error.to_string());
    if let Some(source) = &error.source {
        text += ": ";
        text += &kernel_words(source);
    }
    text
}

/// The kernel's error message, without the number that Rust appends: JSON has it.
pub(crate) fn kernel_words(error: &io::Error) -> String {
    let words = error.to_string();
    let number = error.raw_os_error().map(|number| format!(" (os error {number})"));
    let stripped = number.and_then(|number| words.strip_suffix(&number).map(str::to_owned));
    printable(&stripped.unwrap_or(words))
}
