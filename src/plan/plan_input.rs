//! The input of a plan.
use super::Options;
use crate::core::{CommandOptions, EndpointKind, Facts, Host, Side, Through};
use std::time::Duration;

/// The input of a plan: everything that [`super::make`] receives.
#[derive(Clone, Copy)]
pub(crate) struct PlanInput<'a> {
    pub(crate) options: &'a Options,
    pub(crate) source: &'a Facts,
    pub(crate) dest: &'a Facts,
    pub(crate) host: &'a Host,
    /// There are further dests.
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

    /// The node and the commands by which the side is reached; `None`: by reads and writes.
    pub(crate) fn through(&self, side: Side) -> Option<Through> {
        let node = self.facts(side).passthrough.clone()?;
        if !node.named && !self.options.passthrough.may(side) {
            return None;
        }
        let failing = self.options.rescue && side == Side::Source;
        let mut options = CommandOptions { failing, ..CommandOptions::default() };
        if let Some(seconds) = self.options.command_timeout_s {
            options.timeout = Duration::from_secs(seconds.into());
        }
        Some(Through { node, options })
    }

    /// Whether only a range was requested: the rest of the dest is not changed.
    pub(crate) fn range_given(&self) -> bool {
        let Options { skip_bytes, seek_bytes, count_bytes, .. } = self.options;
        skip_bytes.is_some() || seek_bytes.is_some() || count_bytes.is_some()
    }

    /// Whether the dest is a regular file.
    pub(crate) fn dest_is_file(&self) -> bool {
        self.dest.kind == EndpointKind::File
    }

    /// Whether the dest is a file that is empty when the copy begins, so that bytes that are not written read
    /// as zeros.
    pub(crate) fn dest_begins_empty(&self) -> bool {
        let Options { resume, rescue, delta, .. } = self.options;
        let kept = self.range_given() || *resume || *rescue || delta.is_some();
        self.dest_is_file() && (!self.dest.exists || !kept)
    }

    /// Whether this side is rotational.
    pub(crate) fn rotational(&self, side: Side) -> bool {
        let facts = self.facts(side);
        facts.queue.rotational.unwrap_or_else(|| facts.ground.iter().any(|ground| ground.rotational == Some(true)))
    }
}

/// Whether the file system keeps files in memory: the pages are the file, so no cache is polluted and no flush
/// is needed.
pub(crate) fn in_memory(facts: &Facts) -> bool {
    matches!(facts.filesystem.as_deref(), Some("tmpfs" | "ramfs" | "hugetlbfs" | "devtmpfs"))
}

/// The endpoint's name in messages: `dest /dev/sdb`.
pub(crate) fn named(side: Side, facts: &Facts) -> String {
    format!("{} {}", side.name(), facts.address)
}
