//! The manifest: the digest of every block of a copy.
//!
//! docs/user/manifest.md describes the format. Offsets count from the first byte of the copy, so that one
//! manifest applies to both sides.
mod coverage;
mod diff;
#[cfg(test)]
mod diff_tests;
mod file;
mod head;
mod line;
mod loaded;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use diff::{Difference, Incomparable, diff};
pub use file::ManifestFile;
pub use head::Head;
pub use line::{Entry, LastLine};
pub use loaded::Manifest;
pub use reader::Reader;
pub use writer::Writer;
