//! What can be wrong with a file beside a copy.
use rustix::io::Errno;
use std::{error, fmt, io};

/// Why a file beside a copy cannot be made, opened or replaced. `Display` prints a clause without the path.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileError {
    /// The kernel could not do it.
    Io(io::Error),
    /// The name leads to something that is no regular file; what it is, with its article.
    NotRegular(&'static str),
    /// Others can write to the folder, and the file may be theirs; in words, a clause.
    NotOurs(String),
    /// Another process is making a file of this name, or has it open.
    Busy,
    /// Something has the name, and it is not to be replaced.
    Exists,
    /// The name does not lead to the file that is to be replaced or removed any more.
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
