//! Outcomes and measurements as one self-contained HTML page: without scripts, fonts or other files.
//!
//! `copy` and `measured` fill in the page; `chart` draws curves; the template is rendered by minijinja, which
//! escapes all text. This room does not depend on how anything was measured, nor on the page's path.
pub(crate) mod axis;
mod blocks;
pub(crate) mod chart;
mod colours;
mod copy;
pub(crate) mod device;
mod fleet;
mod labels;
pub(crate) mod latency;
mod map;
mod rates;
mod rescue;
mod strips;

#[cfg(feature = "internals")]
pub use axis::{Axis, Quantity};
pub use chart::Chart;
#[cfg(feature = "internals")]
pub use chart::{Curve, Shape};
#[cfg(feature = "internals")]
pub use colours::style;
pub use copy::{CopyFound, copy};
pub use fleet::{FleetFound, fleet};
pub use rescue::{RescueFound, rescue};

use super::columns::untied;
use super::printable::shell_line;
use crate::core::Machine;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;
use std::time::{SystemTime, UNIX_EPOCH};

/// The start of each haul page: only a file that begins with it may be replaced by another page.
pub const MARK: &str = "<!DOCTYPE html>\n<!-- a report of haul -->\n";

/// The contents of a page.
#[derive(Debug, Serialize)]
pub(crate) struct Page {
    pub(crate) title: String,
    /// The result, in one sentence.
    pub(crate) headline: String,
    /// The start time, in UTC.
    pub(crate) when: String,
    /// What the reader must know first: it failed, it was interrupted.
    pub(crate) warnings: Vec<String>,
    /// The most important names and values.
    pub(crate) summary: Vec<(String, String)>,
    pub(crate) figures: Vec<Figure>,
    /// Names and values under headings: the sides, the machine.
    pub(crate) facts: Vec<(String, Vec<(String, String)>)>,
    /// The complete output on a terminal; empty: everything is above.
    pub(crate) report: String,
    /// The command line, as given.
    pub(crate) command: String,
    pub(crate) version: &'static str,
    pub(crate) style: String,
}

/// A chart with a table of its values.
#[derive(Debug, Serialize)]
pub(crate) struct Figure {
    /// Its id for links and for programs.
    pub(crate) id: &'static str,
    pub(crate) title: String,
    /// The conclusion, in a sentence; empty if the headline states it.
    pub(crate) answer: String,
    /// What the chart shows, and how to read it.
    pub(crate) what: String,
    /// Each sign in the chart, as a CSS class, and its name.
    pub(crate) key: Vec<(String, String)>,
    /// The same chart for wide and for narrow screens, with text of the same size. Empty: only a table.
    pub(crate) wide: String,
    pub(crate) narrow: String,
    pub(crate) table: Option<Table>,
}

/// Rows of text under their headings.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Table {
    /// Whether it is folded because it is long.
    pub(crate) long: bool,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// Tables with more rows are folded.
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

/// The text with a capital letter, as at the start of a sentence.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str()).unwrap_or_default()
}

/// The parts that every page has.
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

/// The text without ANSI colours.
pub(crate) fn bare(text: &str) -> String {
    untied(&anstream::adapter::strip_str(text).to_string())
}

#[cfg(test)]
pub(crate) mod read_off;
#[cfg(test)]
mod tests;
