//! Text in columns that fits the terminal: labels at the left, words wrapped beside them.
use crate::core::terminal_columns;
use textwrap::{Options, WordSeparator, WordSplitter};

/// A space at which no line ends. It comes out as a plain one, and is no letter of any language: paths may hold U+00A0,
/// which has to come out as it is.
pub(crate) const TIE: char = '\u{fdd0}';

/// Columns that the text takes on a terminal, escape sequences not counted.
pub(crate) use textwrap::core::display_width as columns;

/// Reports off a terminal are made for this many columns; no log or mail is narrower.
const WIDTH: usize = 80;
/// Narrower than this nothing can be read; lines get longer than the terminal instead.
const WIDTH_MIN: usize = 24;

/// Columns of a report: those of the terminal, or 80.
pub(crate) fn width() -> usize {
    terminal_columns().map_or(WIDTH, |columns| columns.max(WIDTH_MIN))
}

/// Rows of a label and a text; the text is wrapped and indented behind the label.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    rows: Vec<(String, String)>,
}

impl Columns {
    /// Adds a row; one without text is left out.
    pub(crate) fn row(&mut self, label: &str, text: impl Into<String>) {
        let text = text.into();
        if !text.is_empty() {
            self.rows.push((label.to_owned(), text));
        }
    }

    /// The rows as lines, each ended; labels are as wide as the widest.
    pub(crate) fn lines(&self) -> String {
        let label_width = self.rows.iter().map(|(label, _)| columns(label)).max().unwrap_or(0);
        let mut lines = String::new();
        for (label, text) in &self.rows {
            lines += &beside(&pad(label, label_width), text);
        }
        lines
    }
}

/// The text wrapped behind `label` and two spaces, every further line indented as far; each line ended.
pub(crate) fn beside(label: &str, text: &str) -> String {
    wrap(&format!("{label}  "), &" ".repeat(columns(label) + 2), text, width())
}

/// The text wrapped to the width of a report; each line ended.
pub(crate) fn paragraph(text: &str) -> String {
    wrap("", "", text, width())
}

/// A message as one line, so that a log can be searched for it; on a terminal wrapped to its width.
pub(crate) fn message(first: &str, further: &str, text: &str) -> String {
    match terminal_columns() {
        Some(_) => wrap(first, further, text, width()),
        None => format!("{first}{text}\n").replace(TIE, " "),
    }
}

/// The text as lines of at most `width` columns, each ended, the first behind `first` and the others behind `further`.
/// Newlines in it are kept; words longer than a line (paths, digests) are not broken, so that they can be copied. A
/// space that must not break is a [`TIE`]; it comes out as a plain one.
pub(crate) fn wrap(first: &str, further: &str, text: &str, width: usize) -> String {
    let options = Options::new(width).initial_indent(first).subsequent_indent(further).break_words(false);
    let options = options.word_separator(WordSeparator::AsciiSpace).word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).iter().map(|line| line.trim_end_matches(' ').replace(TIE, " ") + "\n").collect()
}

/// The text with its spaces made unbreakable for [`wrap`].
pub(crate) fn whole(text: &str) -> String {
    text.replace(' ', &TIE.to_string())
}

/// The cells of a table side by side, one space between them: as many as fit the width of a report and leave `room`
/// columns, for a line that the terminal breaks is no row any more. The first cells say most.
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

/// Filled up with spaces to `width` columns.
pub(crate) fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_on_behind_their_label() {
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
    fn a_word_longer_than_the_line_is_not_broken() {
        assert_eq!(wrap("", "", "a bbbbbbbb c", 4), "a\nbbbbbbbb\nc\n");
    }

    #[test]
    fn what_belongs_together_stays_together() {
        assert_eq!(wrap("", "", &format!("aaaa {}", whole("4 min")), 8), "aaaa\n4 min\n");
    }

    #[test]
    fn a_path_with_spaces_of_any_kind_comes_out_as_it_is() {
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
