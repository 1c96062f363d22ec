//! The parts that all pages about measurements have.
use crate::core::{Facts, Machine, Op};
use crate::report::page::{Page, bare, capital, device, frame};
use crate::report::units;
use std::time::SystemTime;

/// The data of every page about a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// The measured disk or file.
    pub facts: &'a Facts,
    /// Reading or writing.
    pub op: Op,
    /// The machine.
    pub machine: &'a Machine,
    /// The command line without the program's name.
    pub words: &'a [String],
    /// The start of the measurement.
    pub started: SystemTime,
    /// Reasons to doubt the results.
    pub warnings: &'a [String],
    /// The answer as printed on a terminal.
    pub shown_text: &'a str,
}

pub(crate) fn page(verb: &str, measured: Measured<'_>) -> Page {
    let Measured { facts, op, machine, words, started, warnings, shown_text } = measured;
    let mut page = frame(
        format!("haul {verb}{}: {}", if op == Op::Read { "" } else { " --write" }, facts.address),
        words,
        started,
        machine,
    );
    page.warnings = warnings.to_vec();
    page.report = bare(shown_text).trim().to_owned();
    page.facts.insert(0, ("What was measured".to_owned(), device::side(facts)));
    page
}

pub(crate) fn rate(bytes_per_s: f64) -> String {
    units::rate_at_a_glance(bytes_per_s.round() as u64)
}

/// Rows of a report as names and values, without empty ones.
pub(crate) fn rows(rows: Vec<(&'static str, String)>) -> Vec<(String, String)> {
    let reported = rows.into_iter().filter(|(_, words)| !words.is_empty());
    // The name of a program keeps its case.
    let named = |name: &str| if name == "dd" { name.to_owned() } else { capital(name) };
    reported.map(|(name, words)| (named(name), bare(&words))).collect()
}

/// The note that the measurement ended early.
pub(crate) const PARTIAL: &str = "The measurement ended early: results so far.";
