//! `haul profile --random`.
use super::{json as found_json, page};
use crate::apps::exit::{Exit, failed};
use crate::apps::measuring::measured::{MeasuredDisk, in_the_cache};
use crate::apps::measuring::plan::{self, ProfileOptions, RandomOptions, TableStyle};
use crate::apps::measuring::report::{random_csv, random_text};
use crate::core::Result;
use crate::measure::{self, MeasureFailure};
use crate::report::{Out, json};

/// Reads at random offsets, and reports the latencies.
pub(crate) fn random(
    options: &ProfileOptions,
    random: &RandomOptions,
    mut opened: MeasuredDisk<'_>,
    out: Out,
) -> Result<Exit> {
    let memory_bytes = opened.subject.in_flight_bytes_max();
    let seed = fastrand::u64(..);
    let reads = plan::random_reads(random, &opened.facts, &opened.plan, memory_bytes, options.time, seed)?;
    let found = match measure::random(&mut opened.subject, &reads, &opened.stop) {
        Ok(found) => found,
        Err(MeasureFailure::Stopped(signal)) => return Ok(Exit::Signal(signal)),
        Err(MeasureFailure::Broken(error)) => return Ok(failed(out, &error)),
    };
    opened.measured();
    let cached = found.cached.then(|| in_the_cache(&opened.facts));
    opened.doubt(cached);
    let run = opened.run();
    let shown_text = random_text(&run, &reads, &found);
    let text = match options.style {
        TableStyle::Text => shown_text.clone(),
        TableStyle::Csv => random_csv(&found),
        TableStyle::Json => json::text(&found_json::random(&run, &reads, &found)),
    };
    let printed = opened.print(&text, &shown_text, |measured| page::random(&reads, &found, measured));
    Ok(opened.exit(found.failure, found.requests > 0, printed))
}
