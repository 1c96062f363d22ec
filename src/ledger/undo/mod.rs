//! The undo journal: the original data of a device before its write rate was measured, so that it can be restored.
//!
//! docs/user/journal.md describes the format. A file whose name does not end in `.new` is complete and durable,
//! and nothing was written to the device before. The test data contains the session's [`Content`], so that a
//! restore distinguishes it from data that another program wrote later.
mod content;
mod file;
mod head;
#[cfg(test)]
mod tests;

pub use content::{Content, PIECE_BYTES};
pub use file::{Original, Undo, UndoMaking};
pub use head::Head;
