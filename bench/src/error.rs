//! Errors as text: no caller distinguishes them.
use std::fmt::Display;
use std::io;

/// What was tried and why it failed.
#[derive(Debug)]
pub struct Error(pub String);

/// Result of a function of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error(error.to_string())
    }
}

/// Adds the failed operation to an error.
pub trait Doing<T> {
    /// `doing`: the operation, as in `cannot {doing}: no such file`.
    fn doing(self, doing: impl Display) -> Result<T>;
}

impl<T, E: Display> Doing<T> for std::result::Result<T, E> {
    fn doing(self, doing: impl Display) -> Result<T> {
        self.map_err(|error| Error(format!("cannot {doing}: {error}")))
    }
}
