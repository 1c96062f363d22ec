//! `haul dd`, and haul under the name dd.
pub(super) mod blocks;
pub(super) mod charsets;
pub mod cli;
pub mod plan;
pub mod report;
pub(super) mod watch;

use crate::apps::exit::Exit;
use crate::apps::fronts::dd::cli::{self as words, DdCommand};
use crate::apps::fronts::dd::plan::{CopyMethod, classify};
use crate::apps::fronts::dd::report::{Quoting, Reporter, explained, usage, warning};
use crate::apps::fronts::earlier::{stale_journals, undo_warnings};
use crate::apps::fronts::record_counts::{RecordCounts, RecordTally};
use crate::apps::fronts::record_plan::{Amount, Diagnostic, RecordListener, RecordPlan, StatusOutput};
use crate::apps::fronts::records::{self, OpenSides, StartResult};
use crate::core::Side;
use crate::report::Out;
use crate::sys;
use blocks::Held;
use rustix::fs::SeekFrom;
use signal_hook::consts::{SIGINT, SIGUSR1};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::time::Duration;
use watch::{SignalThread, Watcher};

/// Runs dd with the operands `words`; `program` begins each message.
pub(super) fn dd(program: &OsStr, words: &[OsString], out: Out) -> Exit {
    sys::die_of_broken_pipes();
    sys::share_one_heap();
    let quoting = Quoting { utf8: sys::is_utf8() };
    let name = program.as_bytes();
    let parsed = words::parse(words);
    for doubt in parsed.warnings {
        out.eprint_bytes(&warning(doubt, name, quoting));
    }
    match parsed.command {
        Err(error) => {
            out.eprint_bytes(&usage(&error, name, quoting));
            Exit::FAILED
        }
        Ok(DdCommand::Help) => crate::apps::exit::printed(out, &words::help_text(&program.to_string_lossy())),
        Ok(DdCommand::Version) => {
            crate::apps::exit::printed(out, &format!("dd (haul) {}\n", env!("CARGO_PKG_VERSION")))
        }
        Ok(DdCommand::Copy { plan, explain: true }) => explain(&plan, name, quoting, out),
        Ok(DdCommand::Copy { plan, explain: false }) => copy(*plan, name, quoting),
    }
}

/// How often progress is reported.
const TICK: Duration = Duration::from_secs(1);

impl Watcher for Reporter {
    fn report(&self) {
        self.print_counts();
    }

    fn progress(&self) {
        self.print_progress();
    }

    fn progress_by_records(&self) {
        self.print_progress_by_records();
    }

    fn interrupted(&self) {
        self.print_counts();
    }
}

/// The signals that dd handles.
fn handled_signals() -> Vec<i32> {
    let mut signals = Vec::new();
    if std::env::var_os("POSIXLY_CORRECT").is_none() {
        signals.push(SIGUSR1);
    }
    if !sys::is_ignored(SIGINT) {
        signals.push(SIGINT);
    }
    signals
}

fn copy(plan: RecordPlan, name: &[u8], quoting: Quoting) -> Exit {
    let (plan, tally) = (Arc::new(plan), Arc::new(RecordTally::default()));
    let reporter = Arc::new(Reporter::new(name, &plan, quoting, tally.clone(), sys::was_closed(2)));
    let tick = (plan.status_output == StatusOutput::Progress).then_some(TICK);
    let Ok(watch) = SignalThread::start(&plan, reporter.clone(), &tally, &handled_signals(), tick) else {
        return Exit::FAILED;
    };
    let ends = match open(&plan, &reporter) {
        Ok(ends) => Arc::new(ends),
        Err(exit) => return exit,
    };
    reporter.start();
    let begun = records::begin(&plan, &ends, &*reporter);
    if begun == StartResult::NoMemory {
        return Exit::FAILED;
    }
    let mut ran = records::RecordsEnd::default();
    if let (StartResult::Yes(lead), false) = (begun, plan.count == Some(Amount::default())) {
        let can_follow = || records::has_memory(&plan, &ends, &*reporter);
        let before = match blocks::go_ahead(&plan, &ends, &watch, (None, None), &Held::default(), can_follow) {
            Ok(counts) => counts,
            Err(exit) => return exit,
        };
        let listener: Arc<dyn RecordListener> = reporter.clone();
        ran = records::run(&plan, &ends, before, lead, &tally, &listener);
        if ran.no_memory {
            return Exit::FAILED;
        }
    }
    let failed = begun == StartResult::No || ran.read_failed || ran.write_failed;
    let gave_up = begun == StartResult::No || ran.gave_up;
    if ran.write_failed {
        put_back(&plan, &ends, tally.get());
    }
    let finished = records::finish(&plan, &ends, ran.at_hole, gave_up, &*reporter);
    watch.over();
    if !finished.silent {
        reporter.print_counts();
    }
    if failed || finished.failed || reporter.failed() { Exit::FAILED } else { Exit::Status(0) }
}

/// Opens both sides, and truncates the dest if requested. Reasons to refuse are found before that.
fn open(plan: &RecordPlan, reporter: &Reporter) -> Result<OpenSides, Exit> {
    let report_failure = |side, complaint: Diagnostic| {
        reporter.report_failure(side, &complaint, false);
        failed_by(&complaint)
    };
    let mut ends = records::open(plan, [None, None]).map_err(|(side, complaint)| report_failure(side, complaint))?;
    undo_warnings(plan, &ends, &[None, None]).iter().for_each(|warning| reporter.warn(warning));
    for stale in stale_journals(plan, &ends, None) {
        reporter.warn(&stale.warning());
        stale.end().map_err(|error| {
            reporter.refuse(&error);
            Exit::Status(error.kind.exit_status())
        })?;
    }
    records::empty(plan, &mut ends).map_err(|complaint| report_failure(Side::Dest, complaint))?;
    Ok(ends)
}

/// The exit status after a side could not be opened: dd's, except for checks that dd does not make.
fn failed_by(complaint: &Diagnostic) -> Exit {
    match complaint {
        Diagnostic::Busy(error) | Diagnostic::CommandsOnly(error) => Exit::Status(error.kind.exit_status()),
        _ => Exit::FAILED,
    }
}

/// Positions standard input where dd leaves it for the next reader: after the records that were counted.
fn put_back(plan: &RecordPlan, ends: &OpenSides, counts: RecordCounts) {
    let (None, Some(start), Ok(fd)) = (&plan.source.path, ends.source.offset, ends.source.fd()) else { return };
    let skipped = plan.source.skip.in_bytes(plan.source.record_bytes).unwrap_or(0);
    let records = counts.read_full + counts.read_partial;
    let behind = start.saturating_add(skipped).saturating_add(records.saturating_mul(plan.source.record_bytes));
    if rustix::fs::tell(fd).is_ok_and(|now| now > behind) {
        // The copy has already failed, and that is reported.
        let _ = rustix::fs::seek(fd, SeekFrom::Start(behind));
    }
}

/// Prints how the copy would be made. Nothing is created or truncated: the dest is examined, not opened.
fn explain(plan: &RecordPlan, name: &[u8], quoting: Quoting, out: Out) -> Exit {
    let looked = match records::check_nodes(plan, [false, false]).and_then(|()| blocks::look(plan)) {
        Ok(looked) => looked,
        Err((side, complaint)) => {
            let tally = Arc::new(RecordTally::default());
            Reporter::new(name, plan, quoting, tally, false).report_failure(side, &complaint, false);
            return failed_by(&complaint);
        }
    };
    let text = match classify(plan, &looked.source, &looked.dest) {
        CopyMethod::Records(because) => explained(plan, None, &because),
        CopyMethod::Blocks(wanted) => match blocks::plan_for(plan, &wanted, &looked.paths, &Held::default()) {
            Ok((block_plan, ..)) => {
                explained(plan, Some(&block_plan), "whole records from a file or disk to another, without conversion")
            }
            Err(because) => explained(plan, None, &because),
        },
    };
    crate::apps::exit::printed(out, &text)
}
