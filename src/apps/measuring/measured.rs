//! Steps common to `haul tune` and `haul profile`: examine a disk, open it for measuring, report the results.
use crate::apps::console;
use crate::apps::exit::{Exit, failed, printed};
use crate::apps::measuring::page::Measured;
use crate::apps::measuring::plan::{
    self, MEASURED_IN_FLIGHT_BYTES, Measuring, TableStyle, WriteDest, WriteOptions, WriteScope,
};
use crate::apps::measuring::report::{Run, failed_places};
use crate::apps::measuring::scratch::{self, Scratch};
use crate::apps::page::{self, PendingPage};
use crate::apps::signals::{Running, Signals};
use crate::core::{Cache, Endpoint, EndpointKind, EngineKind, Error, Extent, Facts, Kind, Op, Result, Side, Stop};
use crate::disks;
use crate::disks::probe;
use crate::job::journal::Stale;
use crate::job::{host, undo};
use crate::measure::{BadRange, MeasureFailure, Subject, Way, Written};
use crate::report::{Out, text, units};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// Share of the time that saving the original data of a device, or filling a file, may take.
const KEEPING: f64 = 0.25;

/// How often the memory for blocks is halved if it cannot be allocated: down to 8 MiB, eight blocks of the size
/// with which copies begin.
const MEMORY_HALVED_MAX: u32 = 4;

/// The measurement to make, and its options.
#[derive(Clone, Copy)]
pub(crate) struct MeasureTask<'a> {
    pub(crate) path: &'a str,
    pub(crate) engine: Option<EngineKind>,
    /// The path of the HTML page, if requested.
    pub(crate) report: Option<&'a Path>,
    /// The form of the table.
    pub(crate) style: TableStyle,
    /// The command line without the program's name.
    pub(crate) words: &'a [String],
    /// The user's label for the run.
    pub(crate) label: Option<&'a str>,
}

/// A disk or file that is open for measuring.
pub(crate) struct MeasuredDisk<'a> {
    pub(crate) facts: Facts,
    pub(crate) subject: Subject,
    /// How it was opened.
    pub(crate) plan: Measuring,
    /// Reasons to doubt the results; already reported.
    pub(crate) warnings: Vec<String>,
    /// Set by a signal to stop the measurement.
    pub(crate) stop: Arc<Stop>,
    /// What was overwritten, once that is known; `None` if only reading was measured.
    pub(crate) written: Option<Written>,
    /// Time for saving the original data of a device, or for filling a file.
    pub(crate) kept_in: Duration,
    scratch: Option<Scratch>,
    /// Why the saved bytes could not be restored.
    not_put_back: Option<Error>,
    signals: Signals,
    page: Option<PendingPage>,
    started: SystemTime,
    style: TableStyle,
    words: &'a [String],
    label: Option<&'a str>,
    out: Out,
}

impl<'a> MeasuredDisk<'a> {
    /// Examines the disk, warns, and opens it in every available mode; from then on a signal stops the
    /// measurement.
    ///
    /// # Errors
    /// As for [`probe::source`], [`plan::measure`] and [`disks::open_source`]; the page cannot be written.
    pub(crate) fn new(asked: MeasureTask<'a>, out: Out) -> Result<Self> {
        let begun = MeasureStart::now(asked, out)?;
        if Path::new(asked.path).is_dir() {
            let advice = "Name a file in it, or the device that it is mounted from; --write measures writing in it.";
            return Err(Error::new(Kind::Usage, format!("{} is a directory", asked.path)).advise(advice));
        }
        let facts = probe::source(asked.path)?;
        let page = page::place(asked.report, &[(Side::Source, &facts)])?;
        let mut plan = plan::measure(&facts, asked.engine, &host(asked.engine))?;
        plan.warnings.extend(undo::read_warnings(&facts));
        begun.warn(&plan);
        let subject = subject(&plan, &facts)?;
        let stop = now_measuring(&begun.signals, &subject);
        Ok(begun.opened(facts, page, plan, subject, stop, None))
    }

    /// The same for writing, for about `time`: asks first, and saves the original data of a device. `Err`: a
    /// signal arrived before anything was measured.
    ///
    /// # Errors
    /// As for [`plan::measure_writing`]; the user does not agree; the original data cannot be saved.
    pub(crate) fn to_write(
        asked: MeasureTask<'a>,
        options: &WriteOptions,
        reach: WriteScope,
        time: Duration,
        out: Out,
    ) -> Result<std::result::Result<Self, i32>> {
        let begun = MeasureStart::now(asked, out)?;
        let facts = scratch::look(asked.path)?;
        let page = page::place(asked.report, &[(Side::Dest, &facts)])?;
        let host = host(asked.engine);
        // Checked before a directory is created, and before a missing one hides an error about the device.
        plan::may_measure_writing(options, &facts, &host)?;
        let store = scratch::store(&facts, options)?;
        let (path, store) = store.unzip();
        let writing = plan::measure_writing(options, &facts, store.as_ref(), reach, asked.engine, &host)?;
        begun.warn(&writing.measuring);
        if facts.kind == EndpointKind::Block {
            if !options.yes {
                let question =
                    || crate::apps::measuring::report::confirm_measuring(&facts, &writing.over, path.as_deref());
                console::confirm(&facts.address, true, question, out)?;
            }
            if writing.over == WriteDest::All {
                end_journals(&facts, out)?;
            }
            if let Some(done) = undo::put_back_earlier(&facts)? {
                out.eprint(&text::info(&text::put_back_earlier(&facts.address, done.kept_bytes, done.written_bytes)));
            }
        }
        let ways = scratch::open(&writing, &facts)?;
        let mut subject = of_ways(&writing.measuring, &facts, ways)?;
        let align = writing.measuring.ways.iter().map(|(_, side)| side.access.offset_align_bytes).max().unwrap_or(1);
        subject.align_bytes = subject.align_bytes.max(align.into());
        let stop = now_measuring(&begun.signals, &subject);
        let (over, keeping, began) = (&writing.over, time.mul_f64(KEEPING), Instant::now());
        let prepared = scratch::prepare(&mut subject, over, reach.filled, path.as_deref(), keeping, &stop)?;
        let kept_in = began.elapsed();
        let opened = |scratch| MeasuredDisk {
            kept_in,
            ..begun.opened(facts, page, writing.measuring, subject, stop, Some(scratch))
        };
        Ok(prepared.map(opened))
    }

    /// Reading or writing.
    pub(crate) fn op(&self) -> Op {
        self.subject.op
    }

    /// The request and its circumstances, for the report.
    pub(crate) fn run(&self) -> Run<'_> {
        Run {
            words: self.words,
            label: self.label,
            facts: &self.facts,
            op: self.op(),
            written: self.written.as_ref(),
            engine: self.plan.engine,
            bad: &self.subject.bad,
            failed: self.subject.failed,
            warnings: &self.warnings,
        }
    }

    /// Whether bytes must be restored after the measurement.
    pub(crate) fn keeps(&self) -> bool {
        self.scratch.as_ref().is_some_and(Scratch::is_kept)
    }

    /// Ends the measurement: restores the saved bytes; from then on a signal ends the process at once.
    pub(crate) fn measured(&mut self) {
        if let Some(scratch) = self.scratch.take() {
            if scratch.is_kept() && self.stop.is_requested() {
                self.out.eprint(&text::putting_back(&self.facts.address));
            }
            let (written, not_put_back) = scratch.restore();
            (self.written, self.not_put_back) = (Some(written), not_put_back);
        }
        self.signals.now_done();
    }

    /// Warns about reasons to doubt the results.
    pub(crate) fn doubt(&mut self, doubts: impl IntoIterator<Item = String>) {
        for doubt in doubts {
            self.out.eprint(&text::warning(&doubt));
            self.warnings.push(doubt);
        }
    }

    /// Prints the results, and writes the page that `html` makes, if one was requested; `shown_text` is what a
    /// terminal shows.
    pub(crate) fn print(&mut self, text: &str, shown_text: &str, html: impl FnOnce(Measured<'_>) -> String) -> Exit {
        let printed = printed(self.out, text);
        let Some(page) = self.page.take() else { return printed };
        let (facts, machine, words) = (&self.facts, &probe::machine(), self.words);
        let html = html(Measured {
            facts,
            op: self.op(),
            machine,
            words,
            started: self.started,
            warnings: &self.warnings,
            shown_text,
        });
        page.write(&html, printed, self.out)
    }

    /// Reports ranges that failed, for output without a table.
    pub(crate) fn print_failed_places(&self) {
        if self.subject.failed > 0 {
            self.out.eprint(&text::info(&failed_places(&self.subject.bad, self.subject.failed)));
        }
    }

    /// How the process ends after the measurement.
    pub(crate) fn exit(self, failure: Option<MeasureFailure>, found: bool, printed: Exit) -> Exit {
        if self.style == TableStyle::Csv {
            self.print_failed_places();
            if failure.is_some() {
                self.out.eprint(&text::info("ended before the time limit: the table has the results so far"));
            }
        }
        let exit = match failure {
            Some(MeasureFailure::Stopped(signal)) => Exit::Signal(signal),
            Some(MeasureFailure::Broken(error)) => failed(self.out, &error),
            None if !found => failed(self.out, &self.nothing()),
            None => printed,
        };
        let Some(error) = self.not_put_back else { return exit };
        let not_put_back = failed(self.out, &error);
        if matches!(exit, Exit::Signal(_)) { exit } else { not_put_back }
    }

    /// Why there are no results.
    fn nothing(&self) -> Error {
        let what = format!("no measurement of {} succeeded", self.facts.address);
        let Some(BadRange { offset, why, .. }) = self.subject.bad.first() else {
            return Error::new(Kind::Io, format!("{what} within the time limit")).advise("Increase --time.");
        };
        let requests = units::count(self.subject.failed, "request", "requests");
        Error::new(Kind::Io, format!("{what}: {requests} failed, the first at byte {offset}: {why}"))
            .advise("See the kernel log (dmesg).")
    }
}

/// The state of a measurement before the disk is examined.
struct MeasureStart<'a> {
    asked: MeasureTask<'a>,
    signals: Signals,
    started: SystemTime,
    out: Out,
}

impl<'a> MeasureStart<'a> {
    fn now(asked: MeasureTask<'a>, out: Out) -> Result<Self> {
        Ok(MeasureStart { asked, signals: Signals::watch(out)?, started: SystemTime::now(), out })
    }

    fn warn(&self, plan: &Measuring) {
        plan.warnings.iter().for_each(|warning| self.out.eprint(&text::warning(warning)));
    }

    fn opened(
        self,
        facts: Facts,
        page: Option<PendingPage>,
        plan: Measuring,
        subject: Subject,
        stop: Arc<Stop>,
        scratch: Option<Scratch>,
    ) -> MeasuredDisk<'a> {
        let MeasureStart { asked: MeasureTask { words, label, style, .. }, signals, started, out } = self;
        let (warnings, written, not_put_back) = (plan.warnings.clone(), None, None);
        MeasuredDisk {
            facts,
            subject,
            plan,
            warnings,
            stop,
            written,
            kept_in: Duration::ZERO,
            scratch,
            not_put_back,
            signals,
            page,
            started,
            style,
            words,
            label,
            out,
        }
    }
}

/// A warning that results were read from memory.
pub(crate) fn in_the_cache(facts: &Facts) -> String {
    format!("part of {} was in the page cache: buffered results measure memory", facts.address)
}

/// Removes journals about a device that is about to be overwritten.
fn end_journals(facts: &Facts, out: Out) -> Result<()> {
    Stale::of(facts, None).iter().try_for_each(|stale| {
        out.eprint(&text::warning(&stale.warning()));
        stale.end()
    })
}

/// Opens the disk or file in every mode of the plan.
fn subject(plan: &Measuring, facts: &Facts) -> Result<Subject> {
    let open = |(cache, side): &(Cache, _)| {
        let way = if *cache == Cache::Direct { Way::Direct } else { Way::Buffered };
        disks::open_source(side, facts).map(|end| (way, end))
    };
    of_ways(plan, facts, plan.ways.iter().map(open).collect::<Result<_>>()?)
}

/// The opened endpoints, with memory for blocks.
fn of_ways(plan: &Measuring, facts: &Facts, ways: Vec<(Way, Arc<dyn Endpoint>)>) -> Result<Subject> {
    let whole = vec![Extent::new(0, plan.size)];
    let made = |bytes| Subject::new(&facts.address, ways.clone(), plan.engine, whole.clone(), bytes);
    // If less memory is available, fewer requests in flight are measured.
    let mut made_of = made(MEASURED_IN_FLIGHT_BYTES);
    for halved in 1..=MEMORY_HALVED_MAX {
        made_of = made_of.or_else(|_| made(MEASURED_IN_FLIGHT_BYTES >> halved));
    }
    made_of.map_err(|error| {
        let advice = "It needs several MiB: stop other programs, or check ulimit -v.";
        Error::new(Kind::Io, "not enough memory for measuring").because(error).advise(advice)
    })
}

/// From now on a signal stops the measurement.
fn now_measuring(signals: &Signals, subject: &Subject) -> Arc<Stop> {
    let stop = Arc::new(Stop::default());
    if let [(_, first), .., (_, last)] | [(_, first @ last)] = subject.ways.as_slice() {
        signals.now_running(Running { stop: stop.clone(), ends: vec![first.clone(), last.clone()], progress: None });
    }
    stop
}
