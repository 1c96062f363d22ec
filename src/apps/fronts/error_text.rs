//! What the kernel and other hauls say, as all fronts tell it.
use crate::core::Error;
use std::io;

/// Another haul is busy with a side, or it takes commands only, in one line: dd has no such sentence.
pub(super) fn refused(error: &Error) -> Vec<u8> {
    format!("{error}. {}", error.advice).into_bytes()
}

/// The kernel's words for an error, without Rust's number behind them.
pub(super) fn strerror(error: &io::Error) -> Vec<u8> {
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    text.as_bytes()[..end].to_vec()
}
