//! `--independent`: a separate copy transfers the rest to a dest that was left behind.
use super::digest_collector::DigestCollector;
use super::opened::Opened;
use super::operator::Operator;
use super::{host, verify_dests};
use crate::core::{AddressMap, Result, Side};
use crate::disks::{self, probe};
use crate::plan::{self, JournalChoice, Options, Plans};
use std::sync::Arc;

/// The missing part of a dest that was left behind.
pub(crate) struct CatchUp {
    pub(crate) dest: String,
    /// Where the copy to it stopped, in bytes from the start of the copy.
    pub(crate) from: u64,
    skip_bytes: u64,
    seek_bytes: u64,
    pub(crate) count_bytes: u64,
    /// The rest of the lists of the copy, by [`Side::index`].
    ranges: [Option<AddressMap>; 2],
}

impl CatchUp {
    pub(super) fn new(plans: &Plans, number: usize, claimed_bytes: u64) -> Self {
        let all = &plans.all.plan;
        let from = verify_dests::whole_blocks(all, claimed_bytes);
        CatchUp {
            dest: all.dests[number].side.address.clone(),
            from,
            skip_bytes: all.source.map.at(from),
            seek_bytes: all.dest.map.at(from),
            count_bytes: all.len.map_or(0, |len| len - from),
            ranges: Side::BOTH.map(|side| &all.side(side).map).map(|map| map.file().map(|_| map.without_first(from))),
        }
    }

    /// The command-line options that select the rest; none for the rest of a list, because it has no file.
    pub(crate) fn range_words(&self) -> Vec<String> {
        if self.ranges.iter().any(Option::is_some) {
            return Vec::new();
        }
        let range = [("--skip", self.skip_bytes), ("--seek", self.seek_bytes), ("--count", self.count_bytes)];
        range.iter().flat_map(|(option, bytes)| [(*option).to_owned(), bytes.to_string()]).collect()
    }

    /// The options for copying the rest: the user has already confirmed.
    pub(crate) fn options(&self, options: &Options) -> Options {
        Options {
            dest: self.dest.clone(),
            also: Vec::new(),
            skip_bytes: Some(self.skip_bytes),
            seek_bytes: Some(self.seek_bytes),
            count_bytes: Some(self.count_bytes),
            ranges: self.ranges.clone(),
            journal: JournalChoice::Never,
            hashes: Vec::new(),
            manifest: None,
            checksum: None,
            report: None,
            yes: true,
            ..options.clone()
        }
    }

    /// Opens the copy of the rest: the dest is still locked by the copy that left it behind, and has no
    /// journal.
    ///
    /// # Errors
    /// The reason for refusing it, or the side that cannot be opened.
    pub(crate) fn open(&self, options: &Options, operator: Arc<dyn Operator>) -> Result<Opened> {
        let through = Side::BOTH.map(|side| options.passthrough.may(side));
        let (source, dest) = probe::both_through(&options.source, &self.dest, through)?;
        let all = plan::make(options, &source, &dest, &host(options.engine))?;
        let source_end = disks::open_source(&all.plan.source, &source)?;
        let collector = DigestCollector::begin(options, &all.plan, &source, &[&dest], None)?;
        let plans = Plans { alone: vec![all.plan.clone()], all };
        Opened::new(options, plans, source_end, &[dest], collector, operator)
    }
}
