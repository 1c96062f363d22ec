//! The undo journal: the original data of a device before its write rate was measured, so that it can be restored.
//!
//! docs/user/journal.md describes the format. A file without `.new` behind its name is whole and durable, and nothing
//! was written to the device before it. What is written there carries the session's [`Content`], so that a restore
//! tells what was written for measuring from what another program wrote later.
mod content;
mod file;
mod head;
#[cfg(test)]
mod tests;

pub use content::{Content, PIECE_BYTES};
pub use file::{Original, Undo, UndoMaking};
pub use head::Head;
