//! Reasons and warnings, gathered on the way.
use super::asked::PlanInput;
use super::check::Range;
use super::words;
use crate::core::{EndpointKind, OnError, Reason};

/// Reasons and warnings, gathered on the way.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) why: Vec<Reason>,
    pub(super) warnings: Vec<String>,
}

impl Notes {
    /// Notes what was chosen about `topic`, and why.
    pub(super) fn chose(&mut self, topic: &'static str, choice: impl Into<String>, because: impl Into<String>) {
        self.why.push(Reason { topic, choice: choice.into(), because: because.into() });
    }

    /// Notes what the user should know before it begins.
    pub(super) fn warn(&mut self, warning: impl Into<String>) {
        self.warnings.push(warning.into());
    }

    /// Notes what becomes of places that cannot be read, where that is not the usual end.
    pub(super) fn on_error(&mut self, asked: &PlanInput) {
        let OnError { skip, retries } = asked.options.on_error;
        let tries = if retries > 0 { format!("{retries} more tries, then ") } else { String::new() };
        let choice = match (skip, retries) {
            (false, 0) => return,
            (false, _) => format!("{tries}stop"),
            (true, _) => format!("{tries}skip"),
        };
        let because = match skip {
            true => "--on-error: the rest is read, down to the logical block; exit status 1 if there was any",
            false => "--on-error",
        };
        self.chose("bad places", choice, because);
    }

    /// Notes how much is copied, as the first reason.
    pub(super) fn range(&mut self, asked: &PlanInput, range: &Range) {
        let because = match (asked.options.count_bytes, asked.source.kind) {
            (Some(_), _) => "--count",
            (None, EndpointKind::Endless) => "what the dest holds: the source never ends",
            (None, EndpointKind::Pattern) => "what the dest holds",
            (None, _) if range.len.is_none() => "the size of the source is not known before its end",
            (None, _) if range.skip > 0 => "the rest of the source behind --skip",
            (None, _) => "the whole source",
        };
        let choice = range.len.map_or_else(|| "to the end of the stream".to_owned(), words::exact);
        self.why.insert(0, Reason { topic: "length", choice, because: because.to_owned() });
    }
}
