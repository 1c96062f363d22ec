use super::dests::DestView;
use super::view::View;
use super::{bar, plain};
use crate::plan::ProgressStyle;
use crate::report::bars;
use anstream::{AutoStream, ColorChoice};
use indicatif::ProgressBar;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

/// Bars are drawn at most so often.
const DRAWS_PER_S: u8 = 10;

/// What progress is written to, in the style that was settled.
pub(super) struct Screen {
    style: ProgressStyle,
    /// There is one if the style is a bar.
    bar: Option<ProgressBar>,
    /// Everything but the bar. Standard error, but for tests.
    sink: Mutex<Box<dyn Write + Send>>,
}

impl Screen {
    /// Standard error. A bar needs a terminal that can move its cursor: without one, `Auto` and `Bar` are plain lines.
    pub(super) fn stderr(style: ProgressStyle) -> Self {
        let wanted = matches!(style, ProgressStyle::Auto | ProgressStyle::Bar);
        let bar = if wanted { bars::start(DRAWS_PER_S * 2) } else { None };
        let style = settle(style, bar.is_some());
        Screen { style, bar, sink: Mutex::new(Box::new(AutoStream::auto(io::stderr()))) }
    }

    /// Into `sink`, which is no terminal.
    #[cfg(test)]
    pub(super) fn of(style: ProgressStyle, sink: impl Write + Send + 'static) -> Self {
        Screen { style: settle(style, false), bar: None, sink: Mutex::new(Box::new(sink)) }
    }

    /// What the user gets: never `Auto`.
    pub(super) fn style(&self) -> ProgressStyle {
        self.style
    }

    /// Draws the bar, where there is one.
    pub(super) fn draw(&self, view: &View, dest: &str, dests: &[DestView]) {
        let Some(bar) = &self.bar else { return };
        // indicatif writes past anstream, so what NO_COLOR asks for is done here.
        let choice = AutoStream::choice(&io::stderr());
        bar.set_message(coloured(bar::lines(view, dest, dests, bars::columns() + 1), choice));
    }

    /// Writes whole lines, above the bar where there is one. A reader that went away is no error here.
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

    /// The present, in the words of the style: one line, and where they are plain one more for each of several dests.
    pub(super) fn status(&self, view: &View, dest: &str, dests: &[DestView]) -> String {
        match self.style {
            ProgressStyle::Json => super::lines::progress(view, dests),
            _ => plain::lines(view, dest, dests),
        }
    }

    /// Takes the bar away.
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

fn settle(style: ProgressStyle, terminal: bool) -> ProgressStyle {
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
    fn a_bar_has_no_colour_where_none_is_wanted() {
        let red = "\u{1b}[31mred\u{1b}[0m";
        assert_eq!(coloured(red.to_owned(), ColorChoice::Never), "red");
        assert_eq!(coloured(red.to_owned(), ColorChoice::Always), red);
    }

    #[test]
    fn a_bar_needs_a_terminal_and_the_other_styles_do_not_care() {
        use ProgressStyle::{Auto, Bar, Json, None, Plain};
        for (style, on_terminal, elsewhere) in
            [(Auto, Bar, Plain), (Bar, Bar, Plain), (Plain, Plain, Plain), (Json, Json, Json), (None, None, None)]
        {
            assert_eq!((settle(style, true), settle(style, false)), (on_terminal, elsewhere), "{style:?}");
        }
    }
}
