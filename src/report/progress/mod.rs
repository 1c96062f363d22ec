//! Progress during a copy: a separate thread polls the [`Tally`], so the copy itself never waits for a
//! terminal.
mod bar;
mod dests;
mod event;
mod lines;
mod meter;
mod phrases;
mod plain;
mod rescue;
mod sample;
mod screen;
mod subject;
mod view;

use crate::core::rescue::SharedRescue;
use crate::core::{Event, Observer, Phase, Plan, RunTally, Series, Tally};
use crate::measure::Forecast;
use crate::plan::ProgressStyle;
use crate::report::printable::printable;
use dests::Dests;
use event::ProgressEvent;
use meter::Meter;
use plain::Pacer;
use rescue::RescueView;
use sample::Sample;
use screen::Screen;
use serde::Serialize;
use std::fmt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SendError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use subject::Subject;
use view::View;

/// Ten times per second: a bar moves smoothly, and the series of the page has samples of short copies, too.
const TICK: Duration = Duration::from_millis(100);

/// Interval of JSON lines.
const JSON_GAP: Duration = Duration::from_secs(1);

/// Shows the progress of a copy on standard error until [`Progress::finish`] or its drop. Receives events as an
/// [`Observer`]; may be shared between threads.
pub struct Progress {
    shared: Arc<Shared>,
    messages: Sender<Message>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Shared by the observer thread and callers that request a status line.
struct Shared {
    tallies: Vec<Arc<Tally>>,
    /// Each dest, if there are several.
    dests: Dests,
    began: Instant,
    meter: Mutex<Meter>,
    /// The course of the copy, for the page.
    series: Mutex<Series>,
    screen: Screen,
    /// Address of the dest, for messages about the flush.
    dest: String,
    /// The rescue, if it is one.
    rescue: Option<RescueView>,
}

enum Message {
    Said(ProgressEvent, Duration),
    End,
}

impl Progress {
    /// Starts the observer thread for a copy by `plan`. `runs` is its only run, or several concurrent ones, one
    /// for each dest of the plan; `forecast` is its estimate. `Auto` is a bar if standard error is a terminal,
    /// else plain lines; so is `Bar` without a terminal.
    /// `rescue` is its state if it is a rescue, and shown too.
    pub fn start(
        style: ProgressStyle,
        plan: &Plan,
        runs: &[RunTally],
        forecast: Option<Forecast>,
        rescue: Option<SharedRescue>,
    ) -> Progress {
        Progress::start_on(Screen::stderr(style), plan, runs, forecast, rescue)
    }

    fn start_on(
        screen: Screen,
        plan: &Plan,
        runs: &[RunTally],
        forecast: Option<Forecast>,
        rescue: Option<SharedRescue>,
    ) -> Progress {
        let expected_s = forecast.as_ref().and_then(Forecast::expected_s);
        let meter = Meter::new(plan.len, plan.limit_bytes_per_s.is_some());
        let shared = Arc::new(Shared {
            tallies: runs.iter().map(|run| run.tally.clone()).collect(),
            dests: Dests::of(plan, runs),
            began: Instant::now(),
            meter: Mutex::new(meter.comparing(!plan.route.writes()).estimated(forecast)),
            series: Mutex::default(),
            screen,
            dest: printable(&plan.dest.address),
            rescue: rescue.map(RescueView::new),
        });
        if shared.screen.style() == ProgressStyle::Json {
            shared.screen.write(&lines::start(plan, expected_s, shared.rescue.is_some()));
        }
        shared.sample();
        let (messages, inbox) = channel();
        let observer = shared.clone();
        let thread = thread::Builder::new().name("progress".to_owned()).spawn(move || observer.run(&inbox));
        // Without the thread only the status line is available, and the copy continues.
        Progress { shared, messages, thread: Mutex::new(thread.ok()) }
    }

    /// The current progress on one line, as for SIGUSR1. In JSON if progress is JSON.
    pub fn status_line(&self) -> String {
        self.shared.screen.status(&self.shared.look(), &self.shared.subject())
    }

    /// Prints the status line, above the bar if there is one, in any style.
    pub fn print_status(&self) {
        self.shared.screen.write(&self.status_line());
    }

    /// Ends progress: removes the bar, so that the report begins on an empty line. Later calls do nothing.
    pub fn finish(&self) {
        let Some(thread) = lock(&self.thread).take() else { return };
        // Both fail only if the thread has ended, and then only the bar must be cleared.
        let _ = self.messages.send(Message::End);
        let _ = thread.join();
        self.shared.screen.clear();
    }

    /// The course of the copy so far, in moments of at least 100 ms at first.
    pub fn series(&self) -> Series {
        self.shared.sample();
        lock(&self.shared.series).clone()
    }

    /// The same, with the report as the last line for readers of JSON lines.
    pub fn finish_with(&self, report: &impl Serialize) {
        self.finish();
        if self.shared.screen.style() == ProgressStyle::Json {
            self.shared.screen.write(&lines::summary(report));
        }
    }
}

/// The last line for readers of JSON lines, about a run without progress.
pub fn last_line(report: &impl Serialize) -> String {
    lines::summary(report)
}

impl Observer for Progress {
    fn on_event(&self, event: &Event<'_>) {
        let Some(said) = ProgressEvent::of(event) else { return };
        let unsent = self.messages.send(Message::Said(said, self.shared.began.elapsed())).err();
        // Between two runs there is no display thread, but readers of JSON lines get the event at once.
        if let Some(SendError(Message::Said(said, elapsed))) = unsent
            && self.shared.screen.style() == ProgressStyle::Json
        {
            self.shared.screen.write(&said.json(elapsed));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Progress").field("style", &self.shared.screen.style()).finish_non_exhaustive()
    }
}

impl Shared {
    /// Takes a sample and returns its time. Cheap: only [`Shared::look`] evaluates samples.
    fn sample(&self) -> Duration {
        let mut meter = lock(&self.meter);
        // The clock is read under the lock: samples must be in order of time.
        let sample = Sample::of(&self.tallies, self.began.elapsed());
        meter.push(sample);
        lock(&self.series).push(sample.moment());
        sample.at
    }

    /// What is displayed besides numbers.
    fn subject(&self) -> Subject<'_> {
        Subject { dest: &self.dest, dests: self.dests.look(), rescue: self.rescue.as_ref() }
    }

    /// Takes a sample and returns the view to display.
    fn look(&self) -> View {
        self.sample();
        self.view()
    }

    /// The view of the last sample. Computing its remaining time takes half a million instructions.
    fn view(&self) -> View {
        let view = lock(&self.meter).view().expect("a sample was taken when the display was started");
        self.rescue.as_ref().map_or(view, |rescue| rescue.complete(view))
    }

    /// The observer thread.
    fn run(&self, inbox: &Receiver<Message>) {
        let style = self.screen.style();
        let mut pacer = Pacer::new();
        let mut json_due = JSON_GAP;
        loop {
            match inbox.recv_timeout(TICK) {
                Ok(Message::Said(said, at)) => self.print_event(&said, at, &pacer),
                Err(RecvTimeoutError::Timeout) => {}
                Ok(Message::End) | Err(RecvTimeoutError::Disconnected) => break,
            }
            let elapsed = self.sample();
            match style {
                ProgressStyle::Bar => self.screen.draw(&self.view(), &self.subject()),
                ProgressStyle::Plain if pacer.is_due(elapsed) => {
                    self.screen.write(&plain::lines(&self.view(), &self.subject()));
                }
                ProgressStyle::Json if elapsed >= json_due => {
                    json_due = elapsed + JSON_GAP;
                    self.screen.write(&lines::progress(&self.view(), &self.subject()));
                }
                _ => {}
            }
        }
        if style == ProgressStyle::Json {
            self.screen.write(&lines::progress(&self.look(), &self.subject()));
        }
    }

    /// Prints an event. A flush gets a separate plain line if lines were printed before: it may take long.
    fn print_event(&self, said: &ProgressEvent, at: Duration, pacer: &Pacer) {
        match (self.screen.style(), said) {
            (ProgressStyle::Json, said) => self.screen.write(&said.json(at)),
            (ProgressStyle::Plain, ProgressEvent::Began(Phase::Flushing)) if pacer.has_begun() => {
                let subject = Subject { dest: &self.dest, dests: Vec::new(), rescue: None };
                self.screen.write(&plain::lines(&self.look(), &subject));
            }
            (ProgressStyle::Silent, _) => {}
            // Errors are printed even without progress.
            (_, said) => {
                if let Some(text) = said.text() {
                    self.screen.write(&text);
                }
            }
        }
    }
}

/// Locks even if a thread panicked while it held the lock: it left complete values.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
