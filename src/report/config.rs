//! The configured defaults, as text and as JSON.
use super::json::{SCHEMA, object};
use super::printable::printable;
use super::table::{Align, Heading, Table};
use serde::Serialize;
use std::path::Path;

/// A key with its value and the origin of that.
#[derive(Debug)]
pub struct Row {
    /// Its name in the file.
    pub key: &'static str,
    /// As written; empty for none.
    pub value: String,
    /// The environment variable of the key.
    pub variable: &'static str,
    /// `built-in`, `file` or `environment`.
    pub source: &'static str,
    /// The line, if it is from the file.
    pub line: Option<usize>,
}

/// The path of the file, and a line for each key.
pub fn human(file: Option<&Path>, rows: &[Row], width: Option<usize>) -> String {
    let heading = |name, align| Heading { name, align };
    let names = [("KEY", Align::Whole), ("VALUE", Align::Text), ("FROM", Align::Whole)];
    let mut table = Table::new(names.map(|(name, align)| heading(name, align)).into());
    for Row { key, value, variable, source, line } in rows {
        let from = match (*source, line) {
            ("environment", _) => format!("environment variable {variable}"),
            (_, Some(line)) => format!("configuration file, line {line}"),
            _ => "built in".to_owned(),
        };
        table.row(vec![(*key).to_owned(), printable(value), from]);
    }
    let place = match file {
        Some(path) if path.exists() => printable(&path.to_string_lossy()),
        Some(path) => format!("{} (does not exist)", printable(&path.to_string_lossy())),
        None => "none: neither XDG_CONFIG_HOME nor HOME is set".to_owned(),
    };
    format!("Configuration file: {place}\n\n{}", table.lines(width))
}

/// The same as JSON.
pub fn json(file: Option<&Path>, rows: &[Row]) -> impl Serialize {
    let value = |row: &Row| {
        let Row { key, variable, source, line, .. } = *row;
        let value = Some(row.value.clone()).filter(|value| !value.is_empty());
        object! { key, value, variable, source, line }
    };
    object! {
        schema: SCHEMA,
        report: "config",
        file: file.map(|path| path.to_string_lossy().into_owned()),
        file_exists: file.is_some_and(Path::exists),
        values: rows.iter().map(value).collect::<Vec<_>>(),
    }
}
