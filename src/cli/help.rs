//! Texts of help and man pages beyond the options: written once, in text files, and formatted for both.
//!
//! A line `# TITLE` begins a section. A line with indented lines below it is a term with its explanation; if it begins
//! with `$ `, it is a command line. Other lines are paragraphs, with empty lines between them.
use crate::core::terminal_columns;
use minijinja::{Environment, Value};
use std::cell::Cell;
use std::fmt::Write;
use textwrap::{Options, WordSeparator, WordSplitter};

/// Formats of sizes.
pub(crate) const SIZES: &str = include_str!("help/sizes.txt");

/// Environment variables that all commands read.
pub(crate) const ENVIRONMENT: &str = include_str!("help/environment.txt");

/// The keys of the configuration file.
pub(crate) const CONFIGURATION: &str = include_str!("help/configuration.txt");

/// Files that haul writes or reads.
pub(crate) const FILES: &str = include_str!("help/files.txt");

/// The exit statuses of commands that write.
pub(crate) const EXIT_STATUS: &str = include_str!("help/exit-status.txt");

/// One section under a heading.
pub(crate) struct Section<'a> {
    pub(crate) title: &'a str,
    pub(crate) parts: Vec<Part<'a>>,
}

/// A piece of a section: a paragraph, or a term or command line with its description.
pub(crate) struct Part<'a> {
    /// The lines of a paragraph; one line for a term or a command line.
    pub(crate) head: Vec<&'a str>,
    /// The description of the head; empty for a paragraph.
    pub(crate) words: Vec<&'a str>,
}

/// Parses the sections in `text`.
pub(crate) fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections: Vec<Section> = Vec::new();
    let mut apart = true;
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("# ") {
            sections.push(Section { title, parts: Vec::new() });
            apart = true;
            continue;
        }
        let Some(Section { parts, .. }) = sections.last_mut() else { continue };
        match (line.strip_prefix("    "), parts.last_mut()) {
            _ if line.is_empty() => {}
            (Some(words), Some(part)) => part.words.push(words),
            // The next line of a paragraph.
            (None, Some(part)) if !apart && part.words.is_empty() => part.head.push(line),
            _ => parts.push(Part { head: vec![line], words: Vec::new() }),
        }
        apart = line.is_empty();
    }
    sections
}

/// Width of help text without a terminal, and its maximum, in columns.
const WIDTH: usize = 78;
/// Minimum width of help text, in columns.
const WIDTH_MIN: usize = 38;

/// Width of help text, in columns.
pub(crate) fn width() -> usize {
    terminal_columns().map_or(WIDTH, |columns| columns.saturating_sub(2).clamp(WIDTH_MIN, WIDTH))
}

/// Columns for a term that shares its line with its description.
const TERM_COLUMNS: usize = 18;

thread_local! {
    /// Whether texts are omitted, because nothing will print them.
    static OMITTED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `parse` without texts of help: formatting them takes more instructions than the rest of parsing.
pub(crate) fn omitted_while<T>(parse: impl FnOnce() -> T) -> T {
    OMITTED.set(true);
    let parsed = parse();
    OMITTED.set(false);
    parsed
}

/// Whether the caller is within [`omitted_while`].
pub(crate) fn is_omitted() -> bool {
    OMITTED.get()
}

/// The sections of `texts` as plain text; empty while help is omitted.
pub(crate) fn text(texts: &[&str]) -> String {
    let mut text = String::new();
    if is_omitted() {
        return text;
    }
    for section in sections(&texts.concat()) {
        text += section.title;
        for part in section.parts {
            let (head, words) = (part.head.join(" "), part.words.join(" "));
            let example = head.strip_prefix("$ ");
            text += "\n";
            text += &match (words.as_str(), example) {
                ("", _) => filled(&head, "  ", "  "),
                (_, None) if head.chars().count() < TERM_COLUMNS => {
                    filled(&words, &format!("  {head:TERM_COLUMNS$}"), &" ".repeat(2 + TERM_COLUMNS))
                }
                _ => format!("  {}\n{}", example.unwrap_or(&head), filled(&words, "      ", "      ")),
            };
        }
        text += "\n\n";
    }
    text.truncate(text.trim_end().len());
    text
}

fn filled(words: &str, first: &str, further: &str) -> String {
    let options = Options::new(width()).initial_indent(first).subsequent_indent(further);
    let options = options.word_separator(WordSeparator::AsciiSpace).word_splitter(WordSplitter::NoHyphenation);
    textwrap::fill(words, options.break_words(false))
}

/// The sections of `text` for a man page.
pub(crate) fn roff(text: &str) -> String {
    let mut page = String::new();
    for section in sections(text) {
        writeln!(page, ".SH \"{}\"", section.title).ok();
        for (at, part) in section.parts.iter().enumerate() {
            let (head, words) = (escape(&part.head.join(" ")), escape(&part.words.join(" ")));
            let paragraph = if at == 0 { "" } else { ".PP\n" };
            match (words.as_str(), head.strip_prefix("$ ")) {
                ("", _) => writeln!(page, "{paragraph}{head}"),
                (_, None) => writeln!(page, ".TP\n\\fB{head}\\fR\n{words}"),
                (_, Some(line)) => writeln!(page, "{paragraph}{words}\n.RS 4\n.nf\n\\fB{line}\\fR\n.fi\n.RE"),
            }
            .ok();
        }
    }
    page
}

/// `text` with characters escaped that are special to roff.
pub(crate) fn escape(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('…', "\\&...");
    match text.strip_prefix(['.', '\'']) {
        Some(_) => format!("\\&{text}"),
        None => text,
    }
}

/// Replaces the names in the template by their `values`.
pub(crate) fn fill(template: &str, values: Value) -> String {
    Environment::new().render_str(template, values).expect("a built-in template")
}
