use super::subject::Subject;
use super::view::View;
use super::{bar, plain};
use crate::plan::ProgressStyle;
use crate::report::bars;
use anstream::{AutoStream, ColorChoice};
use indicatif::ProgressBar;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

/// Maximum redraws of the bar per second.
const DRAWS_PER_S: u8 = 10;

/// The output of progress, in the chosen style.
pub(super) struct Screen {
    style: ProgressStyle,
    /// Present if the style is a bar.
    bar: Option<ProgressBar>,
    /// Everything except the bar. Standard error, except in tests.
    sink: Mutex<Box<dyn Write + Send>>,
}

impl Screen {
    /// Standard error. A bar needs a terminal that can move its cursor: without one, `Auto` and `Bar` are plain lines.
    pub(super) fn stderr(style: ProgressStyle) -> Self {
        let wanted = matches!(style, ProgressStyle::Auto | ProgressStyle::Bar);
        let bar = if wanted { bars::start(DRAWS_PER_S * 2) } else { None };
        let style = resolve(style, bar.is_some());
        Screen { style, bar, sink: Mutex::new(Box::new(AutoStream::auto(io::stderr()))) }
    }

    /// Into `sink`, which is not a terminal.
    #[cfg(test)]
    pub(super) fn of(style: ProgressStyle, sink: impl Write + Send + 'static) -> Self {
        Screen { style: resolve(style, false), bar: None, sink: Mutex::new(Box::new(sink)) }
    }

    /// The resulting style: never `Auto`.
    pub(super) fn style(&self) -> ProgressStyle {
        self.style
    }

    /// Draws the bar, if there is one.
    pub(super) fn draw(&self, view: &View, subject: &Subject<'_>) {
        let Some(bar) = &self.bar else { return };
        // indicatif bypasses anstream, so NO_COLOR is handled here.
        let choice = AutoStream::choice(&io::stderr());
        let (Subject { dest, dests, rescue }, columns) = (subject, bars::columns() + 1);
        let rows = rescue.map(|rescue| rescue.rows(columns)).unwrap_or_default();
        bar.set_message(coloured(bar::lines(view, dest, dests, columns) + &rows, choice));
    }

    /// Writes whole lines, above the bar if there is one. A closed pipe is not an error here.
    pub(super) fn write(&self, text: &str) {
        let write = || {
            let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = sink.write_all(text.as_bytes()).and_then(|()| sink.flush());
        };
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// The current progress in this style: one line, and in plain style one more for each of several dests.
    pub(super) fn status(&self, view: &View, subject: &Subject<'_>) -> String {
        match self.style {
            ProgressStyle::Json => super::lines::progress(view, subject),
            _ => plain::lines(view, subject),
        }
    }

    /// Removes the bar.
    pub(super) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn coloured(text: String, choice: ColorChoice) -> String {
    match choice {
        ColorChoice::Never => anstream::adapter::strip_str(&text).to_string(),
        _ => text,
    }
}

fn resolve(style: ProgressStyle, terminal: bool) -> ProgressStyle {
    match style {
        ProgressStyle::Auto | ProgressStyle::Bar if terminal => ProgressStyle::Bar,
        ProgressStyle::Auto | ProgressStyle::Bar => ProgressStyle::Plain,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_without_colour_has_none() {
        let red = "\u{1b}[31mred\u{1b}[0m";
        assert_eq!(coloured(red.to_owned(), ColorChoice::Never), "red");
        assert_eq!(coloured(red.to_owned(), ColorChoice::Always), red);
    }

    #[test]
    fn only_the_bar_requires_a_terminal() {
        use ProgressStyle::{Auto, Bar, Json, None, Plain};
        for (style, on_terminal, elsewhere) in
            [(Auto, Bar, Plain), (Bar, Bar, Plain), (Plain, Plain, Plain), (Json, Json, Json), (None, None, None)]
        {
            assert_eq!((resolve(style, true), resolve(style, false)), (on_terminal, elsewhere), "{style:?}");
        }
    }
}
