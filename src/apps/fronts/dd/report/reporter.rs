//! Prints to standard error what dd tells, when dd tells it.
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

/// Prints to standard error what dd tells.
#[derive(Debug)]
pub struct Reporter {
    program: Vec<u8>,
    names: [Vec<u8>; 2],
    dest_bytes: u64,
    telling: StatusOutput,
    quoting: Quoting,
    tally: Arc<RecordTally>,
    started: Mutex<Instant>,
    /// Characters of the line of progress that the cursor stands behind.
    line: Mutex<usize>,
    /// Bytes that the line of progress told last.
    told_bytes: AtomicU64,
    /// The caller had closed standard error.
    closed: bool,
    deaf: AtomicBool,
}

impl Reporter {
    /// `program` begins each sentence. `closed`: the caller had closed standard error.
    pub fn new(program: &[u8], plan: &RecordPlan, quoting: Quoting, tally: Arc<RecordTally>, closed: bool) -> Self {
        let name = |path: &Option<std::ffi::OsString>, standard: &str| {
            path.as_ref().map_or(standard.as_bytes().to_vec(), |path| path.as_bytes().to_vec())
        };
        Reporter {
            program: program.to_vec(),
            names: [name(&plan.source.path, "standard input"), name(&plan.dest.path, "standard output")],
            dest_bytes: plan.dest.record_bytes,
            telling: plan.telling,
            quoting,
            tally,
            started: Instant::now().into(),
            line: 0.into(),
            told_bytes: 0.into(),
            closed,
            deaf: false.into(),
        }
    }

    /// Tells what dd knows nothing of; not where only errors are requested.
    pub fn warn(&self, clause: &str) {
        if self.telling != StatusOutput::Errors {
            self.print(&[self.program.as_slice(), b": warning: ", clause.as_bytes(), b"\n"].concat());
        }
    }

    /// Tells why nothing is copied, and what to do, whatever `status=` says.
    pub fn refuse(&self, error: &Error) {
        let program = String::from_utf8_lossy(&self.program);
        let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
        self.print(format!("{program}: {error}{cause}\n{program}: {}\n", error.advice).as_bytes());
    }

    /// The copy begins now.
    pub fn start(&self) {
        *self.started.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Standard error could not be written to, so that something went untold.
    pub fn failed(&self) -> bool {
        self.deaf.load(Relaxed)
    }

    /// Prints the counts as they are now, as far as they are requested.
    pub fn print_counts(&self) {
        self.print(&self.counts(&self.tally.get()));
    }

    /// Draws the line of progress again, where it is requested.
    pub fn print_progress(&self) {
        if self.telling != StatusOutput::Progress {
            return;
        }
        let bytes = self.tally.get().written_bytes;
        self.told_bytes.store(bytes, Relaxed);
        let text = transferred(bytes, self.elapsed(), true);
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        // A shorter line leaves nothing of a longer one.
        self.write(format!("\r{text:<width$}", width = *line).as_bytes());
        *line = text.len();
    }

    /// The same while records are moved one by one. Where no record was copied since the last time, it is reported
    /// again behind the next, which is when dd tells it; before the first there is nothing to tell.
    pub fn print_progress_by_records(&self) {
        let bytes = self.tally.get().written_bytes;
        if self.told_bytes.load(Relaxed) == bytes {
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
        let mut text = match self.telling {
            StatusOutput::Errors => return Vec::new(),
            _ => records(counts),
        };
        if self.telling != StatusOutput::NoTransfer {
            text.push_str(&transferred(counts.written_bytes, self.elapsed(), false));
            text.push('\n');
        }
        text.into_bytes()
    }

    /// Writes whole lines, below the line of progress if there is one.
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
    fn complain(&self, side: Side, complaint: &Diagnostic, with_counts: bool) {
        // Warnings, which status=none suppresses.
        let warning = matches!(complaint, Diagnostic::SkipTooFar | Diagnostic::PartialRead(_));
        // Nor what is skipped.
        if (warning || with_counts) && self.telling == StatusOutput::Errors {
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
