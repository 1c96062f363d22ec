//! What went wrong, in words: the bench has one reader, and no caller that would tell errors apart.
use std::fmt::Display;
use std::io;

/// What was tried and why it failed.
#[derive(Debug)]
pub struct Error(pub String);

/// Result of whatever may fail here.
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

/// Says what was tried in front of why it failed.
pub trait Doing<T> {
    /// `doing`: the thing that was tried, as in `cannot {doing}: no such file`.
    fn doing(self, doing: impl Display) -> Result<T>;
}

impl<T, E: Display> Doing<T> for std::result::Result<T, E> {
    fn doing(self, doing: impl Display) -> Result<T> {
        self.map_err(|error| Error(format!("cannot {doing}: {error}")))
    }
}
