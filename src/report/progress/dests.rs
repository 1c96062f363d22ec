//! The progress of each of several dests.
use super::phrases::percent_of;
use crate::core::RunTally;
use crate::core::{DestState, DestTally, Phase, Plan, Tally};
use crate::report::printable::printable;
use crate::report::units;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The progress of one dest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DestView {
    /// As the user wrote it.
    pub(super) address: String,
    /// The same, made safe to print.
    pub(super) name: String,
    /// It is being read back.
    pub(super) reading_back: bool,
    /// It is in memory: flushed data does not survive a power loss.
    pub(super) in_memory: bool,
    /// Its current state.
    pub(super) state: DestState,
    /// Bytes acknowledged, or read back; at most the total.
    pub(super) copied_bytes: u64,
    /// `None`: to the end of a stream.
    pub(super) total_bytes: Option<u64>,
}

impl DestView {
    /// The state in text output; empty if there is no problem.
    pub(super) fn word(&self) -> &'static str {
        match (self.state, self.reading_back) {
            (DestState::Moving, false) => "",
            (DestState::Moving, true) => "reading back",
            (DestState::Flushing, _) => "flushing",
            (DestState::Done, false) if self.in_memory => "in memory",
            (DestState::Done, false) => "durable",
            (DestState::Done, true) => "read back",
            (DestState::Behind, _) => "left behind",
            (DestState::Failed, _) => "failed",
        }
    }

    /// The state in JSON.
    pub(super) fn key(&self) -> &'static str {
        match (self.state, self.reading_back) {
            (DestState::Moving, false) => "copying",
            (DestState::Moving, true) => "reading_back",
            (DestState::Flushing, _) => "flushing",
            (DestState::Done, _) => "done",
            (DestState::Behind, _) => "behind",
            (DestState::Failed, _) => "failed",
        }
    }

    /// ` 42 %`, in a column of fixed width; `None` for a stream.
    pub(super) fn percent(&self) -> Option<String> {
        self.total_bytes.map(|total| percent_of(self.copied_bytes, total))
    }

    /// One line for logs, with a newline.
    pub(super) fn line(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(self.percent().map(|percent| percent.trim_start().to_owned()));
        parts.push(units::size(self.copied_bytes));
        parts.extend(Some(self.word().to_owned()).filter(|word| !word.is_empty()));
        format!("haul: destination {}: {}\n", self.name, parts.join(", "))
    }
}

/// The sources of each dest's numbers.
pub(super) struct Dests {
    sources: Vec<(String, Option<u64>, Numbers)>,
}

enum Numbers {
    /// One of several dests of one run.
    Beside(Arc<DestTally>),
    /// The dest of a separate run.
    Alone(Arc<Tally>),
}

impl Dests {
    /// The dests of `plan`, copied by one run or by one run for each, with the number of bytes of each; empty
    /// if there is only one dest.
    pub(super) fn of(plan: &Plan, runs: &[RunTally]) -> Self {
        let sources = match runs {
            [RunTally { tally, total_bytes }] => {
                let beside =
                    |dest: &Arc<DestTally>| (dest.address.clone(), *total_bytes, Numbers::Beside(dest.clone()));
                tally.dests.iter().map(beside).collect()
            }
            several => {
                let addresses = plan.dests.iter().map(|planned| planned.side.address.clone());
                let alone =
                    |(run, address): (&RunTally, String)| (address, run.total_bytes, Numbers::Alone(run.tally.clone()));
                several.iter().zip(addresses).map(alone).collect()
            }
        };
        Dests { sources }
    }

    /// The current progress of each.
    pub(super) fn look(&self) -> Vec<DestView> {
        self.sources.iter().map(|(address, total_bytes, numbers)| view(address, *total_bytes, numbers)).collect()
    }
}

fn view(address: &str, total_bytes: Option<u64>, numbers: &Numbers) -> DestView {
    let (reading_back, in_memory, state, copied) = match numbers {
        Numbers::Beside(tally) => {
            (false, tally.in_memory, DestState::of(tally.state.load(Relaxed)), tally.copied_bytes.load(Relaxed))
        }
        Numbers::Alone(tally) => {
            let ended = tally.phase.load(Relaxed) == Phase::Ended as u8;
            (true, false, if ended { DestState::Done } else { DestState::Moving }, tally.dest_bytes())
        }
    };
    let copied_bytes = total_bytes.map_or(copied, |total| copied.min(total));
    let (address, name) = (address.to_owned(), printable(address));
    DestView { address, name, reading_back, in_memory, state, copied_bytes, total_bytes }
}
