//! `haul tune`.
use super::{json as found_json, page, plan};
use crate::apps::exit::Exit;
use crate::apps::measuring::measured::{MeasureTask, MeasuredDisk, in_the_cache};
use crate::apps::measuring::plan::{KEPT_BYTES_MAX, TableStyle, TuneOptions, WriteScope};
use crate::apps::measuring::report::{ChartStyle, TuneReporter, tune_charts, tune_csv, tune_table, tune_text};
use crate::apps::measuring::scratch;
use crate::core::{EndpointKind, Error, Facts, Kind, Result};
use crate::disks::probe;
use crate::job::{saved, undo};
use crate::measure::{self, Effort, Tuned, Way};
use crate::report::{Out, json, text};
use crate::sys::is_utf8;
use std::time::Duration;

/// Default duration.
const TIME: Duration = Duration::from_secs(60);

/// Opening and probing take additional time; all should end within 10 s.
const QUICK_TIME: Duration = Duration::from_secs(8);

/// Enough extents to cover more than one zone, each long enough for all relevant block sizes.
const REACH: WriteScope =
    WriteScope { places: 4, kept_bytes: KEPT_BYTES_MAX, file_bytes: KEPT_BYTES_MAX, filled: true };

/// The same with --quick: an amount that a stick restores in a few seconds.
const QUICK_REACH: WriteScope = WriteScope { places: 2, kept_bytes: QUICK_BYTES, file_bytes: QUICK_BYTES, ..REACH };
/// See [`QUICK_REACH`].
const QUICK_BYTES: u64 = 32 << 20;

/// Minimum part of [`QUICK_TIME`] for measuring, even if saving takes long.
const QUICK_TIME_MIN: Duration = Duration::from_secs(3);

/// Time for restoring, relative to saving: restoring reads what saving read, and writes it in pieces. The
/// factor is that of a modelled USB stick.
const PUTTING_BACK: u32 = 7;

/// Runs the command. `words` is the command line without the program's name.
pub(crate) fn tune(options: &TuneOptions, words: &[String], out: Out) -> Result<Exit> {
    let asked = MeasureTask {
        path: &options.path,
        engine: options.engine,
        report: options.report.as_deref(),
        style: options.style,
        words,
        label: options.label.as_deref(),
    };
    if options.restore {
        return restore(&options.path, out);
    }
    let mut time = options.time.unwrap_or(if options.quick { QUICK_TIME } else { TIME });
    // Without --time, the limit of --quick includes saving and restoring.
    let in_all = options.quick && options.time.is_none();
    let mut opened = match &options.write {
        None => MeasuredDisk::new(asked, out)?,
        Some(write) => {
            let (reach, before) = if in_all { (QUICK_REACH, time / 2) } else { (REACH, time) };
            match MeasuredDisk::to_write(asked, write, reach, before, out)? {
                Ok(opened) => opened,
                Err(signal) => return Ok(Exit::Signal(signal)),
            }
        }
    };
    if in_all {
        let besides = opened.kept_in * (1 + if opened.keeps() { PUTTING_BACK } else { 0 });
        time = time.saturating_sub(besides).max(QUICK_TIME_MIN);
    }
    let tuned = sweep(options, &mut opened, time, out);
    let doubts = doubts(&tuned, &opened.facts);
    opened.doubt(doubts);
    let run = opened.run();
    let shown_text = tune_text(&run, &tuned);
    let text = match options.style {
        TableStyle::Text => {
            tune_table(&tuned) + &tune_charts(&tuned, ChartStyle::of_output(out.columns(), is_utf8())) + &shown_text
        }
        TableStyle::Csv => tune_csv(&tuned),
        TableStyle::Json => json::text(&found_json::tune(&run, &tuned)),
    };
    let printed = opened.print(&text, &shown_text, |measured| page::tune(&tuned, measured));
    let kept = keep(options, &opened, &tuned, out);
    let exit = opened.exit(tuned.failure, tuned.answer.is_some(), printed);
    // The results have been printed, even if saving them fails.
    kept.map(|()| exit)
}

/// Restores the data that an interrupted run overwrote on the device.
fn restore(path: &str, out: Out) -> Result<Exit> {
    let device = probe::dest(path)?;
    if device.kind != EndpointKind::Block {
        let what = if device.exists { format!("{path} is not a device") } else { format!("{path} does not exist") };
        let advice = "Name the device that was measured.";
        return Err(Error::new(Kind::Usage, format!("--restore: {what}")).advise(advice));
    }
    let messages = match undo::put_back_earlier(&device)? {
        Some(done) => text::put_back_earlier(path, done.kept_bytes, done.written_bytes),
        None => text::nothing_to_put_back(path),
    };
    out.eprint(&text::info(&messages));
    Ok(Exit::Status(0))
}

fn sweep(options: &TuneOptions, opened: &mut MeasuredDisk<'_>, time: Duration, out: Out) -> Tuned {
    let effort = if options.quick { Effort::Quick } else { Effort::Full };
    let mut reporter = TuneReporter::start(options.style, &opened.facts, opened.op(), time, out);
    opened.subject.extents = scratch::merged(&opened.subject.extents);
    let subject = &mut opened.subject;
    let ways: Vec<Way> = subject.ways.iter().map(|(way, _)| *way).collect();
    let least = subject.align_bytes.try_into().unwrap_or(u32::MAX);
    let points = measure::grid(&ways, least, subject.in_flight_bytes_max(), effort);
    let tuned = measure::tune(subject, points, time, &opened.stop, &mut reporter);
    reporter.finish();
    opened.measured();
    tuned
}

/// Saves the answer if requested, but only that of a complete sweep.
fn keep(options: &TuneOptions, opened: &MeasuredDisk<'_>, tuned: &Tuned, out: Out) -> Result<()> {
    if let (true, Some(answer), None) = (options.save, &tuned.answer, &tuned.failure) {
        let place = saved::keep(&opened.facts, opened.op(), answer)?;
        out.eprint(&text::kept(&place, opened.op()));
    }
    Ok(())
}

/// Warnings about results that cannot be those of the disk.
fn doubts(tuned: &Tuned, facts: &Facts) -> Vec<String> {
    let mut doubts = Vec::new();
    let best = tuned.answer.as_ref().map_or(0.0, |answer| answer.best_bytes_per_s);
    if let Some((most, what)) = plan::ceiling(facts).filter(|(most, _)| best > *most as f64) {
        doubts.push(text::above_the_link(best as u64, most, what));
    }
    if tuned.sweep.entries().iter().any(|entry| entry.was_cached()) {
        doubts.push(in_the_cache(facts));
    }
    doubts
}
