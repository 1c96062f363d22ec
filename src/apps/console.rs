//! The terminal: asks before data is overwritten, shows progress, handles signals.
use super::exit::Exit;
use super::not_started::by_signal;
use super::signals::{Running, Signals};
use crate::core::{Error, Event, Facts, Kind, Observer, Plan, PlanNotes, Result, Series, Side, locked};
use crate::job::journal::{ResumeChoice, Unfinished};
use crate::job::operator::{Operator, Run, RunDisplay};
use crate::job::undo::PutBack;
use crate::plan::{Options, ProgressStyle};
use crate::report::{Out, Progress, text};
use crate::sys;
use serde::Serialize;
use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex};

/// The operator of a command run from a terminal or a script.
pub(super) struct Console {
    pub(super) out: Out,
    style: ProgressStyle,
    signals: Signals,
    /// The most recent run that was displayed.
    last: Mutex<Option<Arc<Progress>>>,
    /// Warnings for readers of JSON lines, reported when a run begins.
    pending: Mutex<Vec<String>>,
}

impl Console {
    /// Handles signals from now on. One that arrives before anything runs is reported as a `report` about the
    /// command line `words`.
    ///
    /// # Errors
    /// As for [`Signals::watch`].
    pub(super) fn new(options: &Options, report: &'static str, words: &[String], out: Out) -> Result<Arc<Console>> {
        // A write beyond `ulimit -f` then fails with EFBIG, which is reported and leaves the journal intact,
        // instead of killing the process.
        sys::ignore(libc::SIGXFSZ);
        let signals = Signals::watch_with(out, by_signal(options, report, words, out))?;
        Ok(Arc::new(Console {
            out,
            style: options.progress,
            signals,
            last: Mutex::default(),
            pending: Mutex::default(),
        }))
    }

    /// Prints a message that is not an error: as text, unless --quiet; as a line of JSON with `message` if
    /// progress is JSON, now or once a run has begun.
    pub(super) fn notify(&self, text: &str, message: &str) {
        match self.style {
            ProgressStyle::Json => {}
            ProgressStyle::Silent => return,
            _ => return self.out.eprint(text),
        }
        match &*locked(&self.last) {
            Some(progress) => progress.on_event(&Event::Warned(message)),
            None => locked(&self.pending).push(message.to_owned()),
        }
    }

    /// How the process ends: by the signal that requested it, even a late one, otherwise as `exit` states.
    pub(super) fn end(&self, exit: Exit) -> Exit {
        self.signals.asked().map_or(exit, Exit::Signal)
    }

    /// Ends the progress output with the report: for readers of JSON lines it is the last line.
    pub(super) fn finish_with(&self, report: &impl Serialize) {
        let last = locked(&self.last).take();
        last.iter().for_each(|progress| progress.finish_with(report));
    }
}

impl Operator for Console {
    fn warn(&self, warning: &str) {
        self.notify(&text::warning(warning), warning);
    }

    fn warn_of(&self, notes: &PlanNotes) {
        notes.remarks.iter().for_each(|remark| self.notify(&text::info(remark), remark));
        notes.warnings.iter().for_each(|warning| self.warn(warning));
    }

    fn put_back(&self, address: &str, done: &PutBack, notes: &mut PlanNotes) {
        let messages = text::put_back_earlier(address, done.kept_bytes, done.written_bytes);
        self.notify(&text::info(&messages), &messages);
        if self.style == ProgressStyle::Json {
            notes.warnings.push(messages);
        }
    }

    fn dropped(&self, error: &Error) {
        if self.style == ProgressStyle::Silent {
            return self.out.eprint(&text::dropped(error));
        }
        let message = format!("{}; haul drops this destination, the others continue", text::message(error));
        self.notify(&text::dropped(error), &message);
    }

    fn resume_choice(&self, plan: &Plan, unfinished: &Unfinished) -> Result<ResumeChoice> {
        let Unfinished { what, ways, can_resume } = unfinished;
        let refused = |what: String, advice: String| Err(Error::new(Kind::Refused, what).on(Side::Dest).advise(advice));
        if !can_be_asked(plan.source.address != "-", self.out) {
            let advice = format!("Nothing was written. {ways}, which removes its journal; --yes does not apply here.");
            return refused(what.clone(), advice);
        }
        let cannot_ask = |error| Error::new(Kind::Refused, "cannot ask what to do with it").because(error);
        let question = text::waiting_copy(what, *can_resume);
        let answer = text::answer(&question, &mut io::stdin().lock(), &mut self.out.error_stream());
        match answer.map_err(cannot_ask)?.as_str() {
            "continue" if *can_resume => Ok(ResumeChoice::Resume),
            "restart" => Ok(ResumeChoice::Restart),
            _ => refused(
                format!("stopped: nothing was written to destination {}", plan.dest.address),
                "The unfinished copy remains: --resume continues it, --restart discards it.".to_owned(),
            ),
        }
    }

    fn confirm(&self, plan: &Plan, source: &Facts, dest: &Facts) -> Result<()> {
        let can_be_asked = plan.source.address != "-";
        confirm(&plan.dest.address, can_be_asked, || text::confirm(plan, source, dest), self.out)
    }

    fn begin(&self, run: Run<'_>) -> Arc<dyn RunDisplay> {
        let Run { plan, ends, stop, watched, forecast, rescue } = run;
        let mut begun = None;
        self.signals.begin(|| {
            let progress = begun.insert(Arc::new(Progress::start(self.style, plan, watched, forecast, rescue)));
            Running { stop: stop.clone(), ends: ends.to_vec(), progress: Some(progress.clone()) }
        });
        let progress = begun.expect("it has begun");
        locked(&self.pending).drain(..).for_each(|warning| progress.on_event(&Event::Warned(&warning)));
        *locked(&self.last) = Some(progress.clone());
        progress
    }

    fn done(&self) {
        self.signals.now_between();
    }
}

impl RunDisplay for Progress {
    fn finish(&self) {
        Progress::finish(self);
    }

    fn series(&self) -> Series {
        Progress::series(self)
    }
}

/// Asks for permission to overwrite this dest: shows `question`; the answer must be yes.
///
/// # Errors
/// Refused if the answer is not yes, or there is no terminal to ask on.
pub(super) fn confirm(dest: &str, may_ask: bool, question: impl FnOnce() -> String, out: Out) -> Result<()> {
    let refused = |what: &str| Error::new(Kind::Refused, format!("{what} {dest}")).on(Side::Dest);
    if !can_be_asked(may_ask, out) {
        return Err(refused("no terminal to confirm overwriting destination").advise(
            "Check the device with haul list, then use --yes; --expect serial=… ensures that it is the right one.",
        ));
    }
    match text::ask(&question(), &mut io::stdin().lock(), &mut out.error_stream()) {
        Ok(true) => Ok(()),
        Ok(false) => Err(refused("not confirmed: nothing was written to destination")),
        Err(error) => Err(refused("cannot ask before overwriting destination").because(error)),
    }
}

/// Asks on the terminal for permission to do something that cannot be undone: whether the answer to `question`
/// is yes.
///
/// # Errors
/// Refused if there is no terminal to ask on.
pub(super) fn agreed(question: impl FnOnce() -> String, out: Out) -> Result<bool> {
    if !can_be_asked(true, out) {
        return Err(
            Error::new(Kind::Refused, "no terminal to confirm on").advise("Give --yes to do it without asking.")
        );
    }
    text::ask(&question(), &mut io::stdin().lock(), &mut out.error_stream())
        .map_err(|error| Error::new(Kind::Refused, "cannot ask on the terminal").because(error))
}

/// A function that asks a question on the terminal and returns the answer; `None`: there is no terminal.
pub(super) fn chosen(out: Out) -> Option<impl FnOnce(&str) -> Result<String>> {
    can_be_asked(true, out).then_some(move |question: &str| {
        text::answer(question, &mut io::stdin().lock(), &mut out.error_stream())
            .map_err(|error| Error::new(Kind::Refused, "cannot ask on the terminal").because(error))
    })
}

/// Whether there is a terminal to ask on. `may_ask`: standard input is not the source.
fn can_be_asked(may_ask: bool, out: Out) -> bool {
    may_ask && io::stdin().is_terminal() && out.error_is_terminal()
}
