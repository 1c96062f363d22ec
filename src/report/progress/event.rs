use super::lines::phase_name;
use crate::core::{Event, Limits, Phase};
use crate::report::columns;
use crate::report::json::{self, FailureReport, object, seconds};
use crate::report::printable::printable;
use crate::report::style::{CARE, paint};
use std::time::Duration;

/// A copy of an event that is kept after the call that reported it.
#[derive(Debug)]
pub(super) enum ProgressEvent {
    Began(Phase),
    Paced { limits: Limits, because: String },
    FellBack(String),
    Warned(String),
    Failed(FailureReport),
}

impl ProgressEvent {
    /// The event, if it is to be reported.
    pub(super) fn of(event: &Event<'_>) -> Option<Self> {
        Some(match *event {
            Event::Began(phase) => ProgressEvent::Began(phase),
            Event::Paced { limits, because } => ProgressEvent::Paced { limits, because: because.to_owned() },
            Event::FellBack(message) => ProgressEvent::FellBack(message.to_owned()),
            Event::Warned(message) => ProgressEvent::Warned(message.to_owned()),
            Event::Failed(error) => ProgressEvent::Failed(FailureReport::from(error)),
            Event::Digested(_) => return None,
        })
    }

    /// As text during the copy: only events to which users may react. The report has all.
    pub(super) fn text(&self) -> Option<String> {
        match self {
            ProgressEvent::Warned(message) => {
                let first = format!("haul: {} ", paint(CARE, "warning:"));
                Some(columns::message(&first, "      ", &printable(message)))
            }
            _ => None,
        }
    }

    /// As a line of JSON.
    pub(super) fn json(&self, elapsed: Duration) -> String {
        let elapsed_s = seconds(elapsed);
        match self {
            ProgressEvent::Began(phase) => {
                json::line(&object! { r#type: "phase", elapsed_s, phase: phase_name(*phase) })
            }
            ProgressEvent::Paced { limits, because } => {
                let (block_bytes, queue_depth) = (limits.block_bytes, json::queue_depth(*limits));
                json::line(&object! { r#type: "pace", elapsed_s, block_bytes, queue_depth, because })
            }
            ProgressEvent::FellBack(message) => json::line(&object! { r#type: "fallback", elapsed_s, message }),
            ProgressEvent::Warned(message) => json::line(&object! { r#type: "warning", elapsed_s, message }),
            ProgressEvent::Failed(error) => json::line(&object! { r#type: "error", elapsed_s, error }),
        }
    }
}
