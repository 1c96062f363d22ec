//! How wide the terminal is that people read on. Found out once, before anything is shown.
use std::sync::atomic::{AtomicUsize, Ordering};

/// 0: there is none, or it does not say.
static COLUMNS: AtomicUsize = AtomicUsize::new(0);

/// Text is laid out for a terminal of so many columns from now on; `None`: for files and logs.
pub fn set_terminal_columns(columns: Option<usize>) {
    COLUMNS.store(columns.unwrap_or(0), Ordering::Relaxed);
}

/// Columns of the terminal; `None` where people read in a file or log.
pub fn terminal_columns() -> Option<usize> {
    Some(COLUMNS.load(Ordering::Relaxed)).filter(|&columns| columns > 0)
}
