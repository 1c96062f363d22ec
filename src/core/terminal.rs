//! The width of the terminal, determined once at startup.
use std::sync::atomic::{AtomicUsize, Ordering};

/// 0 if there is no terminal, or its width is unknown.
static COLUMNS: AtomicUsize = AtomicUsize::new(0);

/// Sets the width for which text is laid out from now on; `None` for files and logs.
pub fn set_terminal_columns(columns: Option<usize>) {
    COLUMNS.store(columns.unwrap_or(0), Ordering::Relaxed);
}

/// Columns of the terminal; `None` for a file or log.
pub fn terminal_columns() -> Option<usize> {
    Some(COLUMNS.load(Ordering::Relaxed)).filter(|&columns| columns > 0)
}
