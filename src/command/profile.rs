//! `haul profile`.
use super::copy::host_of;
use super::signals::Signals;
use super::tune::{exit, now_measuring, subject};
use super::{Exit, lethargy, page, printed};
use crate::contract::{Error, Facts, Result, Side, Stop, Transfers};
use crate::measure::{self, Failure, Profiled, Subject, Way};
use crate::plan::{Measuring, ProfileOptions, TableStyle};
use crate::report::json::ProfileFound;
use crate::report::measuring::{Look, Meter, profile_charts, profile_csv, profile_text, timing_text};
use crate::report::page::{self as pages, Measured};
use crate::report::{Out, json, text};
use crate::{endpoint, plan, probe};
use std::time::{Duration, Instant, SystemTime};

/// Enough for twenty places of a disk that seeks.
const TIME: Duration = Duration::from_secs(30);

/// Places of the zone curve.
const POSITIONS: u32 = 20;

/// As hdparm -t has it.
const TIMING: (u32, Duration) = (3, Duration::from_secs(3));

/// `words` is the command line behind the program's name.
pub(super) fn profile(options: &ProfileOptions, words: &[String], out: Out) -> Result<Exit> {
    let (signals, started) = (Signals::watch(out)?, SystemTime::now());
    let facts = probe::source(&options.path)?;
    let page = page::place(options.report.as_deref(), &[(Side::Source, &facts)])?;
    let plan = plan::measure(&facts, options.engine, &host_of(options.engine))?;
    plan.warnings.iter().for_each(|warning| out.tell(&text::warning(warning)));
    let mut subject = subject(&plan, &facts)?;
    let stop = now_measuring(&signals, &subject);
    if options.timing {
        return Ok(timing(options, words, &facts, &mut subject, &stop, out));
    }

    let mut warnings = plan.warnings.clone();
    for failure in by_node(&plan, &facts, &mut subject) {
        let warning = format!("one way of reading {} is left out: {failure}", facts.address);
        out.tell(&text::warning(&warning));
        warnings.push(warning);
    }
    let through_cache = subject.ways.iter().find(|(way, _)| *way == Way::Buffered).map(|(_, end)| end.clone());
    let mapped = through_cache.and_then(endpoint::mapped);
    subject.ways.extend(mapped.map(|end| (Way::Mapped, end)));
    let whole_time = options.time.unwrap_or(TIME);
    let time = whole_time.mul_f64(1.0 - lethargy::SHARE);
    let (began, meter) = (Instant::now(), Meter::start(out));
    let heard = |share: f64, doing: &'static str| {
        meter.moved(share, Some(whole_time.saturating_sub(began.elapsed())), doing);
    };
    let positions = options.positions.unwrap_or(POSITIONS);
    let whole = 1.0 - lethargy::SHARE;
    let mut found =
        measure::profile(&mut subject, positions, time, &stop, &mut |share, doing| heard(share * whole, doing));
    if found.failure.is_none() {
        let mut heard = |share: f64| heard(whole + share * lethargy::SHARE, "the rest of the system");
        lethargy::look(&facts, &subject, whole_time, &stop, &mut found, &mut heard);
    }
    meter.finish();
    signals.now_done();
    if let Some(doubt) = doubt(&found, &facts) {
        out.tell(&text::warning(&doubt));
        warnings.push(doubt);
    }
    let (bad, failed) = (&subject.bad, subject.failed);
    let text = match options.style {
        TableStyle::Text => {
            let charts = profile_charts(&facts, &found, Look::of_output(out.columns()));
            profile_text(&facts, &found, bad, failed, &charts)
        }
        TableStyle::Csv => profile_csv(&found),
        TableStyle::Json => {
            let (facts, found, warnings) = (&facts, &found, &warnings);
            let engine = plan.engine;
            json::text(&json::profile(ProfileFound { words, facts, engine, found, bad, failed, warnings }))
        }
    };
    let mut printed = printed(out, &text);
    if let Some(paged) = page {
        let told = &profile_text(&facts, &found, bad, failed, "");
        let (facts, machine, warnings) = (&facts, &probe::machine(), &warnings);
        let html = pages::profile(&found, Measured { facts, machine, words, started, warnings, told });
        printed = paged.write(&html, false, printed, out);
    }
    let any = !found.zones.is_empty();
    Ok(exit(found.failure, any, printed, out))
}

/// Opens a disk at a node of its own by the further ways that it has; those that cannot be had.
fn by_node(plan: &Measuring, facts: &Facts, subject: &mut Subject) -> Vec<Error> {
    let mut failed = Vec::new();
    for (transfers, side) in plan::ways_by_node(plan, facts) {
        let way = if transfers == Transfers::Shared { Way::Mapped } else { Way::Indirect };
        match endpoint::open_source(&side, facts) {
            Ok(end) => subject.ways.push((way, end)),
            Err(error) => failed.push(error),
        }
    }
    failed
}

/// One line, as hdparm has it.
fn timing(
    options: &ProfileOptions,
    words: &[String],
    facts: &Facts,
    subject: &mut Subject,
    stop: &Stop,
    out: Out,
) -> Exit {
    let each = options.time.unwrap_or(TIMING.1);
    let rates = match measure::timing(subject, TIMING.0, each, stop) {
        Ok(rates) => rates,
        Err(failure) => return exit(Some(failure), false, Exit::Status(1), out),
    };
    let any = rates.iter().any(|&rate| rate > 0.0);
    let text = match options.style {
        TableStyle::Text => timing_text(facts, &rates, each),
        TableStyle::Csv => rates.iter().fold("run,bytes_per_s\n".to_owned(), |text, rate| {
            let run = text.lines().count();
            format!("{text}{run},{rate:.0}\n")
        }),
        TableStyle::Json => json::text(&json::timing(words, facts, &rates, each)),
    };
    exit(None::<Failure>, any, printed(out, &text), out)
}

/// Figures that cannot be those of the disk.
fn doubt(found: &Profiled, facts: &Facts) -> Option<String> {
    let best = found.zones.iter().map(|zone| zone.bytes_per_s).fold(0.0, f64::max);
    let (most, what) = plan::ceiling(facts).filter(|(most, _)| best > *most as f64)?;
    Some(text::above_the_link(best as u64, most, what))
}
