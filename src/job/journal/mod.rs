//! The journal of a copy: where it is, what happens to an old one, whether it still fits, and who writes to it.
mod about;
mod exchange;
mod fits;
mod folders;
mod foreign;
mod journal_writer;
mod pending;
mod place;
mod ranges;
mod remove;
mod stale;
mod waiting;

use crate::core::{
    CheckpointPlan, Ended, Endpoint, EndpointKind, Error, ExtentSet, Facts, Kind, Outcome, Plan, Result, Side,
};
use crate::job::beside;
use crate::ledger::journal::{Head, Journal};
use crate::ledger::{FaultKind, SideIdentity};
use crate::plan::{JournalChoice, Options, words};
pub(crate) use exchange::{Exported, Imported, export, import};
pub(crate) use folders::{all as folders_of_devices, keep_in};
use journal_writer::JournalWriter;
pub(crate) use pending::{PendingCopies, find_all};
pub(crate) use place::{are_there, of as place_of, of_device, of_kin, prepare, start_on_disk};
pub(crate) use remove::Removal;
pub(crate) use stale::Stale;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use waiting::Waiting;
pub(crate) use waiting::{ResumeChoice, Unfinished};

/// Least and greatest time between two checkpoints, unless the user says.
const EVERY: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(60)];

/// What was found where the journal of a copy is to be, before anything is changed.
pub(crate) struct ExistingJournal {
    /// Where it is, or is to be; `None`: none is kept.
    path: Option<PathBuf>,
    /// The user named the place.
    named: bool,
    /// A journal that is there: of this copy with `--resume`, else of another that this one puts an end to.
    old: Option<Journal>,
    /// Others that claim something about the dest.
    stale: Vec<Stale>,
    /// Those of them that could be continued and are not discarded.
    waiting: Vec<Waiting>,
    resumes: bool,
    head: Head,
    every: [Duration; 2],
    /// What the user should know before it begins.
    pub(crate) warnings: Vec<String>,
}

/// Looks for the journal and, with `--resume`, whether it fits. Changes nothing, but for a torn last line.
///
/// # Errors
/// There is nothing to resume, or it does not fit: Refused. The place is that of a side, or something else is there:
/// Refused. A journal that cannot be read.
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
        head: head(plan, source, dest),
        every: options.checkpoint.map_or(EVERY, |every| [every, every]),
        warnings: Vec::new(),
    };
    // Where a journal is kept such a copy was refused. Where none is, the source may have the name that one would have.
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
    // Of its own one the copy has its way; in a named place there may be one beside that in the place of all.
    let own = if found.named { found.path.clone() } else { place::of(dest) };
    let mut others = Stale::of(dest, own.as_deref());
    others.retain(|stale| !is_side(stale.path()));
    if !options.resume && !options.restart {
        let waits = |stale: &Stale| stale.waits(place::of(dest).as_deref() != Some(stale.path()));
        found.waiting.extend(others.iter().filter_map(waits));
    }
    if !dest.exists {
        // Nothing that it claims is there any more. One in a named place may be about something else.
        let usual = place::of(dest);
        let gone = |waiting: &mut Waiting| Some(&waiting.path) == usual.as_ref();
        let words = |Waiting { path, .. }: Waiting| {
            format!("removed journal {}: the destination of that unfinished copy no longer exists", path.display())
        };
        let gone: Vec<String> = found.waiting.extract_if(.., gone).map(words).collect();
        found.warnings.extend(gone);
    }
    let given_up = others.iter().filter(|stale| !found.awaits(stale.path()));
    let warnings: Vec<String> = given_up.map(Stale::warning).collect();
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
        source: SideIdentity::of(source, plan.source.offset),
        dest: SideIdentity::of(dest, plan.dest.offset),
        samples: Vec::new(),
    }
}

impl ExistingJournal {
    /// There is a journal of a copy to this dest that did not come to its end.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.old.is_some()
    }

    /// How much a resumed copy by `plan` reads again, if it does.
    pub(crate) fn reread_warning(&self, plan: &Plan) -> Option<String> {
        let old = self.old.as_ref().filter(|_| self.resumes && !plan.hashes.is_empty())?;
        let bytes = words::exact(old.state().durable.total_bytes());
        Some(format!(
            "{bytes} that earlier runs copied are read from the source again: a digest of all data needs every byte, \
             and earlier runs kept no digests"
        ))
    }

    /// A journal is kept.
    pub(crate) fn is_kept(&self) -> bool {
        self.path.is_some()
    }

    /// The journal at `path` is of a copy that waits.
    fn awaits(&self, path: &Path) -> bool {
        self.waiting.iter().any(|waiting| waiting.path == path)
    }

    /// What a dry run says of unfinished copies that wait.
    pub(crate) fn warnings(&self, dest: &str) -> Vec<String> {
        let words = |waiting: &Waiting| {
            let ways = if waiting.of_kin || !self.source_lasts() {
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

    /// Whether this copy's source can be read again, so that `--resume` can be said of it.
    fn source_lasts(&self) -> bool {
        let kind = self.head.source.kind.as_str();
        [EndpointKind::File, EndpointKind::Block].iter().any(|lasting| lasting.name() == kind)
    }

    /// The unfinished copy that waits, if any does; its `plan` is what would be done instead. `can_resume`: this
    /// command can continue one.
    pub(crate) fn unfinished(&self, plan: &Plan, can_resume: bool) -> Option<Unfinished> {
        let waiting = self.waiting.first()?;
        // Of a journal in a place of its own this command knows nothing but that.
        let other = |waiting: &Waiting| waiting.of_kin || self.named && self.path.as_deref() != Some(&waiting.path);
        let can_resume = can_resume && self.source_lasts() && !self.waiting.iter().any(other);
        let ways = match (waiting.of_kin, can_resume) {
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
            true => foreign::refusal(path, self.named),
            false => fault.into_error(&path.display().to_string()),
        });
        let Some(journal) = opened? else {
            return nothing(format!("journal {} does not exist", path.display()));
        };
        fits::check(&journal, plan, source, dest)?;
        self.old = Some(journal);
        Ok(())
    }

    /// A journal of another run claims what this one will make untrue.
    fn begin_anew(&mut self, options: &Options, kept: bool, dest: &Facts) -> Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let name = path.display().to_string();
        let old = match place::open(path) {
            Ok(old) => old,
            // No journal is made there, so that it blocks nothing.
            Err(fault) if !kept && foreign::is_ignored(path, &fault) => return Ok(()),
            Err(fault) if foreign::is_foreign(path, &fault) => return Err(foreign::refusal(path, self.named)),
            Err(fault) => match fault.kind {
                // Nobody's work is in it any more.
                FaultKind::Damaged | FaultKind::Truncated | FaultKind::Senseless(_) if !self.named => {
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
            self.warnings.push(format!(
                "discarding an unfinished copy to this destination ({durable_bytes} bytes durable): removed its \
                 journal {name}; this copy starts at the beginning"
            ));
        } else if durable_bytes > 0 {
            self.waiting.push(Waiting { path: path.clone(), durable_bytes, of_kin: false });
        }
        self.old = Some(old);
        Ok(())
    }

    /// Looks whether the journal could be made later, when it is needed.
    fn can_be_made(&mut self, dry_run: bool) {
        let Some(path) = &self.path else {
            self.warnings
                .push("no journal: neither XDG_STATE_HOME nor HOME is set; use --journal to name a file".to_owned());
            return;
        };
        // A place that the user named is tried in earnest before the first write.
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

    /// Puts an end to an old journal, before anything is written to the dest, and begins a new one where the user
    /// named the place. `None`: no journal is kept.
    ///
    /// # Errors
    /// The old one cannot be removed; the new one cannot be made.
    pub(crate) fn begin(self, plan: &Plan, source: &Arc<dyn Endpoint>) -> Result<Option<ActiveJournal>> {
        let ExistingJournal { path, named, old, stale, resumes, head, every, .. } = self;
        stale.iter().try_for_each(Stale::end)?;
        let mut already = ExtentSet::new();
        let (mut journal, mut before) = (None, None);
        match old {
            Some(mut old) if resumes => {
                let name = old.path().display().to_string();
                before = old.ended().cloned();
                old.reopen().map_err(|fault| fault.into_error(&name))?;
                already = old.state().durable.clone();
                journal = Some(old);
            }
            Some(old) => {
                let name = old.path().display().to_string();
                old.remove().map_err(|fault| fault.into_error(&name))?;
            }
            None => {}
        }
        let Some(path) = path else { return Ok(None) };
        let scribe = JournalWriter::new(path, head, source.clone(), plan, journal, before);
        if named && !resumes {
            scribe.begin()?;
        }
        let keeping = CheckpointPlan { keeper: Box::new(scribe.clone()), every, already };
        Ok(Some(ActiveJournal { keeping, left: FinishedJournal(scribe) }))
    }
}

/// A journal of a copy that is about to run.
pub(crate) struct ActiveJournal {
    pub(crate) keeping: CheckpointPlan,
    pub(crate) left: FinishedJournal,
}

impl ActiveJournal {
    /// Writes down what `dest` has already, as a manifest tells: a copy that is interrupted continues from there, and
    /// as long as it has not, that manifest is not used again.
    ///
    /// # Errors
    /// It cannot be made durable, or not be written down.
    pub(crate) fn believe(&mut self, there: &ExtentSet, dest: &Arc<dyn Endpoint>) -> Result<()> {
        dest.make_durable().map_err(|source| {
            Error::new(Kind::Io, "cannot flush the existing data of the destination").on(Side::Dest).because(source)
        })?;
        self.left.0.begin()?;
        if !there.is_empty() {
            self.keeping.keeper.keep(there, &ExtentSet::new())?;
        }
        self.keeping.already = there.clone();
        Ok(())
    }

    /// The copy does not take place.
    pub(crate) fn forget(&self) {
        let _ = self.left.0.settle(true, None);
    }
}

/// What is left of a journal after a copy.
pub(crate) struct FinishedJournal(JournalWriter);

impl FinishedJournal {
    /// Removes the journal of a copy that needs none any more; says of another where it is. One that lacks what could
    /// not be read is complete, and still needs it: those places may be readable another time. Nothing is written to
    /// `dest` any more.
    pub(crate) fn settle(&self, outcome: &mut Outcome, dest: &Arc<dyn Endpoint>) {
        let all_read = outcome.unread[Side::Source.index()].is_empty();
        let settled = self.0.settle(matches!(outcome.ended, Ended::Complete) && all_read, Some(dest));
        outcome.notes.extend(settled.note);
        if let Some(kept) = &mut outcome.kept {
            (kept.left, kept.unread_bytes) = (settled.left, settled.unread_bytes);
        }
    }
}
