//! A destination on a server that was lost during the copy. A server that restarted may have lost what it acknowledged
//! since the last flush, so a new connection is not enough: the copy continues from its last checkpoint, as with
//! `--resume`.
use super::operator::Operator;
use super::prepared::{Prepared, resumed};
use super::{Finished, Opened};
use crate::core::{Ended, EndpointKind, Error, JournalTotals, Kind, Outcome, Plan, Result, Route, Side, count};
use crate::plan::Options;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long to wait for a lost server.
const RECONNECT_WITHIN: Duration = Duration::from_secs(30);

/// The pause between two attempts to connect: the first, and the longest after doubling.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(5)];

/// The copy fails after this number of consecutive losses without durable progress.
const LOSSES_WITHOUT_PROGRESS_MAX: u32 = 5;

/// The lost connections of one copy.
#[derive(Default)]
pub(crate) struct LostServers {
    notes: Vec<String>,
    durable_bytes: u64,
    losses_without_progress: u32,
    spent: Duration,
}

impl LostServers {
    /// Waits for a lost server and opens the rest of the copy. `None`: `finished` is final, because no server was lost,
    /// it did not come back, or the copy cannot be continued, for which a note has the reason. That is never an error
    /// of its own: what was written is written, and the report of the copy has it.
    pub(crate) fn reconnect(
        &mut self,
        finished: &mut Finished,
        options: &Options,
        operator: &Arc<dyn Operator>,
    ) -> Option<Opened> {
        let opened = self.rest(finished, options).and_then(|rest| match open(&rest, finished, operator) {
            Ok(opened) => opened,
            Err(error) => {
                let dest = &finished.decision.plan.dest.address;
                self.notes.push(format!(
                    "the copy could not be continued after the server of destination {dest} was lost: {error}"
                ));
                None
            }
        });
        match &opened {
            Some(_) => self.notes.push(format!(
                "the connection to the server of destination {} was lost and restored; haul copied again what was not \
                 flushed before",
                finished.decision.plan.dest.address
            )),
            None => finished.outcome.notes.append(&mut self.notes),
        }
        opened
    }

    /// The options for the rest, if the copy ended because its server was lost.
    fn rest(&mut self, finished: &Finished, options: &Options) -> Option<Options> {
        let (plan, outcome) = (&finished.decision.plan, &finished.outcome);
        let kept = outcome.kept.as_ref().filter(|_| was_lost(plan, outcome))?;
        self.losses_without_progress =
            if kept.durable_bytes > self.durable_bytes { 0 } else { self.losses_without_progress + 1 };
        (self.durable_bytes, self.spent) = (kept.durable_bytes, self.spent + outcome.elapsed);
        let time_limit = options.time_limit.map(|limit| limit.saturating_sub(self.spent));
        if self.losses_without_progress >= LOSSES_WITHOUT_PROGRESS_MAX || time_limit.is_some_and(|left| left.is_zero())
        {
            return None;
        }
        Some(Options { yes: true, time_limit, ..continued(options, kept)? })
    }
}

/// The copy had a journal, and ended because the server of its one destination was lost.
fn was_lost(plan: &Plan, outcome: &Outcome) -> bool {
    let lost = |error: &Error| error.kind == Kind::Disconnected && error.side == Some(Side::Dest);
    plan.dest.kind == EndpointKind::Nbd
        && plan.dests.len() <= 1
        && plan.route == Route::Copy
        && matches!(&outcome.ended, Ended::Failed(error) if lost(error))
}

/// Options that resume the copy from its journal, or restart it if nothing was durable. `None`: everything was durable
/// when the server was lost.
fn continued(options: &Options, kept: &JournalTotals) -> Option<Options> {
    match (&kept.left, kept.durable_bytes) {
        (Some(_), _) => Some(resumed(options)),
        (None, 0) => Some(Options { resume: false, restart: true, ..options.clone() }),
        (None, _) => None,
    }
}

/// Opens the rest of the copy once the server is back; `None`: it is not.
///
/// # Errors
/// What forbids the rest, or cannot be opened.
fn open(rest: &Options, finished: &Finished, operator: &Arc<dyn Operator>) -> Result<Option<Opened>> {
    let Some(prepared) = wait(rest, finished, operator)? else { return Ok(None) };
    let dest = &finished.decision.plan.dest.address;
    let from = count(prepared.decision().notes.already_bytes, "byte is", "bytes are");
    operator.warn(&format!("the server of destination {dest} is back: the copy continues; {from} durable"));
    prepared.lock()?.open().map(Some)
}

/// Waits until both sides can be probed again; `None`: timed out, or ended by a signal.
fn wait(rest: &Options, finished: &Finished, operator: &Arc<dyn Operator>) -> Result<Option<Prepared>> {
    let dest = &finished.decision.plan.dest.address;
    let seconds = RECONNECT_WITHIN.as_secs();
    operator.warn(&format!(
        "the connection to the server of destination {dest} was lost; waiting up to {seconds} s for it"
    ));
    let (began, mut pause) = (Instant::now(), PAUSES[0]);
    while began.elapsed() < RECONNECT_WITHIN && finished.stop.signal().is_none() {
        match Prepared::look(rest, operator) {
            Ok(prepared) => return Ok(Some(prepared)),
            Err(error) if error.kind == Kind::Open && error.side == Some(Side::Dest) => {}
            Err(error) => return Err(error),
        }
        pause_unless_stopped(pause, finished);
        pause = (pause * 2).min(PAUSES[1]);
    }
    Ok(None)
}

/// Sleeps; a signal ends the pause.
fn pause_unless_stopped(pause: Duration, finished: &Finished) {
    let began = Instant::now();
    while began.elapsed() < pause && finished.stop.signal().is_none() {
        sleep(PAUSES[0].min(pause - began.elapsed().min(pause)));
    }
}
