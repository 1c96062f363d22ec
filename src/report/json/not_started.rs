use super::{FailureReport, SCHEMA, object};
use crate::core::{Durability, Error, Kind};
use serde::Serialize;

/// A field that has no value, for there is no outcome.
const NOTHING: Option<()> = None;
/// A list that is empty for the same reason.
const NONE: [(); 0] = [];

/// Why there is no outcome to be reported.
#[derive(Clone, Copy, Debug)]
pub enum NotStarted<'a> {
    /// It was refused, or something failed.
    Failed(&'a Error),
    /// This signal came first.
    Interrupted(i32),
}

/// The report of a run that was refused or could not begin: it has all fields that an outcome has. `report` names the
/// command, `label` is what the user calls the run, `args` the command line as given, without the name of the program.
pub fn not_started(report: &str, label: Option<&str>, args: &[String], why: NotStarted<'_>) -> impl Serialize {
    let mut command = vec!["haul"];
    command.extend(args.iter().map(String::as_str));
    let (status, signal, error) = match why {
        NotStarted::Failed(error) if error.kind == Kind::Refused => ("refused", None, Some(FailureReport::from(error))),
        NotStarted::Failed(error) => ("failed", None, Some(FailureReport::from(error))),
        NotStarted::Interrupted(signal) => ("interrupted", Some(signal), None),
    };
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
        durable: false,
        durability: Durability::No.name(),
        len_bytes: NOTHING,
        claimed: NOTHING,
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
        notes: NONE,
        why: NONE,
        warnings: NONE,
    }
}

/// The report of any other command that failed before there was anything to tell. `report` names it, `args` is the
/// command line as given, without the name of the program.
pub fn failed(report: &str, args: &[String], error: &Error) -> impl Serialize {
    let mut command = vec!["haul"];
    command.extend(args.iter().map(String::as_str));
    let status = if error.kind == Kind::Refused { "refused" } else { "failed" };
    let error = FailureReport::from(error);
    object! { schema: SCHEMA, report, version: env!("CARGO_PKG_VERSION"), command, status, error }
}
