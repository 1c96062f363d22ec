//! How a server zeroes: fast, at the speed of a write, or not at all. It shows that by its errors.
use super::flights::Command;
use super::protocol::{FLAG_FAST_ZERO, is_unsupported};
use crate::core::Export;
use std::io;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Most zeros per request to a server that reported that it writes them, so that such a request takes as long as a
/// write: progress and limits advance, and the connections share the work.
const SLOW_BYTES_MAX: u32 = 2 << 20;

/// How zeros are sent, from the best to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Way {
    /// Write Zeroes that fails where it would not be faster than writing.
    Fast,
    /// Write Zeroes: the server may write zeros itself. Cheaper than sending them in any case.
    Plain,
    /// The same by a server that is known to write them.
    Slow,
    /// As data.
    Written,
}

/// The best way that the server has not refused yet.
pub(super) struct Zeroing(AtomicU8);

impl Zeroing {
    /// What the server offers.
    pub(super) fn new(export: &Export) -> Self {
        let way = match export {
            Export { write_zeroes: false, .. } => Way::Written,
            Export { fast_zero: true, .. } => Way::Fast,
            Export { .. } => Way::Plain,
        };
        Zeroing(AtomicU8::new(way as u8))
    }

    /// The way for the next request.
    pub(super) fn way(&self) -> Way {
        [Way::Fast, Way::Plain, Way::Slow]
            .into_iter()
            .find(|way| *way as u8 == self.0.load(Relaxed))
            .unwrap_or(Way::Written)
    }

    /// Flags and the most bytes of a request, at most `most` and whole blocks of `block` bytes.
    pub(super) fn shape(&self, most: u32, block: u32) -> (u16, u32) {
        match self.way() {
            Way::Fast => (FLAG_FAST_ZERO, most),
            Way::Plain => (0, most),
            Way::Slow | Way::Written => (0, most.min(SLOW_BYTES_MAX.max(block))),
        }
    }

    /// Whether `error` of `command` shows that the server does not zero in that way. Nothing has happened then, and the
    /// next way is used from now on.
    pub(super) fn refuses(&self, command: &Command, error: &io::Error) -> bool {
        let refuses = is_unsupported(error);
        if refuses {
            let next = if command.flags & FLAG_FAST_ZERO == 0 { Way::Written } else { Way::Slow };
            self.0.fetch_max(next as u8, Relaxed);
        }
        refuses
    }
}
