//! `--independent`: a dest that was left behind gets the rest by a copy of its own.
use super::digest_collector::DigestCollector;
use super::opened::Opened;
use super::operator::Operator;
use super::{host, verify_dests};
use crate::core::{Result, Side};
use crate::disks::{self, probe};
use crate::plan::{self, JournalChoice, Options, Plans};
use std::sync::Arc;

/// What a dest lacks that was left behind.
pub(crate) struct CatchUp {
    pub(crate) dest: String,
    /// Where the copy to it stopped, in bytes from its first one.
    pub(crate) from: u64,
    pub(crate) skip_bytes: u64,
    pub(crate) seek_bytes: u64,
    pub(crate) count_bytes: u64,
}

impl CatchUp {
    pub(super) fn new(plans: &Plans, number: usize, claimed_bytes: u64) -> Self {
        let all = &plans.all.plan;
        let from = verify_dests::whole_blocks(all, claimed_bytes);
        CatchUp {
            dest: all.dests[number].side.address.clone(),
            from,
            skip_bytes: all.source.offset + from,
            seek_bytes: all.dest.offset + from,
            count_bytes: all.len.map_or(0, |len| len - from),
        }
    }

    /// What a copy of the rest is asked for: the user has agreed to it already.
    pub(crate) fn options(&self, options: &Options) -> Options {
        Options {
            dest: self.dest.clone(),
            also: Vec::new(),
            skip_bytes: Some(self.skip_bytes),
            seek_bytes: Some(self.seek_bytes),
            count_bytes: Some(self.count_bytes),
            journal: JournalChoice::Never,
            hashes: Vec::new(),
            manifest: None,
            report: None,
            yes: true,
            ..options.clone()
        }
    }

    /// Opens the copy of the rest: the dest is held by the copy that left it behind, and has no journal.
    ///
    /// # Errors
    /// What forbids it, or cannot be opened.
    pub(crate) fn open(&self, options: &Options, operator: Arc<dyn Operator>) -> Result<Opened> {
        let through = Side::BOTH.map(|side| options.passthrough.may(side));
        let (source, dest) = probe::both_through(&options.source, &self.dest, through)?;
        let all = plan::make(options, &source, &dest, &host(options.engine))?;
        let source_end = disks::open_source(&all.plan.source, &source)?;
        let collector = DigestCollector::begin(options, &all.plan, &source, &[&dest])?;
        let plans = Plans { alone: vec![all.plan.clone()], all };
        Opened::new(options, plans, source_end, &[dest], collector, operator)
    }
}
