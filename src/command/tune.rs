//! `haul tune`.
use super::copy::host_of;
use super::signals::{Running, Signals};
use super::{Exit, failed, page, printed, saved};
use crate::contract::{Cache, Endpoint, Extent, Facts, Op, Result, Side, Stop};
use crate::measure::{self, Effort, Failure, Subject, Tuned, Way};
use crate::plan::{MEASURED_IN_FLIGHT_BYTES, Measuring, TableStyle, TuneOptions};
use crate::report::json::TuneFound;
use crate::report::measuring::{Look, TuneTeller, tune_charts, tune_csv, tune_text};
use crate::report::page::{self as pages, Measured};
use crate::report::{Out, json, text};
use crate::{endpoint, plan, probe};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// As long as people wait without going away.
const TIME: Duration = Duration::from_secs(60);

/// Opening and probing come on top, and it is to be over in 10 s.
const QUICK_TIME: Duration = Duration::from_secs(8);

/// `words` is the command line behind the program's name.
pub(super) fn tune(options: &TuneOptions, words: &[String], out: Out) -> Result<Exit> {
    let (signals, started) = (Signals::watch(out)?, SystemTime::now());
    let facts = probe::source(&options.path)?;
    let page = page::place(options.report.as_deref(), &[(Side::Source, &facts)])?;
    let plan = plan::measure(&facts, options.engine, &host_of(options.engine))?;
    plan.warnings.iter().for_each(|warning| out.tell(&text::warning(warning)));
    let mut subject = subject(&plan, &facts)?;
    let stop = now_measuring(&signals, &subject);

    let (effort, time) = if options.quick { (Effort::Quick, QUICK_TIME) } else { (Effort::Full, TIME) };
    let time = options.time.unwrap_or(time);
    let mut teller = TuneTeller::start(options.style, &facts, Op::Read, time, out);
    let ways: Vec<Way> = subject.ways.iter().map(|(way, _)| *way).collect();
    let least = subject.align_bytes.try_into().unwrap_or(u32::MAX);
    let points = measure::grid(&ways, least, subject.in_flight_bytes_max(), effort);
    let tuned = measure::tune(&mut subject, points, time, &stop, &mut teller);
    teller.finish();
    signals.now_done();

    let mut warnings = plan.warnings;
    let doubts = doubts(&tuned, &facts);
    doubts.iter().for_each(|doubt| out.tell(&text::warning(doubt)));
    warnings.extend(doubts);
    let printed = match options.style {
        TableStyle::Text => {
            let charts = tune_charts(&tuned, Look::of_output(out.columns()));
            printed(out, &(charts + &tune_text(&tuned, &subject.bad, subject.failed)))
        }
        TableStyle::Csv => printed(out, &tune_csv(&tuned)),
        TableStyle::Json => {
            let (engine, bad, failed) = (plan.engine, &subject.bad, subject.failed);
            let (facts, warnings) = (&facts, &warnings);
            let found = TuneFound { words, facts, op: Op::Read, engine, tuned: &tuned, bad, failed, warnings };
            printed(out, &json::text(&json::tune(found)))
        }
    };
    let printed = match page {
        Some(paged) => {
            let told = &tune_text(&tuned, &subject.bad, subject.failed);
            let (facts, machine, warnings) = (&facts, &probe::machine(), &warnings);
            let html = pages::tune(&tuned, Measured { facts, machine, words, started, warnings, told });
            paged.write(&html, false, printed, out)
        }
        None => printed,
    };
    let kept = keep(options, &facts, &tuned, out);
    let exit = exit(tuned.failure, tuned.answer.is_some(), printed, out);
    // What was measured is printed by now, whatever becomes of the keeping.
    kept.map(|()| exit)
}

/// Keeps the answer where that was asked for: of a whole sweep only.
fn keep(options: &TuneOptions, facts: &Facts, tuned: &Tuned, out: Out) -> Result<()> {
    if let (true, Some(answer), None) = (options.save, &tuned.answer, &tuned.failure) {
        let place = saved::keep(facts, Op::Read, answer)?;
        out.tell(&text::kept(&place));
    }
    Ok(())
}

/// How the process ends after measuring that ended so.
pub(super) fn exit(failure: Option<Failure>, found: bool, printed: Exit, out: Out) -> Exit {
    match failure {
        Some(Failure::Stopped(signal)) => Exit::Signal(signal),
        Some(Failure::Broken(error)) => failed(out, &error),
        None if !found => Exit::Status(1),
        None => printed,
    }
}

/// Opens what is to be measured by every way that the plan has.
pub(super) fn subject(plan: &Measuring, facts: &Facts) -> Result<Subject> {
    let open = |(cache, side): &(Cache, _)| {
        let way = if *cache == Cache::Direct { Way::Direct } else { Way::Buffered };
        endpoint::open_source(side, facts).map(|end| (way, end))
    };
    let ways: Vec<(Way, Arc<dyn Endpoint>)> = plan.ways.iter().map(open).collect::<Result<_>>()?;
    let whole = vec![Extent::new(0, plan.size)];
    Subject::new(&facts.address, ways, plan.engine, whole, MEASURED_IN_FLIGHT_BYTES).map_err(|error| {
        crate::contract::Error::new(crate::contract::Kind::Io, "no memory for the blocks to measure with")
            .because(error)
    })
}

/// From now on a signal stops the measuring.
pub(super) fn now_measuring(signals: &Signals, subject: &Subject) -> Arc<Stop> {
    let stop = Arc::new(Stop::default());
    if let [(_, first), .., (_, last)] | [(_, first @ last)] = subject.ways.as_slice() {
        signals.now_running(Running { stop: stop.clone(), ends: [first.clone(), last.clone()], progress: None });
    }
    stop
}

/// Figures that cannot be those of the disk.
fn doubts(tuned: &Tuned, facts: &Facts) -> Vec<String> {
    let mut doubts = Vec::new();
    let best = tuned.answer.as_ref().map_or(0.0, |answer| answer.best_bytes_per_s);
    if let Some((most, what)) = plan::ceiling(facts).filter(|(most, _)| best > *most as f64) {
        doubts.push(text::above_the_link(best as u64, most, what));
    }
    if tuned.sweep.entries().iter().any(|entry| entry.was_cached()) {
        doubts.push(format!(
            "the page cache held some of {} before: figures of buffered I/O are those of memory",
            facts.address
        ));
    }
    doubts
}
