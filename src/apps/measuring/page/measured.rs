//! What every page of something measured has.
use crate::core::{Facts, Machine, Op};
use crate::report::page::{Page, bare, capital, device, frame};
use crate::report::units;
use std::time::SystemTime;

/// What every page of something measured is made of.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// What was measured.
    pub facts: &'a Facts,
    /// Reading or writing.
    pub op: Op,
    /// Where.
    pub machine: &'a Machine,
    /// The command line behind the program's name.
    pub words: &'a [String],
    /// When it began.
    pub started: SystemTime,
    /// What makes the figures doubtful.
    pub warnings: &'a [String],
    /// What a terminal showed of the answer.
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

/// Rows of a report as names and values; what is empty is left out.
pub(crate) fn rows(rows: Vec<(&'static str, String)>) -> Vec<(String, String)> {
    let told = rows.into_iter().filter(|(_, words)| !words.is_empty());
    // The name of a program stays what it is.
    let named = |name: &str| if name == "dd" { name.to_owned() } else { capital(name) };
    told.map(|(name, words)| (named(name), bare(&words))).collect()
}

/// That measuring ended before its time.
pub(crate) const PARTIAL: &str = "The measurement ended early: results so far.";
