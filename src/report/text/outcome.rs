use super::ending::{claimed, headline, journal};
use super::estimate::estimated;
use super::rest::Rest;
use super::{damage, dests, differences, memory_check, short, unread, verified};
use crate::core::{
    Decision, Ended, EndpointKind, EngineKind, Latency, Outcome, PatternAct, Plan, PlanNotes, Route, Side, Totals,
    side_and_part,
};
use crate::plan::Verbosity;
use crate::report::columns::{Columns, TIE, beside, paragraph, whole, width, wrap};
use crate::report::printable::{printable, shell_line};
use crate::report::style::{CARE, STRONG, paint};
use crate::report::units;
use std::time::Duration;

const GIB: f64 = (1u64 << 30) as f64;

/// The final report: errors, then as much as `verbosity` requests, then how to continue an incomplete copy;
/// empty for a successful copy with --quiet. `args` is the command line as given, without the name of the
/// program.
pub fn outcome(decision: &Decision, outcome: &Outcome, args: &[String], verbosity: Verbosity) -> String {
    let Decision { plan, notes } = decision;
    let as_it_should_be = matches!(outcome.ended, Ended::Complete) && !outcome.is_wrong() && !outcome.is_unread();
    let mut text = match &outcome.ended {
        _ if verbosity == Verbosity::Quiet && as_it_should_be => return String::new(),
        Ended::Failed(error) => super::error(error) + "\n",
        _ => String::new(),
    };
    text += &match verbosity {
        Verbosity::Quiet | Verbosity::Short => short::lines(plan, outcome),
        Verbosity::Full | Verbosity::Everything => full(decision, outcome),
    };
    if verbosity == Verbosity::Everything {
        text += &super::plan::reasons(&notes.why);
    }
    // Fallbacks that only cost time are listed only in the full report.
    let fallbacks: &[String] =
        if matches!(verbosity, Verbosity::Full | Verbosity::Everything) { &outcome.fallbacks } else { &[] };
    for note in outcome.notes.iter().chain(fallbacks) {
        text += &beside(&paint(CARE, "note:"), &printable(note));
    }
    if let Some(found) = &outcome.damage {
        text += &damage::conclusion(plan, found);
    }
    text += &damage::how_to_check(plan, outcome, args);
    text += &dests::next_steps(plan, outcome, args);
    text + &next_steps(plan, outcome, args)
}

/// The result on one line, then all measurements.
fn full(Decision { plan, notes }: &Decision, outcome: &Outcome) -> String {
    let mut text = wrap(&format!("{} ", paint(STRONG, "haul:")), "      ", &headline(plan, outcome), width());
    let mut rows = Columns::default();
    rows.row("label", notes.label.as_deref().map(printable).unwrap_or_default());
    rows.row("source", side(plan, Side::Source));
    match plan.dests.is_empty() {
        true => rows.row("destination", side(plan, Side::Dest)),
        false => dests::rows(plan, outcome, &mut rows),
    }
    rows.row("pattern", damage::pattern(plan));
    if !matches!(outcome.ended, Ended::Complete) {
        rows.row(if plan.route.writes() { "copied" } else { "compared" }, claimed(plan, outcome));
    }
    if let Some(differences) = &outcome.differences {
        differences::rows(plan, differences, &mut rows);
    }
    unread::rows(plan, outcome, &mut rows);
    if let Some(found) = &outcome.damage {
        damage::rows(found, &mut rows);
    }
    if let Some(found) = &outcome.verified {
        verified::rows(plan, found, &mut rows);
    }
    rows.row("checked", memory_check::row(plan, outcome));
    rows.row("manifest", outcome.manifest.as_deref().map(printable).unwrap_or_default());
    rows.row("bytes", bytes(plan, &outcome.totals));
    rows.row("journal", journal(outcome));
    rows.row("time", time(outcome));
    rows.row("estimate", estimated(outcome));
    rows.row("rate", rate(outcome));
    rows.row("cpu", cpu(outcome));
    rows.row("memory", format!("peak RSS {}", whole(&units::size(outcome.usage.peak_resident_bytes))));
    rows.row("engine", engine(notes, outcome));
    rows.row("auto-tune", super::pace::pace(outcome));
    rows.row("trials", super::pace::tried(outcome));
    rows.row("bottleneck", bottleneck(outcome));
    let [reads, writes] = match (plan.pattern.map(|used| used.act), plan.route) {
        (Some(PatternAct::Write), _) => ["generation", "writes"],
        (Some(PatternAct::Check), _) => ["reads", "checking"],
        (None, Route::Copy | Route::Delta { .. }) => ["reads", "writes"],
        (None, Route::Compare { .. } | Route::ReadBack) => ["SRC reads", "DST reads"],
    };
    rows.row(reads, requests(plan, outcome, Side::Source));
    rows.row(writes, requests(plan, outcome, Side::Dest));
    rows.row("page cache", page_cache(outcome));
    text += &rows.lines();
    text
}

fn side(plan: &Plan, side: Side) -> String {
    let side = plan.side(side);
    if side.kind == EndpointKind::Pattern {
        return side.kind.name().to_owned();
    }
    let (address, path) = (printable(&side.address), printable(&side.path.to_string_lossy()));
    let name = if address == path { address } else { format!("{address} → {path}") };
    let start = match (side.map.name(), side.map.start()) {
        (Some(list), _) => format!(", {}", printable(&list)),
        (None, 0) => String::new(),
        (None, start) => format!(" from byte {start}"),
    };
    let access = match side.kind {
        _ if side.through.is_some() => ", passthrough".to_owned(),
        EndpointKind::File | EndpointKind::Block => format!(", {}", side.access.cache.name()),
        _ => String::new(),
    };
    format!("{name}{start}, {}{access}", side.kind.name())
}

fn bytes(plan: &Plan, totals: &Totals) -> String {
    let copied = totals.copied_bytes();
    let mut text = whole(&units::exact(copied));
    if totals.compared_bytes > 0 {
        text += " compared";
    } else if totals.written_bytes != copied {
        text += &format!(": {} of data written", totals.written_bytes);
        if totals.unchanged_bytes > 0 {
            text += &format!(", {} already identical", totals.unchanged_bytes);
        }
        if totals.shared_bytes > 0 {
            text += &format!(", {} shared with the source by the file system", totals.shared_bytes);
        }
        if totals.offloaded_bytes > 0 {
            text += &format!(", {} copied by the device itself", totals.offloaded_bytes);
        }
        if totals.zeroed_bytes > 0 {
            let runs = units::count(totals.zeroed_runs, "record", "records");
            text += &format!(", {} zeroed by the destination device in {}", totals.zeroed_bytes, whole(&runs));
        }
        if totals.hole_bytes > 0 {
            let runs = units::count(totals.hole_runs, "record", "records");
            text += &format!(", {} left as holes in {}", totals.hole_bytes, whole(&runs));
        }
    }
    if totals.read_bytes != totals.dest_bytes() && plan.route != Route::ReadBack {
        let whence = if totals.compared_bytes > 0 { " from the source" } else { "" };
        text += &format!("; {} read{whence}", totals.read_bytes);
    }
    text
}

pub(crate) fn time(outcome: &Outcome) -> String {
    let mut text = whole(&units::duration(outcome.elapsed));
    if !outcome.flushing.is_zero() {
        let copying = outcome.elapsed.saturating_sub(outcome.flushing);
        text += &format!(": {} copying,", whole(&units::duration(copying)));
        text += &format!(" {} flushing", whole(&units::duration(outcome.flushing)));
    }
    text
}

/// With the flush, which is the relevant rate, and without it, which other tools report.
pub(crate) fn rate(outcome: &Outcome) -> String {
    let copied = outcome.totals.copied_bytes();
    let Some(all) = units::per_second(copied, outcome.elapsed).filter(|_| copied > 0) else { return String::new() };
    let mut text = whole(&units::rate(all));
    let copying = outcome.elapsed.saturating_sub(outcome.flushing);
    if let Some(rate) = units::per_second(copied, copying).filter(|_| !outcome.flushing.is_zero()) {
        text += &format!("; {} without flushing", whole(&units::rate(rate)));
    }
    let data = outcome.totals.dest_bytes();
    if let Some(rate) = units::per_second(data, copying).filter(|_| data > 0 && data != copied) {
        text += &format!("; {} of data without zeros and holes", whole(&units::rate(rate)));
    }
    text
}

fn cpu(outcome: &Outcome) -> String {
    let usage = &outcome.usage;
    let mut text = format!("{} user,", whole(&units::seconds(usage.user)));
    text += &format!(" {} system", whole(&units::seconds(usage.system)));
    let copied = outcome.totals.copied_bytes();
    if copied > 0 {
        let (giga, in_gib) = units::giga();
        let per_giga = (usage.user + usage.system).as_secs_f64() * GIB * in_gib / copied as f64;
        // For a copy of a few bytes the number would be large and meaningless.
        if copied >= 1 << 20 {
            let per_giga = Duration::try_from_secs_f64(per_giga).unwrap_or(Duration::MAX);
            text += &format!(", {} per{TIE}{giga}", whole(&units::seconds(per_giga)));
        }
    }
    text
}

fn engine(notes: &PlanNotes, outcome: &Outcome) -> String {
    let mut text = outcome.engine.name().to_owned();
    if !outcome.engine_detail.is_empty() {
        text += &format!(": {}", printable(&outcome.engine_detail));
    }
    // Report why io_uring is not used when helper threads are.
    if outcome.engine == EngineKind::Threads && !notes.engine_because.is_empty() {
        text += &format!("; {}", printable(&notes.engine_because));
    }
    text
}

/// The bottleneck, as a share of the time before the flush.
pub(crate) fn bottleneck(outcome: &Outcome) -> String {
    let copying = outcome.elapsed.saturating_sub(outcome.flushing);
    let [source, dest] = outcome.sides.each_ref().map(|side| side.waited);
    let (digests, limit) = (outcome.digest_waited, outcome.limit_waited);
    if copying.is_zero() || (source + dest + digests + limit).is_zero() {
        return String::new();
    }
    let busy = copying.saturating_sub(source + dest + digests + limit);
    let share = |waited| whole(&units::share(waited, copying));
    let [from, to] = Side::BOTH.map(|side| side_and_part(side.name(), outcome.sides[side.index()].slowest_part));
    let mut text = format!("{from} {}, {to} {}, ", share(source), share(dest));
    if !digests.is_zero() {
        text += &format!("digests {}, ", share(digests));
    }
    if !limit.is_zero() {
        text += &format!("--limit {}, ", share(limit));
    }
    text += &format!("other {}", share(busy));
    let [source_idle, dest_idle] = outcome.sides.each_ref().map(|side| side.idle);
    if !(source_idle + dest_idle).is_zero() {
        let shares = [source_idle, dest_idle].map(|idle| whole(&units::share(idle, copying)));
        text += &format!("; idle: source{TIE}{}, destination{TIE}{}", shares[0], shares[1]);
    }
    text
}

fn requests(plan: &Plan, outcome: &Outcome, side: Side) -> String {
    let totals = &outcome.totals;
    let (count, moved) = match side {
        Side::Source => (totals.read_requests, totals.read_bytes),
        Side::Dest => (totals.write_requests, totals.dest_bytes() - totals.unchanged_bytes),
    };
    let Some(mean) = moved.checked_div(count) else { return String::new() };
    let mut text = whole(&units::count(count, "request", "requests"));
    if mean > 0 {
        let mean = if mean.is_multiple_of(1024) { units::block(mean) } else { units::size(mean) };
        text += &format!(" of {}", whole(&mean));
    }
    let latency: Latency = outcome.sides[side.index()].latency;
    let in_words = |micros| whole(&units::latency(micros));
    if latency.count == 1 {
        text += &format!(" in {}", in_words(latency.max_us));
    } else if latency.count > 1 {
        // With --delta the dest is read, too, and far more often.
        let with_reads = matches!(plan.route, Route::Delta { .. }) && side == Side::Dest;
        text += if with_reads { "; including reads of the destination" } else { ";" };
        text += &format!(" latency p50{TIE}{}, p90{TIE}{},", in_words(latency.p50_us), in_words(latency.p90_us));
        text += &format!(" p99{TIE}{}, max{TIE}{}", in_words(latency.p99_us), in_words(latency.max_us));
    }
    text
}

fn page_cache(outcome: &Outcome) -> String {
    let in_words = Side::BOTH.iter().filter_map(|side| {
        let report = &outcome.sides[side.index()];
        let after = whole(&units::size(report.cached_after_bytes?));
        let before = report.cached_before_bytes.map(|before| format!("{} → ", whole(&units::size(before))));
        Some(format!("{} {}{after}", side.name(), before.unwrap_or_default()))
    });
    in_words.collect::<Vec<_>>().join(", ")
}

/// The command is on a separate line and is not wrapped, so that it can be copied.
fn next_steps(plan: &Plan, outcome: &Outcome, args: &[String]) -> String {
    match Rest::of(plan, outcome, args) {
        Rest::Nothing => String::new(),
        Rest::Impossible(reason) => format!("\n{}", paragraph(&reason)),
        Rest::Command(words) => {
            let verb = plan.verb();
            let what = match (&outcome.ended, words.first().map(String::as_str)) {
                (_, Some("sync")) => "All data is written. To make it durable:",
                (Ended::Complete, _) => "To retry only the unreadable sectors:",
                (Ended::Interrupted(_) | Ended::OutOfTime, _) => &format!("To {verb} the rest:"),
                _ => &format!("To {verb} the rest, after fixing the cause:"),
            };
            // A resumed copy reads again what the digest is missing.
            let resumes = words.iter().any(|word| word == "--resume");
            let hashes = match plan.hashes.is_empty() || resumes {
                true => "",
                false => "(A digest of all data requires copying all of it.)\n",
            };
            format!("\n{what}\n  {}\n{hashes}", shell_line(words))
        }
    }
}
