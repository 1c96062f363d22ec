//! What is reported about a plan, gathered while it is made.
use super::check::Range;
use super::plan_input::PlanInput;
use super::words;
use crate::core::{EndpointKind, OnError, PlanNotes, Reason, Side};

impl PlanNotes {
    /// Notes what was chosen about `topic`, and why.
    pub(super) fn chose(&mut self, topic: &'static str, choice: impl Into<String>, because: impl Into<String>) {
        self.why.push(Reason::new(topic, choice, because));
    }

    /// The same of what was chosen about one side alone.
    pub(super) fn chose_of(
        &mut self,
        side: Side,
        topic: &'static str,
        choice: impl Into<String>,
        because: impl Into<String>,
    ) {
        self.why.push(Reason { side: Some(side), ..Reason::new(topic, choice, because) });
    }

    /// Notes what the user should know before it begins.
    pub(super) fn warn(&mut self, warning: impl Into<String>) {
        self.warnings.push(warning.into());
    }

    /// The same, and then `others`.
    pub(super) fn append(&mut self, others: PlanNotes) {
        self.why.extend(others.why);
        self.warnings.extend(others.warnings);
        self.engine_because = others.engine_because;
    }

    /// Notes what happens to places that cannot be read, where that is not the usual end.
    pub(super) fn on_error(&mut self, asked: &PlanInput) {
        let OnError { skip, retries } = asked.options.on_error;
        let tries = if retries > 0 { format!("{retries} retries, then ") } else { String::new() };
        let choice = match (skip, retries) {
            (false, 0) => return,
            (false, _) => format!("{tries}stop"),
            (true, _) => format!("{tries}skip"),
        };
        let because = match skip {
            true => "--on-error: read the rest down to the logical block; exit status 1 if any sector is unreadable",
            false => "--on-error",
        };
        self.chose("unreadable sectors", choice, because);
    }

    /// Notes how much is copied.
    pub(super) fn range(&mut self, asked: &PlanInput, range: &Range) {
        if let Some(ranges) = &asked.options.ranges {
            let choice = words::exact(ranges.total_bytes());
            self.range = Some(Reason::new("length", choice, format!("only the {}", ranges.name())));
            return;
        }
        let because = match (asked.options.count_bytes, asked.source.kind) {
            (Some(_), _) => "--count",
            (None, EndpointKind::Endless) => "the size of the destination: the source never ends",
            (None, EndpointKind::Pattern) => "the size of the destination",
            (None, _) if range.len.is_none() => "the size of the source is unknown until end of stream",
            (None, _) if range.skip > 0 => "the source from --skip to its end",
            (None, _) => "the whole source",
        };
        let choice = range.len.map_or_else(|| "to the end of the stream".to_owned(), words::exact);
        self.range = Some(Reason::new("length", choice, because));
    }
}
