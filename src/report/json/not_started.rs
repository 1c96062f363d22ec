use super::{FailureReport, SCHEMA, command_line, object};
use crate::core::{Durability, Error, Kind};
use serde::Serialize;

/// The value of fields for which an outcome would be required.
const NOTHING: Option<()> = None;
/// The value of lists for the same reason.
const NONE: [(); 0] = [];

/// Why there is no outcome to report.
#[derive(Clone, Copy, Debug)]
pub enum NotStarted<'a> {
    /// It was refused, or failed.
    Failed(&'a Error),
    /// This signal arrived before.
    Interrupted(i32),
    /// An earlier run, or another worker, had done it.
    Done {
        /// How certain it is that its data survives.
        durability: Durability,
        /// Its bytes.
        len_bytes: u64,
        /// Who did it, and what to know of it.
        notes: &'a [String],
    },
}

impl NotStarted<'_> {
    /// The status, the signal, and the error.
    fn parts(self) -> (&'static str, Option<i32>, Option<FailureReport>) {
        match self {
            NotStarted::Failed(error) if error.kind == Kind::Refused => {
                ("refused", None, Some(FailureReport::from(error)))
            }
            NotStarted::Failed(error) => ("failed", None, Some(FailureReport::from(error))),
            NotStarted::Interrupted(signal) => ("interrupted", Some(signal), None),
            NotStarted::Done { .. } => ("complete", None, None),
        }
    }

    /// What is known of a copy that was done before: durability, length, notes.
    fn done(self) -> (Durability, Option<u64>, Vec<String>) {
        match self {
            NotStarted::Done { durability, len_bytes, notes } => (durability, Some(len_bytes), notes.to_vec()),
            _ => (Durability::No, None, Vec::new()),
        }
    }
}

/// The report of a run that was refused, could not begin, or had nothing to do: it has all fields of an outcome.
/// `report` is the command's name, `label` the user's label for the run, `args` the command line as given, without the
/// name of the program.
pub fn not_started(report: &str, label: Option<&str>, args: &[String], why: NotStarted<'_>) -> impl Serialize {
    let command = command_line(args);
    let (status, signal, error) = why.parts();
    let (durability, len_bytes, notes) = why.done();
    object! {
        schema: SCHEMA,
        report,
        version: env!("CARGO_PKG_VERSION"),
        command,
        label,
        started: NOTHING,
        status,
        signal,
        error,
        durable: durability == Durability::Medium,
        durability: durability.name(),
        len_bytes,
        claimed: NOTHING,
        remaining_bytes: len_bytes.map(|_| 0),
        differences: NOTHING,
        unread_sectors: 0,
        pattern: NOTHING,
        damage: NOTHING,
        dests: NONE,
        verified: NOTHING,
        memory_check: NOTHING,
        continue_command: NOTHING,
        manifest: NOTHING,
        bytes: NOTHING,
        journal: NOTHING,
        estimate: NOTHING,
        elapsed_s: NOTHING,
        flushing_s: NOTHING,
        rates: NOTHING,
        cpu: NOTHING,
        peak_resident_bytes: NOTHING,
        engine: NOTHING,
        engine_detail: NOTHING,
        blocks: NOTHING,
        source: NOTHING,
        dest: NOTHING,
        digest_waited_s: NOTHING,
        limit_waited_s: NOTHING,
        digests: NONE,
        notes,
        why: NONE,
        warnings: NONE,
    }
}

/// The report of any other command that had no results: of a measurement, a rescue, a list. `report` is its name,
/// `args` the command line as given, without the name of the program.
pub fn failed(report: &str, args: &[String], why: NotStarted<'_>) -> impl Serialize {
    let (command, (status, signal, error)) = (command_line(args), why.parts());
    object! {
        schema: SCHEMA,
        report,
        version: env!("CARGO_PKG_VERSION"),
        command,
        status,
        signal,
        error,
    }
}
