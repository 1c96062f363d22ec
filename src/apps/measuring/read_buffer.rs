//! `haul profile --read-buffer`.
use super::json as found_json;
use crate::apps::exit::{Exit, printed};
use crate::apps::measuring::measured::MeasuredDisk;
use crate::apps::measuring::plan::{ProfileOptions, TableStyle};
use crate::apps::measuring::report::{Meter, read_buffer_csv, read_buffer_text};
use crate::core::{CommandSet, Error, Facts, Kind, Result};
use crate::measure::{self, BufferOptions, MeasureFailure, ReadBuffer};
use crate::report::{Out, json};
use std::time::{Duration, Instant};

/// Enough for three runs of a tenth of a second with each size and mode.
const TIME: Duration = Duration::from_secs(10);

/// Reads the disk's own buffer, and reports the latencies.
///
/// # Errors
/// The path is not that of a node that accepts SCSI commands.
pub(super) fn read_buffer(
    options: &ProfileOptions,
    buffer: &BufferOptions,
    mut opened: MeasuredDisk<'_>,
    out: Out,
) -> Result<Exit> {
    let time = options.time.unwrap_or(TIME);
    let (began, meter) = (Instant::now(), Meter::start(out));
    let mut on_progress = |share: f64| {
        meter.moved(share, Some(time.saturating_sub(began.elapsed())), "READ BUFFER");
    };
    let found = measure::read_buffer(&opened.subject, buffer, time, &opened.stop, &mut on_progress);
    meter.finish();
    let Some(found) = found else { return Err(no_commands(&opened.facts)) };
    opened.measured();
    let run = opened.run();
    let text = match options.style {
        TableStyle::Text => read_buffer_text(&run, buffer, &found),
        TableStyle::Csv => read_buffer_csv(&found),
        TableStyle::Json => json::text(&found_json::read_buffer(&run, buffer, &found)),
    };
    let (any, printed) = (!found.ways.is_empty(), printed(out, &text));
    let nothing = (!any).then(|| MeasureFailure::Broken(no_figures(&opened.facts, &found)));
    Ok(opened.exit(found.failure.or(nothing), any, printed))
}

fn no_commands(facts: &Facts) -> Error {
    let what = format!("cannot send READ BUFFER to {}: it needs a SCSI generic node", facts.address);
    let node = facts.passthrough.as_ref().filter(|node| node.commands == CommandSet::Scsi);
    let advice = match node {
        Some(node) => format!("Name its SCSI generic node, {}.", node.node.display()),
        None => "Name the SCSI generic node of a disk, such as /dev/sg0; see 'haul list'.".to_owned(),
    };
    Error::new(Kind::Usage, what).advise(advice)
}

fn no_figures(facts: &Facts, found: &ReadBuffer) -> Error {
    let why = found.refused.join("; ");
    let what = format!("cannot read the buffer of {}: {why}", facts.address);
    Error::new(Kind::Unsupported, what).advise("Use 'haul profile' without --read-buffer.")
}
