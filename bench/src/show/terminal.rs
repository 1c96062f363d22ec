//! Results as text for a terminal.
//!
//! Colour is always written; for output that is not a terminal, or to honour NO_COLOR, pass an `anstream` writer,
//! which removes it. No information depends on colour alone.
use super::columns::{COLUMNS, Column, Scale};
use super::points;
use super::words::{duration, figure, number, plain, rate, rounds, size};
use crate::claims::{self, Claim, Verdict};
use crate::numbers::{HAUL, Ranking, Summary, limit_s, ranking};
use crate::result::{BedResult, Cell as TableCell, ContenderResult, Limit, Machine, Results, Sweep, Table as Seeds};
use anstyle::{AnsiColor, Style};
use comfy_table::{Attribute, Cell, CellAlignment, Color, ColumnConstraint, ContentArrangement, LineStyle};
use comfy_table::{Table, TableStyle, Width};
use std::io::{self, Write};

const TITLE: Style = Style::new().bold();
const QUIET: Style = Style::new().dimmed();
const BAD: Style = AnsiColor::Red.on_default().bold();

/// Minimum width at which nothing is omitted, in columns.
const ROOMY_COLUMNS: usize = 100;

/// Writes `results` for a terminal of `width` columns: each bed with its limit, its table and its claims, then the
/// tables of the old documents, then what was missing.
///
/// # Errors
///
/// Those of `out`.
pub fn terminal(results: &Results, width: usize, out: &mut impl Write) -> io::Result<()> {
    machine(&results.machine, width, out)?;
    notes(results, width, out)?;
    for bed in &results.beds {
        one_bed(bed, results.machine.resident_floor_bytes, width, out)?;
    }
    for sweep in &results.sweeps {
        one_sweep(sweep, width, out)?;
    }
    for seeds in &results.tables {
        seeds_table(seeds, width, out)?;
    }
    if !results.beds.is_empty() {
        legend(width, out)?;
    }
    missing(results, width, out)
}

fn machine(machine: &Machine, width: usize, out: &mut impl Write) -> io::Result<()> {
    let Machine { kernel, processor, processors, memory_bytes, load_before, haul, .. } = machine;
    let memory = size(*memory_bytes);
    let facts = format!("{haul}; Linux {kernel}; {processors} x {processor}; {memory}; load before: {load_before:.2}");
    paragraph(&facts, 0, width, QUIET, out)
}

fn notes(results: &Results, width: usize, out: &mut impl Write) -> io::Result<()> {
    let measured = format!("Began {}, took {}.", plain(&results.started), duration(results.took_s));
    paragraph(&measured, 0, width, QUIET, out)?;
    let warnings = [
        (results.interrupted, "Interrupted: incomplete results."),
        (results.quick, "Quick: small sizes and few rounds, to check that everything works. Not for publication."),
    ];
    for (_, warning) in warnings.iter().filter(|(is, _)| *is) {
        paragraph(warning, 0, width, BAD, out)?;
    }
    Ok(())
}

fn one_bed(bed: &BedResult, resident_floor_bytes: u64, width: usize, out: &mut impl Write) -> io::Result<()> {
    let (title, name) = (plain(&bed.title), plain(&bed.name));
    writeln!(out, "\n{TITLE}{title}{TITLE:#} {QUIET}({name}, {}){QUIET:#}", rounds(bed.rounds))?;
    paragraph(&bed.what, 0, width, Style::new(), out)?;
    limits(bed, width, out)?;
    let ranking = ranking(bed);
    writeln!(out, "\n{}", contenders(&ranking, &Scale::of(bed, resident_floor_bytes), width))?;
    if !ranking.marked.is_empty() {
        paragraph("not ranked:", 2, width, QUIET, out)?;
    }
    for (contender, why) in &ranking.marked {
        paragraph(&format!("{}: {why}", contender.name), 2, width, BAD, out)?;
    }
    writeln!(out, "\n{}", claims_table(&claims::claims(bed), width))
}

fn limits(bed: &BedResult, width: usize, out: &mut impl Write) -> io::Result<()> {
    let Some(limit_s) = limit_s(bed) else {
        return paragraph("limit: none was found", 0, width, Style::new(), out);
    };
    let line =
        |limit: &Limit| format!("{} s, {} MB/s: {}", number(limit.seconds), rate(bed.bytes, limit.seconds), limit.what);
    let mut limits: Vec<&Limit> = bed.limits.iter().collect();
    limits.sort_by(|a, b| b.binding.cmp(&a.binding).then(b.seconds.total_cmp(&a.seconds)));
    for limit in limits {
        let (word, style) = match limit.binding {
            true if limit.seconds >= limit_s => ("limit", TITLE),
            true => ("bound", Style::new()),
            false => ("tried", QUIET),
        };
        paragraph(&format!("{word} {}", line(limit)), 0, width, style, out)?;
    }
    Ok(())
}

/// The table of those that copied correctly; those not compared below, under a separate heading.
fn contenders(ranking: &Ranking, scale: &Scale, width: usize) -> String {
    let columns: Vec<&Column> = COLUMNS.iter().filter(|column| column.stays || width >= ROOMY_COLUMNS).collect();
    let mut table = bare_table(width);
    let heading = columns.iter().map(|column| format!("{}\n{}", column.heading, column.unit));
    let heading = ["".into(), "contender".into()].into_iter().chain(heading);
    table.set_header(heading.map(|text| Cell::new(text).add_attribute(Attribute::Dim)));
    let row = |(contender, summary): &(&ContenderResult, Summary)| {
        let haul = contender.name == HAUL;
        let start = [if haul { ">" } else { "" }.into(), plain(&contender.name)];
        let cells = start.into_iter().chain(columns.iter().map(|column| (column.cell)(summary, scale)));
        cells.map(|text| style_of(Cell::new(text), haul, contender.aside)).collect::<Vec<_>>()
    };
    table.add_rows(ranking.ranked.iter().map(row));
    if !ranking.aside.is_empty() {
        table.add_row(["", "not compared:"].map(|text| Cell::new(text).add_attribute(Attribute::Dim)));
        table.add_rows(ranking.aside.iter().map(row));
    }
    let widths = table.column_max_content_widths();
    let natural = widths.iter().map(|width| usize::from(*width) + 2).sum::<usize>() - 2;
    let gap = if natural <= width { 2 } else { 1 };
    for column in table.column_iter_mut().filter(|column| column.index != 1) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
    align(&mut table, gap, 2);
    if let Some(names) = table.column_mut(1) {
        names.set_padding((1, 0));
    }
    table.trim_fmt()
}

fn style_of(cell: Cell, haul: bool, aside: bool) -> Cell {
    match (haul, aside) {
        (true, _) => cell.fg(Color::DarkCyan).add_attribute(Attribute::Bold),
        (_, true) => cell.add_attribute(Attribute::Dim),
        _ => cell,
    }
}

fn colour(verdict: Verdict) -> Color {
    match verdict {
        Verdict::Holds => Color::DarkGreen,
        Verdict::FallsShort => Color::DarkRed,
        Verdict::Equal | Verdict::NotKnown => Color::DarkYellow,
    }
}

fn claims_table(claims: &[Claim], width: usize) -> String {
    let mut table = bare_table(width);
    for claim in claims {
        let text =
            if claim.note.is_empty() { claim.what.clone() } else { format!("{} ({})", claim.what, plain(&claim.note)) };
        let verdict = Cell::new(claim.verdict.words()).fg(colour(claim.verdict)).add_attribute(Attribute::Bold);
        table.add_row(vec![verdict, Cell::new(figure(claim)), Cell::new(text)]);
    }
    if let Some(verdicts) = table.column_mut(0) {
        verdicts.set_constraint(ColumnConstraint::UpperBoundary(Width::Fixed(12)));
    }
    text_of(table, usize::MAX)
}

fn one_sweep(sweep: &Sweep, width: usize, out: &mut impl Write) -> io::Result<()> {
    let (title, name) = (plain(&sweep.title), plain(&sweep.name));
    writeln!(out, "\n{TITLE}{title}{TITLE:#} {QUIET}({name}, {}){QUIET:#}", rounds(sweep.rounds))?;
    let what = format!("{} The ratio is the time of {} by haul's.", sweep.what, sweep.peer);
    paragraph(&what, 0, width, Style::new(), out)?;
    let mut table = bare_table(width);
    table.set_header(points::HEADINGS.map(|heading| Cell::new(heading).add_attribute(Attribute::Dim)));
    for point in &sweep.points {
        let (cells, verdict) = points::row(point);
        let cells = cells.map(|text| Cell::new(plain(&text)));
        table.add_row(if verdict == Verdict::Holds { cells } else { cells.map(|cell| cell.fg(colour(verdict))) });
    }
    align(&mut table, 2, 1);
    if let Some(words) = table.column_mut(points::HEADINGS.len() - 1) {
        words.set_cell_alignment(CellAlignment::Left);
    }
    writeln!(out, "\n{}", table.trim_fmt())?;
    writeln!(out, "\n{}", claims_table(&claims::of_sweep(sweep), width))
}

fn seeds_table(seeds: &Seeds, width: usize, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "\n{TITLE}{}{TITLE:#} {QUIET}({}){QUIET:#}", plain(&seeds.title), plain(&seeds.name))?;
    paragraph(&seeds.what, 0, width, Style::new(), out)?;
    let mut table = bare_table(width);
    table.set_header(seeds.columns.iter().map(|column| Cell::new(plain(column)).add_attribute(Attribute::Dim)));
    let cell = |cell: &TableCell| match cell {
        TableCell::Number { value, unit } => format!("{} {}", number(*value), plain(unit)),
        TableCell::Text(text) => plain(text),
    };
    table.add_rows(seeds.rows.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>()));
    writeln!(out, "\n{}", text_of(table, 1))
}

fn legend(width: usize, out: &mut impl Write) -> io::Result<()> {
    let mut table = bare_table(width);
    for column in COLUMNS.iter().filter(|column| column.stays || width >= ROOMY_COLUMNS) {
        table.add_row([column.heading, column.means].map(|text| Cell::new(text).add_attribute(Attribute::Dim)));
    }
    writeln!(out, "\n{}", text_of(table, usize::MAX))?;
    let left_out: Vec<&str> = COLUMNS.iter().filter(|column| !column.stays).map(|column| column.heading).collect();
    if width < ROOMY_COLUMNS {
        let hint = format!("Left out here: {}. From {ROOMY_COLUMNS} columns on they are shown.", left_out.join(", "));
        paragraph(&hint, 0, width, QUIET, out)?;
    }
    Ok(())
}

fn missing(results: &Results, width: usize, out: &mut impl Write) -> io::Result<()> {
    if results.missing.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{TITLE}Not measured, because not there{TITLE:#}")?;
    for missing in &results.missing {
        paragraph(&format!("{}: {}", missing.contender, missing.why), 2, width, Style::new(), out)?;
    }
    Ok(())
}

/// Wraps text into lines of at most `width` columns, each after `indent` blanks, by the crate that wraps cells.
fn paragraph(text: &str, indent: usize, width: usize, style: Style, out: &mut impl Write) -> io::Result<()> {
    let mut table = bare_table(width.saturating_sub(indent));
    table.add_row(vec![plain(text)]);
    for line in text_of(table, usize::MAX).lines() {
        writeln!(out, "{:indent$}{style}{line}{style:#}", "")?;
    }
    Ok(())
}

/// A table of at most `width` columns, without lines except below its heading.
fn bare_table(width: usize) -> Table {
    const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─'));
    let mut table = Table::new();
    table.load_style(STYLE).set_content_arrangement(ContentArrangement::Dynamic).enforce_styling().style_text_only();
    table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
    table
}

/// Puts `gap` blanks between columns, and right-aligns those from `right_from`.
fn align(table: &mut Table, gap: u16, right_from: usize) {
    for column in table.column_iter_mut() {
        column.set_padding((if column.index > 0 { gap } else { 0 }, 0));
        if column.index >= right_from {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// The table as text, with two blanks between columns, and columns from `right_from` right-aligned.
fn text_of(mut table: Table, right_from: usize) -> String {
    align(&mut table, 2, right_from);
    table.trim_fmt()
}
