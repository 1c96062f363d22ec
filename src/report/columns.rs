//! Formats text in columns that fit the terminal: labels on the left, wrapped text beside them.
use crate::core::terminal_columns;
use textwrap::{Options, WordSeparator, WordSplitter};

/// A space at which lines are not broken. It is printed as a plain space. It is not a character of any
/// language: paths may contain U+00A0, which must be preserved.
pub(crate) const TIE: char = '\u{fdd0}';

/// Width of the text on a terminal in columns, without escape sequences.
pub(crate) use textwrap::core::display_width as columns;

/// Width of reports without a terminal, in columns; logs and mail are at least as wide.
const WIDTH: usize = 80;
/// Minimum width for readable text, in columns; on narrower terminals lines are too long instead.
const WIDTH_MIN: usize = 24;

/// Width of a report: that of the terminal, or 80 columns.
pub(crate) fn width() -> usize {
    terminal_columns().map_or(WIDTH, |columns| columns.max(WIDTH_MIN))
}

/// Rows of a label and a text; the text is wrapped and indented after the label.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    rows: Vec<(String, String)>,
}

impl Columns {
    /// Adds a row; one without text is omitted.
    pub(crate) fn row(&mut self, label: &str, text: impl Into<String>) {
        let text = text.into();
        if !text.is_empty() {
            self.rows.push((label.to_owned(), text));
        }
    }

    /// The rows as lines, each with a newline; labels are padded to the widest.
    pub(crate) fn lines(&self) -> String {
        let label_width = self.rows.iter().map(|(label, _)| columns(label)).max().unwrap_or(0);
        let mut lines = String::new();
        for (label, text) in &self.rows {
            lines += &beside(&pad(label, label_width), text);
        }
        lines
    }
}

/// The text wrapped after `label` and two spaces, with the same indentation on further lines; each line has a
/// newline.
pub(crate) fn beside(label: &str, text: &str) -> String {
    wrap(&format!("{label}  "), &" ".repeat(columns(label) + 2), text, width())
}

/// The text wrapped to the width of a report; each line has a newline.
pub(crate) fn paragraph(text: &str) -> String {
    wrap("", "", text, width())
}

/// A message on one line, so that logs can be searched for it; on a terminal wrapped to its width.
pub(crate) fn message(first: &str, further: &str, text: &str) -> String {
    match terminal_columns() {
        Some(_) => wrap(first, further, text, width()),
        None => untied(&format!("{first}{text}\n")),
    }
}

/// The text as lines of at most `width` columns, each with a newline, the first after `first` and the others
/// after `further`. Newlines in it are kept; words longer than a line (paths, digests) are not broken, so that
/// they can be copied. Lines are not broken at a [`TIE`], which is printed as a plain space.
pub(crate) fn wrap(first: &str, further: &str, text: &str, width: usize) -> String {
    let options = Options::new(width).initial_indent(first).subsequent_indent(further).break_words(false);
    let options = options.word_separator(WordSeparator::AsciiSpace).word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).iter().map(|line| untied(line.trim_end_matches(' ')) + "\n").collect()
}

/// The text with spaces at which [`wrap`] does not break lines.
pub(crate) fn whole(text: &str) -> String {
    text.replace(' ', &TIE.to_string())
}

/// The text with each [`TIE`] replaced by a plain space, as it is printed.
pub(crate) fn untied(text: &str) -> String {
    text.replace(TIE, " ")
}

/// The cells of a table side by side, separated by a space: as many as fit the width of a report minus `room`
/// columns, because a line that the terminal wraps is no longer a row. The first cells are the most important.
pub(crate) fn cells(cells: &[String], room: usize) -> String {
    let mut row = String::new();
    for cell in cells {
        if !row.is_empty() && columns(&row) + 1 + columns(cell) + room > width() {
            break;
        }
        row += if row.is_empty() { "" } else { " " };
        row += cell;
    }
    row
}

/// Padded with spaces to `width` columns.
pub(crate) fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_wraps_after_its_label() {
        let mut table = Columns::default();
        table.row("a", "one ".repeat(30));
        table.row("long label", "two");
        table.row("left out", "");
        let text = table.lines();
        assert!(text.lines().all(|line| columns(line) <= WIDTH));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines[0].starts_with("a           one one"));
        assert!(lines[1].starts_with("            one"));
        assert_eq!(lines[2], "long label  two");
    }

    #[test]
    fn a_word_longer_than_the_line_is_kept_whole() {
        assert_eq!(wrap("", "", "a bbbbbbbb c", 4), "a\nbbbbbbbb\nc\n");
    }

    #[test]
    fn words_joined_by_no_break_spaces_are_not_separated() {
        assert_eq!(wrap("", "", &format!("aaaa {}", whole("4 min")), 8), "aaaa\n4 min\n");
    }

    #[test]
    fn a_path_with_any_kind_of_spaces_is_printed_unchanged() {
        for path in ["a\u{a0}b", "a\u{a0}", "\u{a0}", "a b\u{2003}c\u{3000}"] {
            assert_eq!(wrap("", "", &whole(path), 80), format!("{path}\n"));
            assert_eq!(beside("a", &whole(path)), format!("a  {path}\n"));
        }
    }

    #[test]
    fn a_wide_letter_takes_two_columns() {
        assert_eq!(pad("備份", 6), "備份  ");
        assert_eq!(wrap("", "", "備份 備份", 8), "備份\n備份\n");
    }
}
