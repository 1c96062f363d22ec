//! Record files: the manifest (digests of the data), the journal (which bytes are durable), GNU ddrescue's
//! mapfile (which could not be read), the undo journal (original data before a write measurement), the results
//! of `haul tune` for each disk, the file of a report's page, and the plan of a copy by many workers.
//!
//! This room must not know how bytes are copied, when they become durable or what a report contains: it writes
//! the values that it is given to a file, and reads them back without ever accepting more than was written.
#![forbid(unsafe_code)]
pub mod bmap;
mod fault;
mod first_line;
pub mod fleet;
mod identity;
pub mod journal;
mod lines;
pub mod manifest;
pub mod mapfile;
mod mismatch;
mod page_file;
mod record_file;
mod rescue_log;
pub mod saved;
mod seal;
pub mod undo;

pub use fault::{Fault, FaultKind, RecordFile};
pub use identity::SideIdentity;
pub use mismatch::Mismatch;
pub use page_file::PageFile;
pub use rescue_log::{RescueLogFile, RescueLogKind};
