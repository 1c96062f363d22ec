//! A table for terminals: a line for each row, even if its cells are long.
use super::columns::{columns, pad};

/// Spaces between two columns.
const GAP: usize = 2;
/// Minimum width of a truncated cell, so that it is recognizable; the line gets too long instead.
const CELL_COLUMNS_MIN: usize = 6;
/// The text of an empty cell, so that programs can count columns.
const NONE: &str = "-";

/// A column's heading, and the alignment of its cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heading {
    /// In capitals.
    pub(crate) name: &'static str,
    pub(crate) align: Align,
}

/// The alignment of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// A number: right-aligned, never truncated.
    Right,
    /// A word that is useless if truncated: a name, a path.
    Whole,
    /// Text, which is truncated if the line would be too long.
    Text,
}

/// Headings and rows.
#[derive(Debug, Default)]
pub(crate) struct Table {
    headings: Vec<Heading>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(headings: Vec<Heading>) -> Self {
        Table { headings, rows: Vec::new() }
    }

    /// Adds a row with a cell for each heading; an empty one is shown as `-`.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        let filled = |cell: String| if cell.is_empty() { NONE.to_owned() } else { cell };
        self.rows.push(cells.into_iter().map(filled).collect());
    }

    /// The table as lines of at most `width` columns; without a width no cell is truncated.
    pub(crate) fn lines(&self, width: Option<usize>) -> String {
        let widths = self.widths(width);
        let headings: Vec<String> = self.headings.iter().map(|heading| heading.name.to_owned()).collect();
        std::iter::once(&headings).chain(&self.rows).map(|row| self.line(row, &widths)).collect()
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let cell = |((text, heading), &width): ((&String, &Heading), &usize)| match heading.align {
            Align::Right => format!("{text:>width$}"),
            Align::Whole | Align::Text => pad(&cut(text, width), width),
        };
        let cells: Vec<String> = row.iter().zip(&self.headings).zip(widths).map(cell).collect();
        cells.join(&" ".repeat(GAP)).trim_end().to_owned() + "\n"
    }

    /// The width of each column: that of its widest cell, less for the widest texts if the line would be too
    /// long.
    fn widths(&self, width: Option<usize>) -> Vec<usize> {
        let natural = |(at, heading): (usize, &Heading)| {
            let cells = self.rows.iter().map(|row| columns(&row[at]));
            cells.chain([columns(heading.name)]).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = self.headings.iter().enumerate().map(natural).collect();
        let gaps = GAP * widths.len().saturating_sub(1);
        let Some(room) = width.map(|width| width.saturating_sub(gaps)) else { return widths };
        while widths.iter().sum::<usize>() > room {
            let texts = self.headings.iter().enumerate().filter(|(_, heading)| heading.align == Align::Text);
            let widest = texts.map(|(at, _)| at).max_by_key(|&at| widths[at]);
            match widest.filter(|&at| widths[at] > CELL_COLUMNS_MIN) {
                Some(at) => widths[at] -= 1,
                None => break,
            }
        }
        widths
    }
}

/// The text, or its beginning and an ellipsis if it does not fit.
fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut begun = String::new();
    for letter in text.chars() {
        begun.push(letter);
        if columns(&begun) + 1 > width {
            begun.pop();
            break;
        }
    }
    begun.trim_end().to_owned() + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[[&str; 3]]) -> Table {
        let heading = |name, align| Heading { name, align };
        let headings = [("NAME", Align::Whole), ("SIZE", Align::Right), ("WHAT", Align::Text)];
        let mut table = Table::new(headings.map(|(name, align)| heading(name, align)).into());
        rows.iter().for_each(|row| table.row(row.map(str::to_owned).into()));
        table
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let text = table(&[["a", "1 MB", "one"], ["bbbbb", "10 MB", ""]]).lines(None);
        assert_eq!(text, "NAME    SIZE  WHAT\na       1 MB  one\nbbbbb  10 MB  -\n");
    }

    #[test]
    fn text_is_truncated_at_the_line_width_and_names_are_not() {
        let table = table(&[["long-name", "10 MB", "text of several words"], ["b", "1 MB", "備份備份備份備份"]]);
        let text = table.lines(Some(30));
        assert_eq!(text, "NAME        SIZE  WHAT\nlong-name  10 MB  text of sev…\nb           1 MB  備份備份備…\n");
        assert!(table.lines(Some(10)).contains("long-name  10 MB  text…\n"), "{}", table.lines(Some(10)));
        assert!(table.lines(None).contains("text of several words\n"));
    }
}
