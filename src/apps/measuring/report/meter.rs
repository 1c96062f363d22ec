//! A progress bar on standard error during a measurement, and lines on standard output above it.
use crate::report::bars;
use crate::report::columns::columns;
use crate::report::style::paint;
use crate::report::{Out, units};
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use indicatif::ProgressBar;
use std::io;
use std::time::Duration;

const DONE: Style = AnsiColor::Cyan.on_default();
const REST: Style = Style::new().dimmed();

/// Columns of the bar itself.
const BAR_COLUMNS: usize = 24;

/// Redraws per second; more would only flicker.
const DRAWS_PER_S: u8 = 10;

/// A progress bar during a measurement, if standard error is a terminal; lines on standard output appear above
/// it.
#[derive(Debug)]
pub struct Meter {
    bar: Option<ProgressBar>,
    out: Out,
}

impl Meter {
    /// Starts a bar, unless standard error is not a terminal that can move its cursor.
    pub fn start(out: Out) -> Meter {
        Meter { bar: bars::start(DRAWS_PER_S), out }
    }

    /// Prints to standard output, above the bar. A closed pipe is not an error here.
    pub fn print(&self, text: &str) {
        let print = || {
            // A full disk is reported when the answer is printed, on the same stream.
            let _ = self.out.print(text);
        };
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Updates the completed share, from 0 to 1, the remaining time, and the current step.
    pub fn moved(&self, share: f64, left: Option<Duration>, now: &str) {
        let Some(bar) = &self.bar else { return };
        let text = line(share, left, now, bars::columns() + 1);
        // indicatif bypasses anstream, so NO_COLOR is handled here.
        let plain = AutoStream::choice(&io::stderr()) == ColorChoice::Never;
        bar.set_message(if plain { anstream::adapter::strip_str(&text).to_string() } else { text });
        bar.tick();
    }

    /// Removes the bar.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn line(share: f64, left: Option<Duration>, now: &str, width: usize) -> String {
    let done = (share.clamp(0.0, 1.0) * BAR_COLUMNS as f64) as usize;
    let bar = format!("{}{}", paint(DONE, &"━".repeat(done)), paint(REST, &"─".repeat(BAR_COLUMNS - done)));
    let left = left.map(|left| format!("  {} left", units::time_left(left))).unwrap_or_default();
    let short = format!("{bar} {:3.0} %{left}", share * 100.0);
    let long = format!("{short}  {now}");
    if columns(&long) < width { long } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_current_step_is_omitted_on_narrow_terminals() {
        let text = |width| {
            let line = line(0.5, Some(Duration::from_secs(9)), "direct 256 KiB × 8", width);
            anstream::adapter::strip_str(&line).to_string()
        };
        assert_eq!(text(80), "━━━━━━━━━━━━────────────  50 %  9 s left  direct 256 KiB × 8");
        assert_eq!(text(50), "━━━━━━━━━━━━────────────  50 %  9 s left");
    }
}
