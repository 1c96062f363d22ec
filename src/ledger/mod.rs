//! What was copied, on record file: the manifest (what the bytes were), the journal (which of them are durable) and GNU
//! ddrescue's mapfile (which could not be read); what `haul tune` found for each disk, and the original data of one
//! before its write rate was measured; and the file that a report's page goes to.
//!
//! This room must not know how bytes are copied, when they become durable or what a report says: it writes what it is
//! given to a file, and reads it back without ever believing more than was written.
#![forbid(unsafe_code)]
mod fault;
mod first_line;
mod identity;
pub mod journal;
mod lines;
pub mod manifest;
pub mod mapfile;
mod mismatch;
mod page_file;
mod record_file;
pub mod saved;
mod seal;
pub mod undo;

pub use fault::{Fault, FaultKind, RecordFile};
pub use identity::SideIdentity;
pub use mismatch::Mismatch;
pub use page_file::PageFile;
