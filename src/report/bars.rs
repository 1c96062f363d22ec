//! Draws progress bars on standard error, with space after the last line for the terminal's echo of Ctrl-C.
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The terminal echoes `^C` at the cursor, after the last line, possibly twice. If that wrapped to the next
/// line, a line of the bar would remain: it is cleared from where the cursor should be.
const ROOM_COLUMNS: usize = 4;
/// Assumed width of a terminal that does not report it, in columns.
const COLUMNS: usize = 80;
/// Time limit for clearing: a terminal stopped by Ctrl-S must not prevent the process from ending.
const CLEARING_AT_MOST: Duration = Duration::from_millis(200);

/// The current bar, if any: there is at most one.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Starts a bar on standard error, drawn at most `draws_per_s` times per second; `None` if the terminal cannot
/// move its cursor.
pub(crate) fn start(draws_per_s: u8) -> Option<ProgressBar> {
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    if is_dumb || !io::stderr().is_terminal() {
        return None;
    }
    let target = ProgressDrawTarget::term_like_with_hz(Box::new(StandardError::default()), draws_per_s);
    let style = ProgressStyle::with_template("{msg}").expect("the template is valid");
    let bar = ProgressBar::with_draw_target(None, target).with_style(style);
    *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.clone());
    Some(bar)
}

/// Number of columns that a bar may fill now.
pub(crate) fn columns() -> usize {
    terminal_columns().saturating_sub(ROOM_COLUMNS).max(1)
}

fn terminal_columns() -> usize {
    let size = rustix::termios::tcgetwinsize(io::stderr()).ok();
    size.map(|size| usize::from(size.ws_col)).filter(|&columns| columns > 0).unwrap_or(COLUMNS)
}

/// Removes the bar before the process ends without a report.
pub(crate) fn clear() {
    let Some(bar) = SHOWN.try_lock().ok().and_then(|mut shown| shown.take()) else { return };
    let (done, is_done) = channel();
    let clearing = thread::Builder::new().spawn(move || {
        bar.finish_and_clear();
        done.send(()).ok();
    });
    if clearing.is_ok() {
        is_done.recv_timeout(CLEARING_AT_MOST).ok();
    }
}

/// Standard error as indicatif draws on it: line by line, each padded with blanks to the right edge, so that
/// the terminal wraps. The blanks are omitted here, because after them `^C` would start another line; haul
/// writes a newline between lines.
#[derive(Debug, Default)]
struct StandardError {
    line_is_full: AtomicBool,
}

impl StandardError {
    fn send(&self, text: &str) -> io::Result<()> {
        io::stderr().write_all(text.as_bytes())
    }

    /// Sends the escape sequence that moves the cursor; nothing for a count of 0, which the terminal would
    /// treat as 1.
    fn move_by(&self, count: usize, letter: char) -> io::Result<()> {
        self.line_is_full.store(false, Ordering::Relaxed);
        if count == 0 { Ok(()) } else { self.send(&format!("\u{1b}[{count}{letter}")) }
    }
}

impl TermLike for StandardError {
    fn width(&self) -> u16 {
        u16::try_from(terminal_columns()).unwrap_or(u16::MAX)
    }

    fn move_cursor_up(&self, lines: usize) -> io::Result<()> {
        self.move_by(lines, 'A')
    }

    fn move_cursor_down(&self, lines: usize) -> io::Result<()> {
        self.move_by(lines, 'B')
    }

    fn move_cursor_right(&self, columns: usize) -> io::Result<()> {
        self.move_by(columns, 'C')
    }

    fn move_cursor_left(&self, columns: usize) -> io::Result<()> {
        self.move_by(columns, 'D')
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.line_is_full.store(false, Ordering::Relaxed);
        self.send(&format!("{text}\n"))
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        if text.bytes().all(|byte| byte == b' ') {
            self.line_is_full.store(true, Ordering::Relaxed);
            return Ok(());
        }
        let before = if self.line_is_full.swap(false, Ordering::Relaxed) { "\r\n" } else { "" };
        self.send(&format!("{before}{text}"))
    }

    fn clear_line(&self) -> io::Result<()> {
        self.line_is_full.store(false, Ordering::Relaxed);
        self.send("\r\u{1b}[2K")
    }

    fn flush(&self) -> io::Result<()> {
        io::stderr().flush()
    }
}
