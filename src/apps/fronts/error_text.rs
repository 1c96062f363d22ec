//! Errors of the kernel and of locks, as all fronts print them.
use crate::core::Error;
use std::io;

/// The error, in one line, of a side that another haul process has locked, or that accepts only commands: dd
/// has no such message.
pub(super) fn refused(error: &Error) -> Vec<u8> {
    format!("{error}. {}", error.advice).into_bytes()
}

/// The kernel's message for an error, without the number that Rust appends.
pub(super) fn strerror(error: &io::Error) -> Vec<u8> {
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    text.as_bytes()[..end].to_vec()
}
