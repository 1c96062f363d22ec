//! `haul profile`.
use super::read_buffer::read_buffer;
use super::{json as found_json, page, plan};
use crate::apps::exit::{Exit, printed};
use crate::apps::measuring::measured::{MeasureTask, MeasuredDisk, in_the_cache};
use crate::apps::measuring::plan::{KEPT_BYTES_MAX, Measuring, ProfileOptions, TableStyle, TimingFrom, WriteScope};
use crate::apps::measuring::random::random;
use crate::apps::measuring::report::{ChartStyle, Meter, profile_charts, profile_csv, profile_text, timing_text};
use crate::apps::measuring::sustained::sustained;
use crate::apps::measuring::system_impact;
use crate::cli::words::POSITIONS;
use crate::core::{Error, Facts, Kind, Op, Result, Transfers};
use crate::disks;
use crate::measure::{self, Profiled, Subject, Way};
use crate::report::{Out, json, text};
use crate::sys::is_utf8;
use std::time::{Duration, Instant};

/// Enough for twenty positions of a rotational disk.
const TIME: Duration = Duration::from_secs(30);

/// As in hdparm -t.
const TIMING: (u32, Duration) = (3, Duration::from_secs(3));

/// Minimum number of bytes after the start for a timing, in bytes.
const TIMING_BYTES_MIN: u64 = 1 << 20;

/// Runs the command. `words` is the command line without the program's name.
pub(crate) fn profile(options: &ProfileOptions, words: &[String], out: Out) -> Result<Exit> {
    let asked = MeasureTask {
        path: &options.path,
        engine: options.engine,
        report: options.report.as_deref(),
        style: options.style,
        words,
        label: options.label.as_deref(),
    };
    if let (Some(write), Some(bytes)) = (&options.write, options.sustained_bytes) {
        return sustained(options, write, bytes, asked, out);
    }
    let positions = options.positions.unwrap_or(POSITIONS);
    let mut opened = match &options.write {
        None => MeasuredDisk::new(asked, out)?,
        Some(write) => {
            let reach =
                WriteScope { places: positions, kept_bytes: KEPT_BYTES_MAX, file_bytes: KEPT_BYTES_MAX, filled: true };
            match MeasuredDisk::to_write(asked, write, reach, options.time.unwrap_or(TIME), out)? {
                Ok(opened) => opened,
                Err(signal) => return Ok(Exit::Signal(signal)),
            }
        }
    };
    if let Some(reads) = &options.random {
        return random(options, reads, opened, out);
    }
    if options.timing {
        let from = timed_from(options.from, &opened.facts)?;
        return Ok(timing(options, from, opened, out));
    }
    if let Some(reads) = &options.read_buffer {
        return read_buffer(options, reads, opened, out);
    }
    let found = all_parts(options, &mut opened, positions, out);
    let doubt = doubt(&found, &opened.facts);
    opened.doubt(doubt);
    let run = opened.run();
    let shown_text = profile_text(&run, &found, "");
    let text = match options.style {
        TableStyle::Text => {
            let charts = profile_charts(run.facts, &found, ChartStyle::of_output(out.columns(), is_utf8()));
            profile_text(&run, &found, &charts)
        }
        TableStyle::Csv => profile_csv(&found),
        TableStyle::Json => json::text(&found_json::profile(&run, &found)),
    };
    let printed = opened.print(&text, &shown_text, |measured| page::profile(&found, measured));
    let any = !found.positions.is_empty();
    Ok(opened.exit(found.failure, any, printed))
}

fn all_parts(options: &ProfileOptions, opened: &mut MeasuredDisk<'_>, positions: u32, out: Out) -> Profiled {
    let op = opened.op();
    if op == Op::Read {
        let left_out = by_node(&opened.plan, &opened.facts, &mut opened.subject);
        let address = opened.facts.address.clone();
        opened.doubt(left_out.iter().map(|failure| format!("one read method of {address} is omitted: {failure}")));
    }
    let subject = &mut opened.subject;
    let through_cache = subject.ways.iter().find(|(way, _)| *way == Way::Buffered).map(|(_, end)| end.clone());
    let mapped = through_cache.and_then(disks::mapped);
    // A mapping can only be read.
    subject.ways.extend(mapped.filter(|_| op == Op::Read).map(|end| (Way::Mapped, end)));
    let whole_time = options.time.unwrap_or(TIME);
    // The system impact of writing is not measured.
    let whole = if op == Op::Read { 1.0 - system_impact::SHARE } else { 1.0 };
    let time = whole_time.mul_f64(whole);
    let (began, meter) = (Instant::now(), Meter::start(out));
    let on_progress = |share: f64, doing: &'static str| {
        meter.moved(share, Some(whole_time.saturating_sub(began.elapsed())), doing);
    };
    let (facts, stop) = (&opened.facts, &opened.stop);
    let mut found =
        measure::profile(subject, positions, time, stop, &mut |share, doing| on_progress(share * whole, doing));
    if found.failure.is_none() && op == Op::Read {
        let mut on_progress = |share: f64| on_progress(whole + share * system_impact::SHARE, "system impact");
        system_impact::look(facts, subject, whole_time, stop, &mut found, &mut on_progress);
    }
    meter.finish();
    opened.measured();
    found
}

/// Opens a disk at its node in the additional modes; returns the errors of those that are not available.
fn by_node(plan: &Measuring, facts: &Facts, subject: &mut Subject) -> Vec<Error> {
    let mut failed = Vec::new();
    for (transfers, side) in plan::ways_by_node(plan, facts) {
        let way = if transfers == Transfers::Shared { Way::Mapped } else { Way::Indirect };
        match disks::open_source(&side, facts) {
            Ok(end) => subject.ways.push((way, end)),
            Err(error) => failed.push(error),
        }
    }
    failed
}

/// The offset at which reading begins.
///
/// # Errors
/// Usage for an offset beyond the end.
fn timed_from(from: TimingFrom, facts: &Facts) -> Result<u64> {
    let size = facts.size.unwrap_or(0);
    let from = match from {
        TimingFrom::Byte(byte) => byte,
        TimingFrom::Place(number) => measure::numbered_place(number, POSITIONS, size).unwrap_or(0),
    };
    if from + TIMING_BYTES_MIN > size {
        let what = format!("--offset {from}: {} has {size} bytes, too few after that offset to measure", facts.address);
        let advice = format!("Give at most {}.", size.saturating_sub(TIMING_BYTES_MIN));
        return Err(Error::new(Kind::Usage, what).advise(advice));
    }
    Ok(from)
}

/// Prints one line, like hdparm.
fn timing(options: &ProfileOptions, from: u64, mut opened: MeasuredDisk<'_>, out: Out) -> Exit {
    let each = options.time.unwrap_or(TIMING.1);
    let timed = measure::timing(&mut opened.subject, from, TIMING.0, each, &opened.stop);
    opened.measured();
    let cached = timed.cached.then(|| in_the_cache(&opened.facts));
    opened.doubt(cached);
    let run = opened.run();
    let text = match options.style {
        TableStyle::Text => timing_text(run.facts, from, &timed, each),
        TableStyle::Csv => timed.rates.iter().fold("run,bytes_per_s\n".to_owned(), |text, rate| {
            let run = text.lines().count();
            format!("{text}{run},{rate:.0}\n")
        }),
        TableStyle::Json => json::text(&found_json::timing(&run, from, &timed, each)),
    };
    if options.style == TableStyle::Text {
        opened.print_failed_places();
    }
    let (any, printed) = (!timed.rates.is_empty(), printed(out, &text));
    opened.exit(timed.failure, any, printed)
}

/// A warning about results that cannot be those of the disk.
fn doubt(found: &Profiled, facts: &Facts) -> Option<String> {
    let best = found.positions.iter().map(|position| position.zone.bytes_per_s).fold(0.0, f64::max);
    let (most, what) = plan::ceiling(facts).filter(|(most, _)| best > *most as f64)?;
    Some(text::above_the_link(best as u64, most, what))
}
