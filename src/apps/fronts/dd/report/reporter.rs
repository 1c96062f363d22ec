//! Prints dd's messages to standard error, at the same moments as dd.
use super::counts::{records, transferred};
use super::{Quoting, sentences};
use crate::apps::fronts::record_counts::{RecordCounts, RecordTally};
use crate::apps::fronts::record_plan::{Diagnostic, RecordListener, RecordPlan, StatusOutput};
use crate::core::{Error, Side};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Prints dd's messages to standard error.
#[derive(Debug)]
pub struct Reporter {
    program: Vec<u8>,
    names: [Vec<u8>; 2],
    dest_bytes: u64,
    status_output: StatusOutput,
    quoting: Quoting,
    tally: Arc<RecordTally>,
    started: Mutex<Instant>,
    /// Characters in the progress line before the cursor.
    line: Mutex<usize>,
    /// Bytes reported in the last progress line.
    reported_bytes: AtomicU64,
    /// Standard error was closed when haul started.
    closed: bool,
    deaf: AtomicBool,
}

impl Reporter {
    /// `program` begins each message. `closed`: standard error was closed when haul started.
    pub fn new(program: &[u8], plan: &RecordPlan, quoting: Quoting, tally: Arc<RecordTally>, closed: bool) -> Self {
        let name = |path: &Option<std::ffi::OsString>, standard: &str| {
            path.as_ref().map_or(standard.as_bytes().to_vec(), |path| path.as_bytes().to_vec())
        };
        Reporter {
            program: program.to_vec(),
            names: [name(&plan.source.path, "standard input"), name(&plan.dest.path, "standard output")],
            dest_bytes: plan.dest.record_bytes,
            status_output: plan.status_output,
            quoting,
            tally,
            started: Instant::now().into(),
            line: 0.into(),
            reported_bytes: 0.into(),
            closed,
            deaf: false.into(),
        }
    }

    /// Prints a warning that dd does not have, unless only errors are requested.
    pub fn warn(&self, clause: &str) {
        if self.status_output != StatusOutput::Errors {
            self.print(&[self.program.as_slice(), b": warning: ", clause.as_bytes(), b"\n"].concat());
        }
    }

    /// Prints why nothing is copied, and what to do, regardless of `status=`.
    pub fn refuse(&self, error: &Error) {
        let program = String::from_utf8_lossy(&self.program);
        let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
        self.print(format!("{program}: {error}{cause}\n{program}: {}\n", error.advice).as_bytes());
    }

    /// Marks the start of the copy.
    pub fn start(&self) {
        *self.started.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Whether writing to standard error failed, so that a message was lost.
    pub fn failed(&self) -> bool {
        self.deaf.load(Relaxed)
    }

    /// Prints the current counts, if requested.
    pub fn print_counts(&self) {
        self.print(&self.counts(&self.tally.get()));
    }

    /// Redraws the progress line, if requested.
    pub fn print_progress(&self) {
        if self.status_output != StatusOutput::Progress {
            return;
        }
        let bytes = self.tally.get().written_bytes;
        self.reported_bytes.store(bytes, Relaxed);
        let text = transferred(bytes, self.elapsed(), true);
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        // Padded, so that a shorter line overwrites a longer one completely.
        self.write(format!("\r{text:<width$}", width = *line).as_bytes());
        *line = text.len();
    }

    /// The same while records are copied one by one. If no record was copied since the last time, the line is
    /// printed after the next one, as dd does; before the first record there is nothing to print.
    pub fn print_progress_by_records(&self) {
        let bytes = self.tally.get().written_bytes;
        if self.reported_bytes.load(Relaxed) == bytes {
            self.tally.set_due();
        }
        if bytes > 0 {
            self.print_progress();
        }
    }

    fn elapsed(&self) -> std::time::Duration {
        self.started.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    fn counts(&self, counts: &RecordCounts) -> Vec<u8> {
        let mut text = match self.status_output {
            StatusOutput::Errors => return Vec::new(),
            _ => records(counts),
        };
        if self.status_output != StatusOutput::NoTransfer {
            text.push_str(&transferred(counts.written_bytes, self.elapsed(), false));
            text.push('\n');
        }
        text.into_bytes()
    }

    /// Prints whole lines, below the progress line if there is one.
    fn print(&self, text: &[u8]) {
        if text.is_empty() {
            return;
        }
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        if *line > 0 {
            *line = 0;
            self.write(&[b"\n", text].concat());
        } else {
            self.write(text);
        }
    }

    fn write(&self, mut text: &[u8]) {
        if self.closed {
            self.deaf.store(true, Relaxed);
        }
        while !text.is_empty() && !self.deaf.load(Relaxed) {
            match rustix::io::write(io::stderr(), text) {
                Ok(written) => text = &text[written..],
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => self.deaf.store(true, Relaxed),
            }
        }
    }
}

impl RecordListener for Reporter {
    fn report_failure(&self, side: Side, complaint: &Diagnostic, with_counts: bool) {
        // These are warnings, which status=none suppresses.
        let warning = matches!(complaint, Diagnostic::SkipTooFar | Diagnostic::PartialRead(_));
        // So are messages about skipped records.
        if (warning || with_counts) && self.status_output == StatusOutput::Errors {
            return;
        }
        let name = &self.names[side.index()];
        let sentence = sentences::complaint(side, complaint, name, self.dest_bytes, self.quoting);
        self.print(&[self.program.as_slice(), b": ", &sentence, b"\n"].concat());
        if with_counts {
            self.print_counts();
        }
    }

    fn progress(&self) {
        self.print_progress();
    }
}
