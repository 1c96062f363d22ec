//! The tables of the old documents from which haul originates, measured again.
//!
//! Independent of how the beds are made, and how tables are shown.
mod copies;
mod direct;
mod lethargy;
mod reads;

use crate::bed::Size;
use crate::error::Result;
use crate::process::{Ended, Interrupt, Line, run};
use crate::race::Observer;
use crate::result::{Cell, Table};
use crate::workplace::Workplace;
use std::ops::Range;
use std::path::Path;

/// A table that can be made: its name, title, and function.
pub struct TableRecipe {
    /// Short name, as in `SCENARIO=`.
    pub name: &'static str,
    /// Title.
    pub title: &'static str,
    /// The document from which it comes, and its subject.
    pub what: &'static str,
    /// Makes it; an empty table after an interrupt.
    pub make: fn(&TableRecipe, &Call<'_>, &mut dyn Observer) -> Result<Table>,
}

/// The parameters of every table.
pub struct Call<'a> {
    /// The program to measure.
    pub haul: &'a Path,
    /// The directories for disks.
    pub workplace: &'a Workplace,
    /// The size.
    pub size: Size,
    /// Whether to end.
    pub interrupt: &'a Interrupt,
    /// Seeds and bytes of the copies in simulated time.
    pub simulated: (Range<u64>, u64),
}

/// Every table, in the order of the documents.
pub fn recipes() -> Vec<TableRecipe> {
    vec![
        reads::zones(),
        reads::whole_disk(),
        copies::recipe(),
        lethargy::recipe(),
        reads::block_sizes(),
        direct::recipe(),
    ]
}

impl Call<'_> {
    /// Runs a line; an error when it fails.
    pub(crate) fn run(&self, line: &Line) -> Result<Ended> {
        let ended = run(line, None, self.interrupt)?;
        if ended.status.success() {
            return Ok(ended);
        }
        Err(crate::error::Error(format!("`{}` failed: {}", line.text(), ended.how())))
    }

    /// A copy command of haul, with its quiet options.
    fn copy(&self) -> String {
        format!("{} copy --yes --progress none", self.haul.display())
    }

    /// A table of this recipe without rows.
    pub(crate) fn table(recipe: &TableRecipe, columns: &[&str]) -> Table {
        Table {
            name: recipe.name.into(),
            title: recipe.title.into(),
            what: recipe.what.into(),
            columns: columns.iter().map(|text| (*text).to_owned()).collect(),
            rows: Vec::new(),
            curves: Vec::new(),
        }
    }
}

pub(crate) fn text(text: impl Into<String>) -> Cell {
    Cell::Text(text.into())
}

pub(crate) fn number(value: f64, unit: &str) -> Cell {
    Cell::Number { value, unit: unit.into() }
}

/// Megabytes per second, as in the documents.
fn rate(bytes: u64, seconds: f64) -> Cell {
    number(bytes as f64 / 1e6 / seconds, "MB/s")
}

/// Share of one processor, as printed by time(1).
fn utilization(ended: &Ended) -> Cell {
    number(100.0 * ended.cpu.as_secs_f64() / ended.wall.as_secs_f64(), "%")
}
