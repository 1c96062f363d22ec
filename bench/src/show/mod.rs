//! What was measured, for people: tables on a terminal.
//!
//! Must not know: how anything was measured.
mod columns;
mod terminal;
mod words;

pub use terminal::terminal;
