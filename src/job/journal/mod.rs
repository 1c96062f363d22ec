//! The journal of a copy: its path, what happens to an existing one, whether it still fits, and how it is
//! written.
mod about;
mod active;
mod directories;
mod exchange;
mod fits;
mod foreign;
mod journal_writer;
mod pending;
mod place;
mod ranges;
mod remove;
mod stale;
mod upload;
mod waiting;

use crate::core::{
    CheckpointPlan, DigestedBlock, Endpoint, EndpointKind, Error, ExtentSet, Facts, Kind, Plan, Reason, Result, Upload,
    byte_count,
};
use crate::job::beside;
use crate::job::journal_digests::JournalDigests;
use crate::ledger::journal::{Head, Journal};
use crate::ledger::{FaultKind, SideIdentity};
use crate::plan::{JournalChoice, Options, words};
pub(crate) use active::{ActiveJournal, FinishedJournal};
pub(crate) use directories::{all as directories_of_devices, keep_in};
pub(crate) use exchange::{Exported, Imported, export, import, opened};
pub(crate) use fits::{check_state, digest_at};
use journal_writer::JournalWriter;
pub(crate) use journal_writer::samples_of;
pub(crate) use pending::{PendingCopies, find_all};
pub(crate) use place::{
    any_exists, is_in_new_directory, of as place_of, of_device, of_related, prepare, start_on_disk,
};
pub(crate) use remove::Removal;
pub(crate) use stale::Stale;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use waiting::Waiting;
pub(crate) use waiting::{ResumeChoice, Unfinished};

/// Minimum and maximum time between two checkpoints by default.
const EVERY: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(60)];

/// What exists at the path of a copy's journal, before anything is changed.
pub(crate) struct ExistingJournal {
    /// Its path, existing or not; `None`: no journal is kept.
    path: Option<PathBuf>,
    /// The user named the path.
    named: bool,
    /// An existing journal: of this copy with `--resume`, else of another copy, which this one supersedes.
    old: Option<Journal>,
    /// Other journals that claim bytes of the dest.
    stale: Vec<Stale>,
    /// Those of them that could be resumed and are not discarded.
    waiting: Vec<Waiting>,
    resumes: bool,
    /// The upload of an earlier run that continues, with the parts that the store still has.
    upload: Option<Upload>,
    head: Head,
    every: [Duration; 2],
    /// Warnings to print before the copy begins.
    pub(crate) warnings: Vec<String>,
}

/// Searches for the journal and, with `--resume`, checks whether it fits. Changes nothing except a torn last
/// line.
///
/// # Errors
/// There is nothing to resume, or it does not fit: Refused. The path is that of a side, or of a file that is
/// not a journal: Refused. The journal cannot be read.
pub(crate) fn look(options: &Options, plan: &Plan, source: &Facts, dest: &Facts) -> Result<ExistingJournal> {
    let (path, named) = match &options.journal {
        JournalChoice::At(path) => (Some(path.clone()), true),
        JournalChoice::Auto | JournalChoice::Never => (place::of(dest), false),
    };
    let mut found = ExistingJournal {
        path,
        named,
        old: None,
        stale: Vec::new(),
        waiting: Vec::new(),
        resumes: options.resume,
        upload: None,
        head: head(plan, source, dest),
        every: options.checkpoint.map_or(EVERY, |every| [every, every]),
        warnings: Vec::new(),
    };
    // If a journal is kept, such a copy was refused. If none is, the source may have the name that a journal
    // would have.
    let is_side = |path: &Path| [source, dest].into_iter().any(|facts| beside::leads_to(path, facts));
    found.path.take_if(|path| is_side(path));
    if options.resume {
        found.resume(plan, source, dest)?;
    } else {
        found.begin_anew(options, plan.journal, dest)?;
        if plan.journal {
            found.can_be_made(options.dry_run);
        } else {
            found.path = None;
        }
    }
    // This copy handles its own journal; with a named path there may be another one at the default path.
    let own = if found.named { found.path.clone() } else { place::of(dest) };
    let mut others = Stale::of(dest, own.as_deref());
    others.retain(|stale| !is_side(stale.path()));
    if !options.resume && !options.restart {
        let waits = |stale: &Stale| stale.waits(place::of(dest).as_deref() != Some(stale.path()));
        found.waiting.extend(others.iter().filter_map(waits));
    }
    if !dest.exists && dest.kind != EndpointKind::Object {
        // The bytes that it claims no longer exist. A journal that `--journal` names may be of another copy.
        let usual = place::of(dest);
        let removed = |waiting: &mut Waiting| Some(&waiting.path) == usual.as_ref();
        let words = |Waiting { path, .. }: Waiting| {
            format!("removed journal {}: the destination of that unfinished copy no longer exists", path.display())
        };
        let removed: Vec<String> = found.waiting.extract_if(.., removed).map(words).collect();
        found.warnings.extend(removed);
    }
    let discarded = others.iter().filter(|stale| !found.awaits(stale.path()));
    let warnings: Vec<String> = discarded.map(Stale::warning).collect();
    found.warnings.extend(warnings);
    found.stale.extend(others);
    Ok(found)
}

fn head(plan: &Plan, source: &Facts, dest: &Facts) -> Head {
    Head {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        created: format!("{:.0}", jiff::Timestamp::now()),
        len_bytes: plan.len,
        ranges: ranges::digest(plan),
        source: SideIdentity::of(source, plan.source.map.start()),
        dest: SideIdentity::of(dest, plan.dest.map.start()),
        samples: Vec::new(),
        source_ranges: plan.source.map.ranges().into_iter().flatten().collect(),
    }
}

impl ExistingJournal {
    /// Whether there is a journal of an unfinished copy to this dest.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.old.is_some()
    }

    /// Bytes that earlier runs have copied, with `--resume`.
    pub(crate) fn already_bytes(&self) -> u64 {
        self.already().total_bytes()
    }

    fn already(&self) -> ExtentSet {
        let Some(old) = self.old.as_ref().filter(|_| self.resumes) else { return ExtentSet::new() };
        match &self.upload {
            Some(upload) => upload.bytes().intersection(&old.state().durable),
            None => old.state().durable.clone(),
        }
    }

    /// The upload of an earlier run that continues, if the dest is an object.
    pub(crate) fn upload(&self) -> Option<&Upload> {
        self.upload.as_ref()
    }

    /// Blocks that this copy by `plan` does not read again: earlier runs recorded their digests, and all of their bytes
    /// are durable.
    pub(crate) fn digested(&self, plan: &Plan) -> Vec<DigestedBlock> {
        let old = self.old.as_ref().filter(|_| self.resumes && plan.digests_by_blocks());
        let recorded = old.and_then(|old| old.state().digests.as_ref());
        let Some(recorded) = recorded.filter(|recorded| Some(recorded.how) == plan.digest_blocks) else {
            return Vec::new();
        };
        let already = self.already();
        recorded.blocks.values().filter(|block| already.contains(block.extent)).copied().collect()
    }

    /// The amount that earlier runs have copied, for the plan of a resumed copy.
    pub(crate) fn resumed(&self) -> Option<Reason> {
        let old = self.old.as_ref().filter(|_| self.resumes)?;
        let because = format!("durable according to journal {}", old.path().display());
        Some(Reason::new("already copied", words::exact(self.already_bytes()), because))
    }

    /// A warning about how much a resumed copy by `plan` reads again, if it does.
    pub(crate) fn reread_warning(&self, plan: &Plan) -> Option<String> {
        let old = self.old.as_ref().filter(|_| self.resumes && plan.digests_all())?;
        let mut again = old.state().durable.clone();
        self.digested(plan).iter().for_each(|block| again.remove(block.extent));
        if again.is_empty() {
            return None;
        }
        let bytes = words::exact(again.total_bytes());
        let needs = match &plan.block_map {
            Some(_) => "the checksums of the block map are those of whole ranges",
            None => "a digest of all data needs every byte, and earlier runs recorded no digests of these",
        };
        Some(format!("{bytes} that earlier runs copied are read from the source again: {needs}"))
    }

    /// Whether a journal is kept.
    pub(crate) fn is_kept(&self) -> bool {
        self.path.is_some()
    }

    /// Whether the journal at `path` is of an unfinished copy.
    fn awaits(&self, path: &Path) -> bool {
        self.waiting.iter().any(|waiting| waiting.path == path)
    }

    /// The warnings of a dry run about unfinished copies.
    pub(crate) fn warnings(&self, dest: &str) -> Vec<String> {
        let words = |waiting: &Waiting| {
            let ways = if waiting.of_related || !self.source_lasts() {
                "--restart discards it"
            } else {
                "--resume continues it, --restart discards it"
            };
            format!(
                "{}; this command asks what to do on a terminal and is refused otherwise: {ways}",
                waiting.words(dest)
            )
        };
        self.waiting.iter().map(words).collect()
    }

    /// Whether this copy's source can be read again, so that `--resume` can be suggested.
    fn source_lasts(&self) -> bool {
        let kind = self.head.source.kind.as_str();
        [EndpointKind::File, EndpointKind::Block, EndpointKind::Nbd, EndpointKind::Http, EndpointKind::Object]
            .iter()
            .any(|lasting| lasting.name() == kind)
    }

    /// The unfinished copy, if any; its `plan` is that of this copy. `can_resume`: this command can resume it.
    pub(crate) fn unfinished(&self, plan: &Plan, can_resume: bool) -> Option<Unfinished> {
        let waiting = self.waiting.first()?;
        // With `--journal`, this command can resume only from the journal at that path.
        let other = |waiting: &Waiting| waiting.of_related || self.named && self.path.as_deref() != Some(&waiting.path);
        let can_resume = can_resume && self.source_lasts() && !self.waiting.iter().any(other);
        let ways = match (waiting.of_related, can_resume) {
            (true, _) => "Finish that copy by running its command with --resume, or discard it with --restart",
            (false, false) if !self.source_lasts() => {
                "This source cannot be read again, so this copy cannot resume that one: use --restart"
            }
            (false, true) => "Continue it with --resume, or start over with --restart",
            (false, false) => "Continue it with --resume and that destination alone, or start over with --restart",
        };
        Some(Unfinished { what: waiting.words(&plan.dest.address), ways, can_resume })
    }

    fn resume(&mut self, plan: &Plan, source: &Facts, dest: &Facts) -> Result<()> {
        let nothing = |what: String| {
            let advice = "That copy is complete, or had no journal. Omit --resume to copy from the start.";
            Err(Error::new(Kind::Refused, format!("nothing to resume: {what}")).advise(advice))
        };
        let Some(path) = &self.path else {
            return nothing("no directory for journals of devices: neither XDG_STATE_HOME nor HOME is set".to_owned());
        };
        let opened = place::open(path).map_err(|fault| match foreign::is_foreign(path, &fault) {
            true => foreign::refusal(path, &fault, self.named),
            false => fault.into_error(&path.display().to_string()),
        });
        let Some(journal) = opened? else {
            return nothing(format!("journal {} does not exist", path.display()));
        };
        if dest.kind == EndpointKind::CompressedDest {
            // Before samples of its frames are read.
            self.upload = Some(upload::present(&journal, dest)?);
        }
        fits::check(&journal, plan, source, dest)?;
        if dest.kind == EndpointKind::Object {
            self.upload = Some(upload::present(&journal, dest)?);
        }
        self.old = Some(journal);
        Ok(())
    }

    /// Handles a journal of another run, which claims bytes that this run will overwrite.
    fn begin_anew(&mut self, options: &Options, kept: bool, dest: &Facts) -> Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let name = path.display().to_string();
        let old = match place::open(path) {
            Ok(old) => old,
            // No journal is created there, so the file does no harm.
            Err(fault) if !kept && foreign::is_ignored(path, &fault) => return Ok(()),
            Err(fault) if foreign::is_foreign(path, &fault) => {
                return Err(foreign::refusal(path, &fault, self.named));
            }
            Err(fault) => match fault.kind {
                // Nothing can be recovered from it.
                FaultKind::Damaged | FaultKind::Truncated | FaultKind::Invalid(_) if !self.named => {
                    self.warnings.push(format!("{fault}: discarding {name} of an unfinished copy to this destination"));
                    self.stale.push(Stale::damaged(path));
                    None
                }
                _ => return Err(fault.into_error(&name)),
            },
        };
        let Some(old) = old else { return Ok(()) };
        if !about::is_about(old.head(), dest) {
            return if kept { Err(about::refusal(&old, self.named)) } else { Ok(()) };
        }
        let durable_bytes = old.state().durable.total_bytes();
        if durable_bytes > 0 && options.restart {
            // What was copied and what was not is in the map then.
            let begins = if options.rescue { "the rescue has its map" } else { "this copy starts at the beginning" };
            self.warnings.push(format!(
                "discarding an unfinished copy to this destination ({} durable): removed its journal {name}; {begins}",
                byte_count(durable_bytes)
            ));
        } else if durable_bytes > 0 {
            self.waiting.push(Waiting { path: path.clone(), durable_bytes, of_related: false });
        }
        self.old = Some(old);
        Ok(())
    }

    /// Checks whether the journal can be created later, when it is needed.
    fn can_be_made(&mut self, dry_run: bool) {
        let Some(path) = &self.path else {
            self.warnings
                .push("no journal: neither XDG_STATE_HOME nor HOME is set; use --journal to name a file".to_owned());
            return;
        };
        // A path that the user named is created before the first write.
        if self.named || dry_run {
            return;
        }
        if let Err(error) = place::can_be_made(path) {
            let place = path.display();
            self.warnings
                .push(format!("no journal: cannot create {place} ({error}); use --journal to name another file"));
            self.path = None;
        }
    }

    /// Removes an old journal, before anything is written to the dest, and creates a new one if the user named
    /// the path. `None`: no journal is kept.
    ///
    /// # Errors
    /// The old one cannot be removed; the new one cannot be created.
    pub(crate) fn begin(
        self,
        plan: &Plan,
        source: &Arc<dyn Endpoint>,
        digests: Option<Arc<JournalDigests>>,
    ) -> Result<Option<ActiveJournal>> {
        let resumed = self.already();
        let digested = self.digested(plan).iter().map(|block| block.extent).collect();
        let ExistingJournal { path, named, old, stale, resumes, head, every, .. } = self;
        stale.iter().try_for_each(Stale::end)?;
        let mut already = ExtentSet::new();
        let (mut journal, mut before) = (None, None);
        match old {
            Some(mut old) if resumes => {
                let name = old.path().display().to_string();
                before = old.ended().cloned();
                old.reopen().map_err(|fault| fault.into_error(&name))?;
                already = resumed;
                journal = Some(old);
            }
            Some(old) => {
                let name = old.path().display().to_string();
                upload::discard(&old);
                old.remove().map_err(|fault| fault.into_error(&name))?;
            }
            None => {}
        }
        let Some(path) = path else { return Ok(None) };
        let writer = JournalWriter::new(path, head, source.clone(), plan, journal, before, digests);
        if named && !resumes {
            writer.begin()?;
        }
        let keeping = CheckpointPlan { sink: Box::new(writer.clone()), every, already, digested };
        Ok(Some(ActiveJournal { keeping, left: FinishedJournal(writer) }))
    }
}
