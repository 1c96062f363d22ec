//! How the process ends.
use crate::core::{Error, Kind};
use crate::report::{Out, clear_bar, text};
use crate::sys::was_closed;

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// With this status: 0 done and durable, or equal; 1 I/O failure, or different; 2 usage, 3 refused for safety,
    /// 4 out of time.
    Status(u8),
    /// By this signal, as it would have without haul.
    Signal(i32),
}

impl Exit {
    /// Something failed.
    pub const FAILED: Exit = Exit::Status(1);

    /// The status of a comparison that found a difference, as in cmp(1).
    pub const DIFFERENT: u8 = 1;

    /// The status of a copy that `--time` ended before it was complete: after status 0 a script may remove the
    /// source.
    pub const OUT_OF_TIME: u8 = 4;

    /// The status of a run that skipped unreadable data.
    pub const UNREAD: u8 = 1;

    /// The same, with a status of at least `status` if something else failed too. A signal is kept.
    pub(super) fn at_least(self, status: u8) -> Exit {
        if self == Exit::Status(0) { Exit::Status(status) } else { self }
    }
}

/// Ends the process by `signal` as if it had not been caught: a shell then reports that the copy did not
/// finish.
pub fn die_by(signal: i32) {
    clear_bar();
    crate::files::remove_unfinished();
    // Returns only for signals that are ignored by default; the caller then exits with a status.
    signal_hook::low_level::emulate_default_handler(signal).ok();
}

/// Prints the error; returns the status of its kind.
pub(super) fn failed(out: Out, error: &Error) -> Exit {
    out.eprint(&text::error(error));
    Exit::Status(error.kind.exit_status())
}

/// Prints machine-readable output to standard output.
pub(super) fn printed(out: Out, text: &str) -> Exit {
    // The Rust runtime replaces a closed standard output by /dev/null.
    let result = if was_closed(1) { Err(rustix::io::Errno::BADF.into()) } else { out.print(text) };
    match result {
        Ok(()) => Exit::Status(0),
        Err(error) => failed(out, &Error::new(Kind::Io, "cannot write to standard output").because(error)),
    }
}
