//! Outcomes and measurements as one HTML page that needs nothing else: no script, no font, no other file.
//!
//! `copy` and `measured` say what is on their page; `chart` draws curves; the template puts it down, and minijinja
//! escapes every text in it. This room must not know how anything was measured, nor where the page goes.
pub(crate) mod axis;
pub(crate) mod chart;
mod colours;
mod copy;
pub(crate) mod device;
mod labels;
pub(crate) mod latency;
mod map;
mod rates;
mod strips;

#[cfg(feature = "internals")]
pub use axis::{Axis, Quantity};
pub use chart::Chart;
#[cfg(feature = "internals")]
pub use chart::{Curve, Shape};
#[cfg(feature = "internals")]
pub use colours::style;
pub use copy::{CopyFound, copy};

use super::printable::shell_line;
use crate::core::Machine;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;
use std::time::{SystemTime, UNIX_EPOCH};

/// What each of our pages begins with: such a file, and no other, may be replaced by another page.
pub const MARK: &str = "<!DOCTYPE html>\n<!-- a report of haul -->\n";

/// Everything on a page.
#[derive(Debug, Serialize)]
pub(crate) struct Page {
    pub(crate) title: String,
    /// The result of it, in one sentence.
    pub(crate) headline: String,
    /// When it began, in UTC.
    pub(crate) when: String,
    /// What the reader must know before the rest: it failed, it was interrupted.
    pub(crate) warnings: Vec<String>,
    /// Names and values that matter most.
    pub(crate) summary: Vec<(String, String)>,
    pub(crate) figures: Vec<Figure>,
    /// Under a heading each: the sides, the machine.
    pub(crate) facts: Vec<(String, Vec<(String, String)>)>,
    /// What a terminal showed, in full; empty: nothing that is not above.
    pub(crate) report: String,
    /// As it was given.
    pub(crate) command: String,
    pub(crate) version: &'static str,
    pub(crate) style: String,
}

/// A chart with the table of its numbers.
#[derive(Debug, Serialize)]
pub(crate) struct Figure {
    /// For links, and for programs that search for it.
    pub(crate) id: &'static str,
    pub(crate) title: String,
    /// What it comes to, in a sentence; empty where the headline has said it.
    pub(crate) answer: String,
    /// What is seen, and how to read it.
    pub(crate) what: String,
    /// Each sign in the chart, as a class of the style, and its name.
    pub(crate) key: Vec<(String, String)>,
    /// The same chart for a screen and for a telephone: letters keep their size on both. Empty: only a table.
    pub(crate) wide: String,
    pub(crate) narrow: String,
    pub(crate) table: Option<Table>,
}

/// Rows of text under their headings.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Table {
    /// So long that it is folded away.
    pub(crate) long: bool,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// Tables with more rows than these are folded away.
const ROWS_SHOWN: usize = 12;

impl Table {
    pub(crate) fn new(columns: &[&str], rows: Vec<Vec<String>>) -> Table {
        let columns = columns.iter().map(|&name| name.to_owned()).collect();
        Table { long: rows.len() > ROWS_SHOWN, columns, rows }
    }
}

impl Figure {
    pub(crate) fn new(id: &'static str, title: &str, what: &str, chart: &Chart, table: Option<Table>) -> Figure {
        let curves = chart.key().into_iter().map(|(colour, name)| (format!("key c{colour}"), name));
        let signs = chart.signs().into_iter().map(|(sign, name)| (format!("sign {sign}"), name.to_owned()));
        let key = curves.chain(signs).collect();
        let (title, answer, what) = (title.to_owned(), String::new(), what.to_owned());
        Figure { id, title, answer, what, key, wide: chart.wide(), narrow: chart.narrow(), table }
    }

    pub(crate) fn of_table(id: &'static str, title: &str, what: &str, table: Table) -> Figure {
        let (title, answer, what) = (title.to_owned(), String::new(), what.to_owned());
        let (wide, narrow, table) = (String::new(), String::new(), Some(table));
        Figure { id, title, answer, what, key: Vec::new(), wide, narrow, table }
    }

    pub(crate) fn answering(self, answer: &str) -> Figure {
        let end = if answer.is_empty() { "" } else { "." };
        Figure { answer: capital(answer) + end, ..self }
    }
}

/// Text that begins with one of our words, as a sentence begins.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str()).unwrap_or_default()
}

/// The words that a page has whatever it is about.
pub(crate) fn frame(title: String, words: &[String], started: SystemTime, machine: &Machine) -> Page {
    let since = started.duration_since(UNIX_EPOCH).unwrap_or_default();
    let when = u64::try_from(since.as_millis()).ok().and_then(super::units::time_of_ms).unwrap_or_default();
    Page {
        title,
        headline: String::new(),
        when,
        warnings: Vec::new(),
        summary: Vec::new(),
        figures: Vec::new(),
        facts: vec![("The machine".to_owned(), device::machine(machine))],
        report: String::new(),
        command: shell_line(["haul"].into_iter().chain(words.iter().map(String::as_str))),
        version: env!("CARGO_PKG_VERSION"),
        style: colours::style() + include_str!("style.css"),
    }
}

/// The page as HTML.
pub(crate) fn render(page: Page) -> String {
    let mut templates = Environment::new();
    templates.set_auto_escape_callback(|_| AutoEscape::Html);
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    templates.set_syntax(syntax.expect("the delimiters are the usual ones"));
    templates.add_template("page", include_str!("page.html")).expect("the template is part of the program and parses");
    let template = templates.get_template("page").expect("it was added above");
    let body = template.render(Serde(page)).expect("each name in the template is a field of the page");
    format!("{MARK}{body}\n")
}

/// Text with the colours of terminals taken out.
pub(crate) fn bare(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string().replace('\u{fdd0}', " ")
}

#[cfg(test)]
pub(crate) mod read_off;
#[cfg(test)]
mod tests;
