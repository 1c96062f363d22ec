//! A copy before its first write: both sides examined, everything decided, whatever forbids it found.
use super::journal::{self, ExistingJournal, ResumeChoice};
use super::manifest_delta::ManifestDelta;
use super::operator::Operator;
use super::{beside, host, saved, undo};
use crate::core::{Decision, Facts, Result, Side};
use crate::disks::{self, probe};
use crate::hold::Held;
use crate::plan::{self, JournalChoice, Options, Plans};
use std::sync::Arc;

/// A copy that was examined. Nothing is changed yet.
pub(crate) struct Prepared {
    pub(super) operator: Arc<dyn Operator>,
    pub(super) options: Options,
    pub(super) source: Facts,
    pub(super) dests: Vec<Facts>,
    pub(super) plans: Plans,
    /// What there is of an earlier copy to each dest.
    pub(super) journals: Vec<ExistingJournal>,
    /// What the dest has already, by the manifest of an earlier copy.
    pub(super) delta: Option<ManifestDelta>,
}

impl Prepared {
    /// Looks at both sides and decides everything. With `--resume` and without `--dry-run`, what measuring left on the
    /// dest is put back: a journal is held against the present data, and that has to be what the copy wrote.
    ///
    /// # Errors
    /// Whatever forbids the copy.
    pub(crate) fn look(options: &Options, operator: &Arc<dyn Operator>) -> Result<Prepared> {
        let delta = ManifestDelta::open(options)?;
        let options = delta.as_ref().map_or_else(|| options.clone(), |delta| delta.settle(options));
        let addresses: Vec<&str> = std::iter::once(&options.dest).chain(&options.also).map(String::as_str).collect();
        let through = Side::BOTH.map(|side| options.passthrough.may(side));
        let (mut source, mut dests) = probe::several_through(&options.source, &addresses, through)?;
        saved::recall(std::iter::once(&mut source).chain(&mut dests), &**operator);
        let plans = plan::several(&options, &source, &dests, &host(options.engine))?;
        let operator = operator.clone();
        let mut prepared = Prepared { operator, options, source, dests, plans, journals: Vec::new(), delta };
        beside::check(&prepared.options, &prepared.sides())?;
        prepared.look_for_journals()?;
        Ok(prepared)
    }

    /// What is to be done.
    pub(crate) fn decision(&self) -> &Decision {
        &self.plans.all
    }

    /// The source, then each dest.
    pub(crate) fn sides(&self) -> Vec<(Side, &Facts)> {
        let dests = self.dests.iter().map(|dest| (Side::Dest, dest));
        std::iter::once((Side::Source, &self.source)).chain(dests).collect()
    }

    fn look_for_journals(&mut self) -> Result<()> {
        let Prepared { operator, options, source, dests, plans, journals, delta } = self;
        // Of several none is kept, but an old one claims what is about to become untrue.
        let journal = if dests.len() > 1 { JournalChoice::Never } else { options.journal.clone() };
        let asked = Options { journal, ..options.clone() };
        let notes = &mut plans.all.notes;
        for (plan, dest) in plans.alone.iter().zip(&*dests) {
            if options.resume && !options.dry_run {
                undo::before_writing(dest, notes, &**operator)?;
            }
            let looks_only = options.resume && options.dry_run;
            let mut found = journal::look(&asked, plan, source, dest)
                .map_err(|error| if looks_only { undo::explain(dest, error) } else { error })?;
            notes.warnings.append(&mut found.warnings);
            notes.warnings.extend(found.reread_warning(plan));
            if let Some(delta) = &*delta {
                delta.fits(plan, dest, &found)?;
            }
            journals.push(found);
        }
        notes.warnings.extend(undo::read_warnings(source));
        for (dest, found) in dests.iter().zip(&*journals) {
            notes.warnings.extend(undo::write_warnings(dest, options.dry_run));
            if options.dry_run {
                notes.warnings.extend(found.warnings(&dest.address));
            }
        }
        Ok(())
    }

    /// Asks what has to be asked, then puts back what measuring left on each dest, and locks them against other hauls.
    ///
    /// # Errors
    /// Refused where the operator does not agree; another haul writes there; what cannot be read back.
    pub(crate) fn agree(mut self) -> Result<Confirmed> {
        let can_resume = self.dests.len() == 1 && self.delta.is_none();
        for (plan, found) in self.plans.alone.iter().zip(&self.journals) {
            let Some(unfinished) = found.unfinished(plan, can_resume) else { continue };
            if self.operator.settle(plan, &unfinished)? == ResumeChoice::Resume {
                let (options, operator) = (resumed(&self.options), self.operator.clone());
                // The journal is locked by the first look at it.
                drop(self);
                return Prepared::look(&options, &operator)?.agree();
            }
        }
        let Prepared { operator, options, source, dests, plans, .. } = &mut self;
        operator.warn_of(&plans.all.notes);
        for (plan, dest) in plans.alone.iter().zip(&*dests) {
            if plan::needs_confirmation(plan, dest) && !options.yes {
                operator.confirm(plan, source, dest)?;
            }
        }
        if plans.all.plan.read_back.is_some() || options.delta.is_some() {
            dests.iter().filter(|dest| dest.exists).try_for_each(|dest| probe::readable(&dest.address))?;
        }
        for dest in &*dests {
            undo::before_writing(dest, &mut plans.all.notes, &**operator)?;
        }
        let locked = plans.alone.iter().zip(&*dests).map(|(plan, dest)| disks::hold_dest(&plan.dest, dest));
        let held = locked.filter_map(Result::transpose).collect::<Result<_>>()?;
        Ok(Confirmed { prepared: self, held })
    }
}

/// The same, to continue the copy that waits: its journal is there, whether one was requested or not.
fn resumed(options: &Options) -> Options {
    let journal = match &options.journal {
        JournalChoice::Never => JournalChoice::Auto,
        other => other.clone(),
    };
    // A digest of all data reads again what is copied: only where the command line asks for it.
    let hashes = if options.hashes_are_defaults { Vec::new() } else { options.hashes.clone() };
    Options { resume: true, journal, hashes, ..options.clone() }
}

/// A copy that may be made: the operator agrees, and no other haul writes to its dests.
pub(crate) struct Confirmed {
    pub(super) prepared: Prepared,
    pub(super) held: Vec<Held>,
}
