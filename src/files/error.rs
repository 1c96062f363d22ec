//! Errors of auxiliary files.
use rustix::io::Errno;
use std::{error, fmt, io};

/// Why an auxiliary file cannot be created, opened or replaced. `Display` prints a clause without the path.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileError {
    /// The kernel's error.
    Io(io::Error),
    /// The path leads to something other than a regular file; a noun with its article.
    NotRegular(&'static str),
    /// Others can write to the directory, and the file may be theirs; a clause.
    NotOurs(String),
    /// Another process is creating a file of this name, or has it open.
    Busy,
    /// The name exists and must not be replaced.
    Exists,
    /// The name no longer leads to the file that is to be replaced or removed.
    Changed,
}

impl From<io::Error> for FileError {
    fn from(source: io::Error) -> Self {
        FileError::Io(source)
    }
}

impl From<Errno> for FileError {
    fn from(errno: Errno) -> Self {
        FileError::Io(errno.into())
    }
}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Io(source) => source,
            FileError::Exists => io::Error::new(io::ErrorKind::AlreadyExists, error),
            other => io::Error::other(other),
        }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileError::Io(source) => write!(out, "{source}"),
            FileError::NotRegular(what) => write!(out, "it is {what}, not a regular file"),
            FileError::NotOurs(why) => write!(out, "other users can write to its directory, and {why}"),
            FileError::Busy => write!(out, "another process is using it"),
            FileError::Exists => write!(out, "it already exists"),
            FileError::Changed => write!(out, "another file has replaced it"),
        }
    }
}

impl error::Error for FileError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            FileError::Io(source) => Some(source),
            _ => None,
        }
    }
}
