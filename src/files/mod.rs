//! Auxiliary files of a copy: manifests, journals, mapfiles, undo journals, reports, saved paces, scratch files. Only
//! this room creates, names, replaces and removes them.
//!
//! A directory is opened once, and everything in it is accessed relative to that descriptor. A new file has an
//! unpredictable name and mode 0600 until it is complete. It is then renamed, and never replaces a file that it must
//! not replace. Names of FIFOs, devices, sockets, directories and symbolic links are refused without blocking.
//!
//! This room must not know the content of a file: the caller determines its name and what may be replaced.
#![forbid(unsafe_code)]
mod error;
mod new_file;
mod place;
mod socket;
mod text;

pub use error::FileError;
pub use new_file::{NewFile, Visibility, nameless, remove_unfinished};
pub use place::{DirectoryEntry, FileIdentity, Opening, canonical, find, open_to_read};
pub use socket::nameless_socket;
pub use text::read_text;

#[cfg(test)]
mod tests;
