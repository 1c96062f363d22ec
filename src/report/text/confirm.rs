use super::side::{describe, identity};
use crate::core::{Extent, Facts, PendingCopy, Plan};
use crate::report::columns::{Columns, TIE, paragraph, whole};
use crate::report::pending;
use crate::report::printable::printable;
use crate::report::style::{DANGER, paint};
use crate::report::units;
use std::io::{self, BufRead, Read, Write};

/// Maximum length of an answer; longer ones cannot be `yes`.
const ANSWER_BYTES_MAX: u64 = 1024;

/// The question before a device is overwritten: both sides, their contents, and what will be lost.
pub fn confirm(plan: &Plan, source: &Facts, dest: &Facts) -> String {
    let erased = erased(plan, dest);
    let mut sides = Columns::default();
    sides.row("source", describe(source, None));
    let mut lines = describe(dest, erased);
    if dest.kind.is_fixed_size() {
        let first_end = lines.find('\n').unwrap_or(lines.len());
        lines.insert_str(first_end, &format!("{TIE} {}", whole(&paint(DANGER, "<- WILL BE ERASED"))));
    }
    sides.row("destination", lines);
    let mut text = sides.lines();
    text.push('\n');
    text += &paragraph(&consequence(plan, dest, erased));
    text + "Type \"yes\" to continue, anything else to stop: "
}

/// The question what to do with an unfinished copy; `what` describes it, as a clause.
pub fn waiting_copy(what: &str, can_resume: bool) -> String {
    let go_on = if can_resume { "\"continue\" to resume it, " } else { "" };
    let text = paragraph(&printable(&format!("{what}.")));
    format!("\n{text}Type {go_on}\"restart\" to discard it, anything else to stop: ")
}

/// The question before the journal of an unfinished copy is removed; `copy`: its contents, if it can be read.
pub fn remove_journal(copy: Option<&PendingCopy>, journal: &str) -> String {
    let shown = copy.map_or_else(|| paragraph(&printable(&format!("journal {journal} is damaged."))), pending::one);
    let consequence = paragraph("Without its journal this copy cannot be resumed. The copied data is not changed.");
    format!("{shown}\n{consequence}Type \"yes\" to remove the journal, anything else to stop: ")
}

/// The question before an upload is aborted.
pub fn abort_upload(object: &str, id: &str) -> String {
    let what = paragraph(&printable(&format!(
        "The upload {id} to {object} cannot be resumed when it is aborted. The object itself is not changed."
    )));
    format!("{what}Type \"yes\" to abort it, anything else to stop: ")
}

/// Asks and waits for a line. True only for `yes`, ignoring case; the end of the input counts as no.
///
/// # Errors
/// The error of reading the answer or writing the question.
pub fn ask(question: &str, input: &mut impl BufRead, out: &mut impl Write) -> io::Result<bool> {
    Ok(answer(question, input, out)? == "yes")
}

/// Asks and waits for a line. Returns the answer in lower case, trimmed; empty at the end of the input.
///
/// # Errors
/// As for [`ask`].
pub fn answer(question: &str, input: &mut impl BufRead, out: &mut impl Write) -> io::Result<String> {
    out.write_all(question.as_bytes())?;
    out.flush()?;
    let mut answer = Vec::new();
    input.by_ref().take(ANSWER_BYTES_MAX).read_until(b'\n', &mut answer)?;
    if !answer.ends_with(b"\n") {
        // At the end of the input, or without a newline in the answer, further output begins on a separate
        // line.
        out.write_all(b"\n")?;
    }
    Ok(String::from_utf8_lossy(answer.trim_ascii()).to_ascii_lowercase())
}

/// The part of the dest that will be overwritten; `None`: the end of a stream is unknown.
fn erased(plan: &Plan, dest: &Facts) -> Option<Extent> {
    let start = plan.dest.map.start();
    let len = plan.len.or_else(|| dest.size.map(|size| size.saturating_sub(start)))?;
    Some(plan.dest.map.hull(len.min(u64::MAX - start)))
}

fn consequence(plan: &Plan, dest: &Facts, erased: Option<Extent>) -> String {
    let name = printable(&plan.dest.path.to_string_lossy());
    let who = identity(dest).map(|who| format!(" ({who})")).unwrap_or_default();
    let size = dest.size.unwrap_or(u64::MAX);
    let what = match erased {
        Some(extent) if plan.dest.map.file().is_some() => {
            let list = plan.dest.map.name().unwrap_or_default();
            let list = printable(&list);
            let bytes = units::bytes(plan.len.unwrap_or(0));
            let (first, last) = (extent.offset, extent.end().saturating_sub(1));
            format!("{bytes} of {name}{who} in the {list}, between byte {first} and byte {last}")
        }
        _ if plan.len.is_none() => {
            format!("The data on {name}{who} from byte {} to the length of the source", plan.dest.map.start())
        }
        Some(extent) if extent.offset == 0 && extent.len >= size => format!("All data on {name}{who}"),
        Some(extent) if extent.offset == 0 => {
            format!("The first {} of {} on {name}{who}", units::bytes(extent.len), units::size(size))
        }
        Some(extent) => {
            let last = extent.end().saturating_sub(1);
            format!("{} of {name}{who}, byte {} to byte {last}", units::bytes(extent.len), extent.offset)
        }
        None => format!("The data on {name}{who}"),
    };
    format!("{what} will be overwritten and cannot be recovered.")
}
