//! Charts of characters: columns over a quantity, and a row of small bars for each of several curves.
//!
//! A terminal gets block characters with a resolution of an eighth; without a terminal or colour the chart is
//! plain ASCII of the same width.
use super::whole;
use crate::report::style::{BEST, STRONG, paint};
use crate::report::units;
use anstream::{AutoStream, ColorChoice};
use std::io;

/// Maximum width of a chart, in columns.
const WIDTH_MAX: usize = 80;
/// Minimum width, in columns; in less space no chart is drawn.
const WIDTH_MIN: usize = 40;
/// Rows of a column chart.
const ROWS: usize = 6;
/// Maximum number of columns for one block size.
const CELL_MAX: usize = 4;

/// Block characters from an eighth to a whole.
const EIGHTHS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The same for terminals with ASCII only.
const THIRDS: [char; 3] = ['.', ':', '#'];

/// A bar with at least this share of the best rate is shown as equally good.
const AS_GOOD: f64 = 0.95;

/// The capabilities of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChartStyle {
    /// Available columns.
    pub columns: usize,
    /// Block characters and colours, else ASCII.
    pub blocks: bool,
}

impl ChartStyle {
    /// The style of standard output, which has `columns` columns and may use UTF-8. NO_COLOR selects ASCII; the
    /// font of the kernel's console has no such block characters, and a dumb terminal gets ASCII even if CI is
    /// set.
    pub fn of_output(columns: usize, utf8: bool) -> ChartStyle {
        let plain = std::env::var_os("TERM").is_some_and(|term| term == "linux" || term == "dumb");
        ChartStyle { columns, blocks: utf8 && !plain && AutoStream::choice(&io::stdout()) != ColorChoice::Never }
    }

    fn width(&self) -> Option<usize> {
        Some(self.columns.min(WIDTH_MAX)).filter(|&width| width >= WIDTH_MIN)
    }
}

/// A row of small bars, one for each block size; `None` if it was not measured.
#[derive(Clone, Debug)]
pub(crate) struct Bars {
    pub(crate) name: String,
    pub(crate) rates: Vec<Option<f64>>,
}

/// Rates over a quantity that goes from 0 to `end`, as columns that start at 0. `points` are sorted; `label`
/// names a position. Empty if there is not enough space, or fewer than two points.
pub(crate) fn columns(
    title: &str,
    points: &[(f64, f64)],
    end: f64,
    label: &dyn Fn(f64) -> String,
    look: ChartStyle,
) -> String {
    let best = points.iter().map(|point| point.1).fold(0.0, f64::max);
    let (Some(width), true) = (look.width(), points.len() > 1 && best > 0.0 && end > 0.0) else {
        return String::new();
    };
    let names: Vec<String> = (0..ROWS).map(|row| name_of_row(row, best)).collect();
    let name_width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let (tick, side, corner, floor) = if look.blocks { ("┤", "│", "└", "─") } else { ("+", "|", "+", "-") };
    let across = width - name_width - 2;
    let heights: Vec<f64> = (0..across).map(|column| height(points, end, column, across) / best).collect();
    let mut text = format!("{}\n", paint(STRONG, title));
    for (row, name) in names.iter().enumerate() {
        let above = (ROWS - 1 - row) as f64;
        let bar: String = heights.iter().map(|height| piece(height * ROWS as f64 - above, look)).collect();
        let side = if name.is_empty() { side } else { tick };
        text += format!("{name:>name_width$} {side}{bar}").trim_end();
        text.push('\n');
    }
    text += &format!("{:>name_width$} {corner}{}\n", "0", floor.repeat(across));
    text + &format!("{:name_width$}  {}\n", "", ends(across, &[0.0, end / 2.0, end], label))
}

/// The label of a row: the highest rate on the top row, half of it in the middle, 0 at the bottom.
fn name_of_row(row: usize, best: f64) -> String {
    match row {
        0 => units::rate_at_a_glance(whole(best)),
        row if row == ROWS / 2 => units::rate_at_a_glance(whole(best / 2.0)),
        _ => String::new(),
    }
}

/// The height of a column: the mean of its points, or the nearest point.
fn height(points: &[(f64, f64)], end: f64, column: usize, across: usize) -> f64 {
    let place = |column: usize| end * column as f64 / across as f64;
    let (from, to) = (place(column), place(column + 1));
    // The last column includes the end.
    let within = |at: f64| (from..to).contains(&at) || (column + 1 == across && at >= end);
    let inside: Vec<f64> = points.iter().filter(|point| within(point.0)).map(|point| point.1).collect();
    if !inside.is_empty() {
        return inside.iter().sum::<f64>() / inside.len() as f64;
    }
    let middle = (from + to) / 2.0;
    let nearest = points.iter().min_by(|one, other| (one.0 - middle).abs().total_cmp(&(other.0 - middle).abs()));
    nearest.map_or(0.0, |point| point.1)
}

/// The character of a cell that is filled by `part`, from 0 to 1.
fn piece(part: f64, look: ChartStyle) -> char {
    let letters: &[char] = if look.blocks { &EIGHTHS } else { &THIRDS };
    let filled = (part * letters.len() as f64).round();
    if filled < 1.0 { ' ' } else { letters[(filled as usize).min(letters.len()) - 1] }
}

/// Labels for three positions below the chart: at its left end, in the middle, and at its right end.
fn ends(across: usize, places: &[f64; 3], label: &dyn Fn(f64) -> String) -> String {
    let [left, middle, right] = places.map(label);
    let [left_len, middle_len, right_len] = [&left, &middle, &right].map(|text| text.chars().count());
    let at = (across / 2).saturating_sub(middle_len / 2);
    let fits = at > left_len && at + middle_len + right_len < across;
    let (middle, used) = if fits { (middle, at + middle_len) } else { (String::new(), left_len) };
    let gap = if fits { at - left_len } else { 0 };
    format!("{left}{}{middle}{}{right}", " ".repeat(gap), " ".repeat(across.saturating_sub(used + right_len)))
}

/// A row of small bars for each of `rows`, over the same block sizes; all are relative to the best rate. Empty
/// if there is not enough space, or nothing to compare.
pub(crate) fn rows(title: &str, head: &str, blocks: &[u64], rows: &[Bars], look: ChartStyle) -> String {
    let best = rows.iter().flat_map(|row| row.rates.iter().flatten()).copied().fold(0.0, f64::max);
    let (Some(width), true) = (look.width(), blocks.len() > 1 && best > 0.0) else { return String::new() };
    let bests: Vec<String> = rows.iter().map(best_of).collect();
    let name_width = rows.iter().map(|row| row.name.chars().count()).fold(head.chars().count(), usize::max);
    let best_width = bests.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    let cell = (width.saturating_sub(name_width + best_width + 4) / blocks.len()).min(CELL_MAX);
    if cell == 0 {
        return String::new();
    }
    let mut text = format!("{}\n", paint(STRONG, title));
    let across = cell * blocks.len();
    text += &format!("{head:>name_width$}  {:across$}  {:>best_width$}\n", "", "best");
    for (row, best_here) in rows.iter().zip(&bests) {
        let bars: String = row.rates.iter().map(|&rate| bar(rate, best, cell, look)).collect();
        text += &format!("{:>name_width$}  {bars}  {best_here:>best_width$}\n", row.name);
    }
    text += &format!("{:name_width$}  {}\n", "", sizes(blocks, cell));
    let (as_good, rest) = match look.blocks {
        true => (paint(BEST, "█"), ""),
        false if width == WIDTH_MAX => ("#".to_owned(), "; 0-9: tenths of it"),
        false => ("#".to_owned(), ""),
    };
    text + &format!("{as_good}: 95 % of {} or more{rest}\n", units::rate_at_a_glance(whole(best)))
}

fn best_of(row: &Bars) -> String {
    let best = row.rates.iter().flatten().copied().reduce(f64::max);
    best.map(|rate| units::rate_at_a_glance(whole(rate))).unwrap_or_default()
}

/// A bar of `rate` relative to `best`. Bars about as good as the best are distinguished by colour, or by
/// character.
fn bar(rate: Option<f64>, best: f64, cell: usize, look: ChartStyle) -> String {
    let Some(rate) = rate else { return " ".repeat(cell) };
    let (share, as_good) = (rate / best, rate / best >= AS_GOOD);
    if !look.blocks {
        let tenths = (share * 10.0) as u32;
        return if as_good { "#".to_owned() } else { tenths.min(9).to_string() }.repeat(cell);
    }
    let eighths = (share * EIGHTHS.len() as f64).ceil() as usize;
    let letters = EIGHTHS[eighths.clamp(1, EIGHTHS.len()) - 1].to_string().repeat(cell);
    if as_good { paint(BEST, &letters) } else { letters }
}

/// Labels for block sizes below their bars, as many as fit, evenly spaced.
fn sizes(blocks: &[u64], cell: usize) -> String {
    let names: Vec<String> = blocks.iter().map(|&bytes| units::block(bytes).replace(" bytes", " B")).collect();
    let widest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let step = (widest + 1).div_ceil(cell);
    let mut line = String::new();
    for (index, name) in names.iter().enumerate().step_by(step) {
        let here = line.chars().count();
        line += &format!("{}{name}", " ".repeat((index * cell).saturating_sub(here)));
    }
    // The last label may extend to the right, below the column of best rates.
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(columns: usize, blocks: bool) -> ChartStyle {
        ChartStyle { columns, blocks }
    }

    fn bare(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    /// A disk of 1 TB whose rate falls from 200 to 100 MB/s, with a slow position at three quarters.
    fn zones(look: ChartStyle) -> String {
        let rate = |number: u32| if number == 15 { 20e6 } else { 200e6 - 5e6 * f64::from(number) };
        let points: Vec<(f64, f64)> = (0..20).map(|number| (25e9 + 50e9 * f64::from(number), rate(number))).collect();
        columns("rate by position", &points, 1e12, &|at| format!("{:.0} GB", at / 1e9), look)
    }

    /// 512 bytes to 64 MiB at depths 1 and 8, reaching 100 MB/s at 1 MiB and 128 KiB; 64 MiB × 8 was not
    /// measured.
    fn sweep(look: ChartStyle) -> String {
        let blocks: Vec<u64> = (9..=26).map(|power| 1 << power).collect();
        let row = |depth: u64| {
            let rate = |&bytes: &u64| {
                (bytes * depth < 512 << 20).then_some(1e8 * ((bytes * depth) as f64 / 1048576.0).min(1.0))
            };
            Bars { name: depth.to_string(), rates: blocks.iter().map(rate).collect() }
        };
        rows("rate by block size, direct", "depth", &blocks, &[row(1), row(8)], look)
    }

    #[test]
    fn zones_as_columns_at_eighty_and_forty_columns_and_in_ascii() {
        let charts = [look(200, true), look(40, true), look(80, false)].map(zones);
        insta::assert_snapshot!(bare(&charts.join("\n")));
    }

    #[test]
    fn a_sweep_as_rows_at_eighty_and_forty_columns_and_in_ascii() {
        let charts = [look(200, true), look(40, true), look(80, false)].map(sweep);
        insta::assert_snapshot!(bare(&charts.join("\n")));
    }

    #[test]
    fn no_line_exceeds_the_width_or_ends_in_blanks() {
        for columns in 40..=80 {
            for blocks in [true, false] {
                let text = bare(&(zones(look(columns, blocks)) + &sweep(look(columns, blocks))));
                for line in text.lines() {
                    assert!(line.chars().count() <= columns, "{columns}: {line:?}");
                    assert_eq!(line, line.trim_end(), "{columns}");
                }
                assert!(blocks || text.is_ascii(), "{text}");
            }
        }
    }

    #[test]
    fn no_chart_is_drawn_without_room_or_data() {
        let label = |_: f64| String::new();
        assert_eq!(zones(look(39, true)) + &sweep(look(39, true)), "");
        for points in [&[][..], &[(1.0, 1.0)], &[(1.0, 0.0), (2.0, 0.0)]] {
            assert_eq!(columns("", points, 9.0, &label, look(80, true)), "");
        }
        let empty = Bars { name: "1".to_owned(), rates: vec![None, None] };
        assert_eq!(rows("", "", &[1, 2], &[empty], look(80, true)), "");
    }

    #[test]
    fn only_values_as_good_as_the_best_have_its_colour() {
        let whole = |share: f64| bar(Some(share), 1.0, 1, look(80, true));
        assert_eq!([whole(1.0), whole(0.95)], [paint(BEST, "█"), paint(BEST, "█")]);
        assert_eq!([whole(0.94), whole(0.5), whole(0.0)], ["█", "▄", "▁"]);
        assert_eq!(bar(None, 1.0, 3, look(80, true)), "   ");
    }

    #[test]
    fn a_column_shows_its_own_or_the_nearest_value() {
        let points = [(10.0, 4.0), (11.0, 2.0), (90.0, 8.0)];
        let heights: Vec<f64> = (0..5).map(|column| height(&points, 100.0, column, 5)).collect();
        assert_eq!(heights, [3.0, 2.0, 2.0, 8.0, 8.0]);
        assert_eq!(height(&[(90.0, 8.0), (100.0, 2.0)], 100.0, 4, 5), 5.0);
    }
}
