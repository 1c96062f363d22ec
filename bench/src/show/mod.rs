//! What was measured, for people: tables on a terminal, and a page with charts.
//!
//! Both take their columns from `columns` and their claims from `claims`, so that they cannot tell two stories.
//! Must not know: how anything was measured.
mod columns;
mod page;
mod points;
mod terminal;
mod words;

pub use page::page;
pub use terminal::terminal;
pub use words::figure;
