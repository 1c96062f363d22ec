//! Failures and signals during the copy.
use crate::apps::fronts::dd::watch::Watcher;
use crate::apps::fronts::record_plan::{Diagnostic, ExtraDiagnostic, RecordListener};
use crate::apps::fronts::records::{OpenSides, SideKind};
use crate::apps::fronts::sg_dd::plan::SgFailure;
use crate::apps::fronts::sg_dd::report::{Continuation, SgReporter, continue_command};
use crate::apps::fronts::sg_plan::SgPlan;
use crate::core::{DeviceError, Kind, Side};
use crate::sys;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Reports events, and records those that determine the exit status.
pub(super) struct SgListener {
    pub(super) reporter: SgReporter,
    pub(super) plan: SgPlan,
    total: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// How the program was called, and the properties of both sides when they were opened.
    at: Continuation,
    ends: Option<Arc<OpenSides>>,
    failure: Option<SgFailure>,
    pipe_broke: bool,
}

/// The signals to handle: those that the caller ignores stay ignored.
pub(super) fn signals() -> Vec<i32> {
    let all = [SIGUSR1, SIGINT, SIGQUIT, SIGTERM, SIGHUP];
    all.into_iter().filter(|signal| !sys::is_ignored(*signal)).collect()
}

impl SgListener {
    pub(super) fn new(reporter: SgReporter, plan: SgPlan, called: Continuation, total: u64) -> Self {
        let state = State { at: Continuation { total, ..called }, ..State::default() };
        SgListener { reporter, plan, total, state: state.into() }
    }

    /// Stores both sides, now open.
    pub(super) fn opened(&self, ends: &Arc<OpenSides>) {
        let mut state = self.state();
        state.ends = Some(ends.clone());
        state.at.source_streams = streams(ends, Side::Source) && self.plan.records.pattern.is_none();
        state.at.dest_streams = streams(ends, Side::Dest);
        state.at.dest_file_bytes = ends.dest.size.filter(|_| ends.dest.sort == SideKind::File);
    }

    /// The first failure, if any.
    pub(super) fn failed(&self) -> Option<SgFailure> {
        self.state().failure.clone()
    }

    /// Whether the reader has closed the pipe and the caller does not ignore SIGPIPE.
    pub(super) fn pipe_broke(&self) -> bool {
        self.state().pipe_broke
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The command that continues the copy, in whole lines.
    fn again(&self) -> Vec<u8> {
        let counts = self.reporter.counts();
        let state = self.state();
        let done = counts.written_full + counts.written_partial;
        if state.ends.is_none() || done >= self.total {
            return Vec::new();
        }
        match continue_command(&self.plan, &Continuation { done, ..state.at.clone() }) {
            Ok(command) => {
                let more: &[u8] = match &self.plan.records.second {
                    Some(_) => b"OFILE2 cannot be continued: it would start again from the beginning.\n",
                    None => b"",
                };
                [b"To continue:\n  ", &command[..], b"\n", more].concat()
            }
            Err(because) => format!("It cannot be continued: {because}.\n").into_bytes(),
        }
    }
}

impl RecordListener for SgListener {
    fn report_failure(&self, side: Side, complaint: &Diagnostic, with_counts: bool) {
        let mut state = self.state();
        if is_broken_pipe(complaint) && !sys::was_pipe_ignored() {
            state.pipe_broke = true;
            return;
        }
        if state.failure.is_none() {
            state.failure = failure(side, complaint);
        }
        drop(state);
        self.reporter.report_failure(side, complaint, with_counts);
    }
}

impl Watcher for SgListener {
    fn report(&self) {
        self.reporter.print_report();
    }

    fn progress(&self) {
        self.reporter.print_progress();
    }

    fn interrupted(&self) {
        self.reporter.print_interrupted(&self.again());
        // The process dies without dropping them.
        if let Some(ends) = self.state().ends.clone() {
            ends.drop_caches();
        }
    }
}

fn is_broken_pipe(complaint: &Diagnostic) -> bool {
    let broken = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    match complaint {
        Diagnostic::Write { error, .. } | Diagnostic::Careful(ExtraDiagnostic::Second(error)) => broken(error),
        _ => false,
    }
}

/// The failure that ends the copy, derived from a diagnostic; `None`: it continues.
pub(super) fn failure(side: Side, complaint: &Diagnostic) -> Option<SgFailure> {
    let errno = |error: &io::Error| error.raw_os_error();
    Some(match complaint {
        Diagnostic::Open(error) | Diagnostic::SetFlags(error) if side == Side::Source => {
            SgFailure::OpenSource(errno(error))
        }
        Diagnostic::Open(error) | Diagnostic::SetFlags(error) => SgFailure::OpenDest(errno(error)),
        Diagnostic::Busy(_) => SgFailure::Locked,
        // The second dest: nodes as sides are reached by commands.
        Diagnostic::CommandsOnly(_) => SgFailure::UnsupportedFlag,
        Diagnostic::Skip(error) => SgFailure::Seek(errno(error)),
        Diagnostic::Careful(ExtraDiagnostic::Locked(_)) => SgFailure::Locked,
        Diagnostic::Careful(ExtraDiagnostic::TooManyBad(_)) => SgFailure::TooManyBad,
        Diagnostic::Careful(
            ExtraDiagnostic::Differs { .. } | ExtraDiagnostic::DestEnds(_) | ExtraDiagnostic::WrongAddress { .. },
        ) => SgFailure::Differs,
        Diagnostic::Careful(what) if what.is_passed_over() => return None,
        Diagnostic::Read(error)
        | Diagnostic::Write { error, .. }
        | Diagnostic::Careful(ExtraDiagnostic::Compare(error)) => {
            match DeviceError::of(error).map(|device_failure| (device_failure.sense, device_failure.kind)) {
                Some((Some(codes), _)) => SgFailure::Sense(codes),
                // A reservation by another host: it is a SCSI status, without sense data.
                Some((None, Kind::Refused)) => SgFailure::Reserved,
                _ => SgFailure::Io,
            }
        }
        Diagnostic::SkipTooFar | Diagnostic::PartialRead(_) => return None,
        _ => SgFailure::Io,
    })
}

/// Whether a side has no offsets.
fn streams(ends: &OpenSides, side: Side) -> bool {
    let end = if side == Side::Source { &ends.source } else { &ends.dest };
    end.offset.is_none()
}
