//! Files that haul makes beside a copy: manifests, journals, mapfiles, undo journals, reports, saved paces, scratch
//! files. This is the one place that creates, names, replaces and removes them.
//!
//! A folder is opened once and everything in it is reached relative to that descriptor. A new file has an unpredictable
//! name and mode 0600 until it is complete; it then takes its final name, and never that of a file that it may not
//! replace. A name that leads to a FIFO, a device, a socket, a folder or a symbolic link is refused without waiting.
//!
//! This room must not know the content of a file: the caller says what it is called and what may be replaced.
#![forbid(unsafe_code)]
mod error;
mod new_file;
mod place;

pub use error::FileError;
pub use new_file::{NewFile, Visibility, nameless, remove_unfinished};
pub use place::{FileIdentity, FolderEntry, Opening, canonical, find, open_to_read};

#[cfg(test)]
mod tests;
