//! Text in columns that fits the terminal: labels at the left, words wrapped beside them.

/// Reports are made for this many columns; no log or mail is narrower.
pub(crate) const WIDTH: usize = 80;

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
    let indent = columns(label) + 2;
    let mut lines = String::new();
    for (index, line) in wrap(text, WIDTH.saturating_sub(indent)).iter().enumerate() {
        let start = if index == 0 { format!("{label}  ") } else { " ".repeat(indent) };
        lines += (start + line).trim_end();
        lines.push('\n');
    }
    lines
}

/// The text as lines of at most `width` columns, broken at spaces; newlines in it are kept, words longer than a line
/// (paths, digests) are not broken, so that they can be copied. A space that must not break is `\u{a0}`; it comes out
/// as a plain one.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        let mut line = String::new();
        for word in paragraph.split(' ').filter(|word| !word.is_empty()) {
            if !line.is_empty() && columns(&line) + 1 + columns(word) > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line += word;
        }
        lines.push(line);
    }
    lines.into_iter().map(|line| line.replace('\u{a0}', " ")).collect()
}

/// The text with its spaces made unbreakable for [`wrap`].
pub(crate) fn whole(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// Filled up with spaces to `width` columns.
pub(crate) fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

/// Columns that the text takes, escape sequences not counted. One a character: what we print ourselves is no wider,
/// and the wide letters of some file name may cost a line break, nothing more.
pub(crate) fn columns(text: &str) -> usize {
    anstream::adapter::strip_str(text).to_string().chars().count()
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
        assert_eq!(wrap("a bbbbbbbb c", 4), ["a", "bbbbbbbb", "c"]);
    }

    #[test]
    fn what_belongs_together_stays_together() {
        assert_eq!(wrap(&format!("aaaa {}", whole("4 min")), 8), ["aaaa", "4 min"]);
    }
}
