//! Results as text: tables on a terminal, and a page with charts.
//!
//! Both use the columns of `columns` and the claims of `claims`, so that they cannot differ. Independent of how
//! anything was measured.
mod columns;
mod page;
mod points;
mod terminal;
mod words;

pub use page::page;
pub use terminal::terminal;
pub use words::figure;
