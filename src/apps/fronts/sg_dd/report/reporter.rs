//! Prints the messages of the sg_dd family to standard error, at the same moments.
use super::counts::{Lines, Progressed, records, time_left, timing};
use super::sentences;
use crate::apps::fronts::record_counts::{RecordCounts, RecordTally};
use crate::apps::fronts::record_plan::{Diagnostic, RecordListener};
use crate::apps::fronts::sg_plan::{SgFront, SgPlan};
use crate::core::{DeviceCounts, Side};
use crate::report::Out;
use std::os::unix::ffi::OsStrExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Prints the messages of the sg_dd family to standard error.
#[derive(Debug)]
pub struct SgReporter {
    out: Out,
    program: Vec<u8>,
    front: SgFront,
    names: [Vec<u8>; 2],
    /// The first block of each side.
    first: [u64; 2],
    lines: Lines,
    timing: bool,
    progress: bool,
    tally: Arc<RecordTally>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    started: Instant,
    /// Blocks to copy.
    total: u64,
    /// The previous report.
    before: Option<Progressed>,
}

impl SgReporter {
    /// `program` begins each message.
    pub fn new(program: &[u8], plan: &SgPlan, tally: Arc<RecordTally>, out: Out) -> Self {
        let name = |path: &Option<std::ffi::OsString>, standard: &str| {
            path.as_ref().map_or(standard.as_bytes().to_vec(), |path| path.as_bytes().to_vec())
        };
        let records = &plan.records;
        SgReporter {
            out,
            program: program.to_vec(),
            front: plan.front,
            names: [name(&records.source.path, "stdin"), name(&records.dest.path, "stdout")],
            first: [records.source.skip.records, records.dest.skip.records],
            lines: Lines {
                compares: records.compare,
                sparse: records.sparse,
                fetches: records.care.fetch_corrected.is_some(),
            },
            timing: plan.timing,
            progress: plan.progress_s.is_some(),
            tally,
            state: State { started: Instant::now(), total: 0, before: None }.into(),
        }
    }

    /// The names of both sides.
    pub fn names(&self) -> [&[u8]; 2] {
        [&self.names[0], &self.names[1]]
    }

    /// The current counts.
    pub fn counts(&self) -> RecordCounts {
        self.tally.get()
    }

    /// Marks the start of a copy of `total` blocks.
    pub fn start(&self, total: u64) {
        let mut state = self.state();
        (state.started, state.total) = (Instant::now(), total);
    }

    /// Prints a separate line.
    pub fn print(&self, text: &str) {
        self.out.eprint_bytes(text.as_bytes());
    }

    /// The same for bytes, which may be those of a path.
    pub fn print_bytes(&self, bytes: &[u8]) {
        self.out.eprint_bytes(bytes);
    }

    /// SIGUSR1: prints the progress.
    pub fn print_report(&self) {
        let (counts, mut state) = (self.tally.get(), self.state());
        let (times, left) = (self.times(&mut state, &counts, true), remaining(&counts, state.total));
        let title = "Progress report, continuing ...\n";
        // sgm_dd prints its times after the counts.
        let text = match self.front {
            SgFront::Sgm => format!("{title}{left}{}{times}", records(&counts, self.lines, "")),
            _ => format!("{title}{times}{left}{}", records(&counts, self.lines, "  ")),
        };
        self.print(&text);
    }

    /// `--progress`: prints the progress periodically.
    pub fn print_progress(&self) {
        let (counts, mut state) = (self.tally.get(), self.state());
        let times = self.times(&mut state, &counts, true);
        let left = remaining(&counts, state.total);
        self.print(&format!("{times}{left}{}", records(&counts, self.lines, "")));
    }

    /// Reports that a signal ended the copy. `again` is the command that continues.
    pub fn print_interrupted(&self, again: &[u8]) {
        let (counts, mut state) = (self.tally.get(), self.state());
        let times = self.times(&mut state, &counts, false);
        let left = remaining(&counts, state.total);
        let text = format!("Interrupted by signal,\n{times}{left}{}", records(&counts, self.lines, ""));
        self.out.eprint_bytes(&[text.as_bytes(), again].concat());
    }

    /// Reports the end of a copy without a signal; `failed`: with an error.
    pub fn print_end(&self, failed: bool) {
        let (counts, mut state) = (self.tally.get(), self.state());
        let times = self.times(&mut state, &counts, false);
        let left = remaining(&counts, state.total);
        let end = match (failed, self.front) {
            (true, _) if left.is_empty() => "Some error occurred\n".to_owned(),
            (true, _) => format!("Some error occurred,{left}"),
            // sgp_dd prints the blocks missing from the source.
            (false, SgFront::Sgp) => left,
            (false, _) => String::new(),
        };
        let completed = if self.progress && !failed { "\nCompleted:\n" } else { "" };
        self.print(&format!("{times}{end}{completed}{}", records(&counts, self.lines, "")));
    }

    /// Prints the counters of disks that were reached by commands, and notes about them.
    pub fn print_disk_counts(&self, counts: DeviceCounts, direct_requested: bool) {
        if counts.recovered > 0 {
            self.print(&format!("{} recovered errors\n", counts.recovered));
        }
        if direct_requested && counts.indirect > 0 {
            let count = counts.indirect;
            let text = match self.front {
                SgFront::Sgm => format!(">> dio requested but _not_ done {count} times\n"),
                _ => format!(">> Direct IO requested but incomplete {count} times\n"),
            };
            self.print(&format!("{text}>> 1 in /sys/module/sg/parameters/allow_dio lets the driver do it\n"));
        }
    }

    /// `--dry-run`.
    pub fn print_dry_run(&self) {
        let (counts, state) = (self.tally.get(), self.state());
        let rest = match self.front {
            SgFront::Sg => String::new(),
            _ => format!("{}{}", remaining(&counts, state.total), records(&counts, self.lines, "")),
        };
        self.print(&format!("Since --dry-run option given, bypassing copy\n{rest}"));
    }

    fn times(&self, state: &mut State, counts: &RecordCounts, so_far: bool) -> String {
        if !self.timing {
            return String::new();
        }
        let moved = Progressed { bytes: counts.written_bytes, time: state.started.elapsed() };
        let before = if so_far { state.before.replace(moved) } else { None };
        let line = timing(self.front, moved, so_far, before);
        let done = counts.written_full + counts.written_partial;
        let left = time_left(done, state.total, moved.time).filter(|_| so_far);
        format!("{line}{}", left.unwrap_or_default())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The line about blocks that were not copied, if there are any.
fn remaining(counts: &RecordCounts, total: u64) -> String {
    match total.saturating_sub(counts.written_full + counts.written_partial) {
        0 => String::new(),
        left => format!("  remaining block count={left}\n"),
    }
}

impl RecordListener for SgReporter {
    fn report_failure(&self, side: Side, complaint: &Diagnostic, _with_counts: bool) {
        let counts = self.tally.get();
        let done = match side {
            Side::Source => counts.read_full + counts.read_partial,
            Side::Dest => counts.written_full + counts.written_partial,
        };
        let at = self.first[side.index()] + done;
        let sentence = sentences::complaint(side, complaint, &self.names[side.index()], at);
        self.out.eprint_bytes(&[&self.program, &b": "[..], &sentence, b"\n"].concat());
    }
}
