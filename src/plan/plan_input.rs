//! The question that a plan answers.
use super::Options;
use crate::core::{CommandOptions, EndpointKind, Facts, Host, Side, Through};
use std::time::Duration;

/// The question that a plan answers: everything [`super::make`] is given.
#[derive(Clone, Copy)]
pub(crate) struct PlanInput<'a> {
    pub(crate) options: &'a Options,
    pub(crate) source: &'a Facts,
    pub(crate) dest: &'a Facts,
    pub(crate) host: &'a Host,
    /// There are more dests than this one.
    pub(crate) one_of_several: bool,
}

impl<'a> PlanInput<'a> {
    /// The facts of one side.
    pub(crate) fn facts(&self, side: Side) -> &'a Facts {
        match side {
            Side::Source => self.source,
            Side::Dest => self.dest,
        }
    }

    /// The node and the commands that the side is reached by; `None`: by reads and writes.
    pub(crate) fn through(&self, side: Side) -> Option<Through> {
        let node = self.facts(side).passthrough.clone()?;
        if !node.named && !self.options.passthrough.may(side) {
            return None;
        }
        let mut wishes = CommandOptions::default();
        if let Some(seconds) = self.options.command_timeout_s {
            wishes.timeout = Duration::from_secs(seconds.into());
        }
        Some(Through { node, wishes })
    }

    /// Only a range was asked for: the rest of the dest stays as it is.
    pub(crate) fn range_given(&self) -> bool {
        let Options { skip_bytes, seek_bytes, count_bytes, .. } = self.options;
        skip_bytes.is_some() || seek_bytes.is_some() || count_bytes.is_some()
    }

    /// The dest is a regular file.
    pub(crate) fn dest_is_file(&self) -> bool {
        self.dest.kind == EndpointKind::File
    }

    /// The dest is a file that the copy fills from nothing, so that what is not written reads as zeros.
    pub(crate) fn dest_begins_empty(&self) -> bool {
        let kept = self.range_given() || self.options.resume || self.options.delta.is_some();
        self.dest_is_file() && (!self.dest.exists || !kept)
    }

    /// Either side is rotational.
    pub(crate) fn rotational(&self, side: Side) -> bool {
        let facts = self.facts(side);
        facts.queue.rotational.unwrap_or_else(|| facts.ground.iter().any(|ground| ground.rotational == Some(true)))
    }
}

/// The file system keeps files in memory: its pages are the file, there is no cache to spoil and nothing to flush.
pub(crate) fn in_memory(facts: &Facts) -> bool {
    matches!(facts.filesystem.as_deref(), Some("tmpfs" | "ramfs" | "hugetlbfs" | "devtmpfs"))
}

/// What names the endpoint in messages: `dest /dev/sdb`.
pub(crate) fn named(side: Side, facts: &Facts) -> String {
    format!("{} {}", side.name(), facts.address)
}
