//! A copy before its first write: both sides are examined, and everything is decided, including every reason to
//! refuse it.
use super::journal::{self, ExistingJournal, ResumeChoice};
use super::manifest_delta::ManifestDelta;
use super::operator::Operator;
use super::{beside, block_map, checksum, host, image, saved, undo};
use crate::core::{Decision, Facts, Result, Side};
use crate::disks::{self, probe};
use crate::hold::Held;
use crate::plan::{self, JournalChoice, Options, Plans};
use std::sync::Arc;

/// A copy that was examined. Nothing has been changed yet.
pub(crate) struct Prepared {
    pub(super) operator: Arc<dyn Operator>,
    pub(super) options: Options,
    pub(super) source: Facts,
    pub(super) dests: Vec<Facts>,
    pub(super) plans: Plans,
    /// Existing journals about each dest.
    pub(super) journals: Vec<ExistingJournal>,
    /// The manifest of an earlier copy, for the data that the dest already has.
    pub(super) delta: Option<ManifestDelta>,
}

impl Prepared {
    /// Examines both sides and decides everything. With `--resume` and without `--dry-run`, restores the
    /// original data that a measurement overwrote on the dest: the journal is compared with the present data,
    /// which must be that of the copy.
    ///
    /// # Errors
    /// Every reason to refuse the copy.
    pub(crate) fn look(options: &Options, operator: &Arc<dyn Operator>) -> Result<Prepared> {
        let delta = ManifestDelta::open(options)?;
        let options = delta.as_ref().map_or_else(|| options.clone(), |delta| delta.adjust(options));
        let options = checksum::with_checksum(options)?;
        let addresses: Vec<&str> = std::iter::once(&options.dest).chain(&options.also).map(String::as_str).collect();
        let through = Side::BOTH.map(|side| options.passthrough.may(side));
        let (mut source, mut dests) = probe::several_through(&options.source, &addresses, through)?;
        source = image::settle(&options, source, &dests)?;
        dests = image::settle_dests(&options, &source, dests)?;
        let (options, mut warnings) = block_map::apply(options, &mut source, &dests)?;
        let (options, more) = checksum::look_beside(options, &source, &dests);
        warnings.extend(more);
        checksum::digest_stored(&options, &mut source);
        saved::recall(std::iter::once(&mut source).chain(&mut dests), &**operator);
        let mut plans = plan::several(&options, &source, &dests, &host(options.engine))?;
        plans.all.notes.warnings.extend(warnings);
        for compressed in dests.iter_mut().filter_map(|dest| dest.compressed.as_mut()) {
            // Reading back then decompresses to the end of the file.
            compressed.copied_to = plans.all.plan.len;
        }
        let operator = operator.clone();
        let mut prepared = Prepared { operator, options, source, dests, plans, journals: Vec::new(), delta };
        beside::check(&prepared.options, &prepared.sides())?;
        prepared.look_for_journals()?;
        Ok(prepared)
    }

    /// The decision.
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
        // A copy to several dests has no journal, but an existing one becomes invalid.
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
            notes.why.extend(found.resumed());
            notes.already_bytes += found.already_bytes();
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

    /// Asks the necessary questions, then restores data that a measurement overwrote on each dest, and locks
    /// the dests against other haul processes.
    ///
    /// # Errors
    /// Refused if the operator does not agree; a dest is locked by another haul process; a dest cannot be read
    /// back.
    pub(crate) fn agree(self) -> Result<Confirmed> {
        let can_resume = self.dests.len() == 1 && self.delta.is_none();
        for (plan, found) in self.plans.alone.iter().zip(&self.journals) {
            let Some(unfinished) = found.unfinished(plan, can_resume) else { continue };
            if self.operator.resume_choice(plan, &unfinished)? == ResumeChoice::Resume {
                let (options, operator) = (resumed(&self.options), self.operator.clone());
                // The journal is locked while `self` exists.
                drop(self);
                return Prepared::look(&options, &operator)?.agree();
            }
        }
        let Prepared { operator, options, source, dests, plans, .. } = &self;
        operator.warn_of(&plans.all.notes);
        for (plan, dest) in plans.alone.iter().zip(dests) {
            if plan::needs_confirmation(plan, dest) && !options.yes {
                operator.confirm(plan, source, dest)?;
            }
        }
        self.lock()
    }

    /// Locks the destinations without asking, for the rest of a copy that the operator has already agreed to.
    ///
    /// # Errors
    /// As for [`Prepared::agree`].
    pub(super) fn lock(mut self) -> Result<Confirmed> {
        let Prepared { operator, options, dests, plans, .. } = &mut self;
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

/// The same options for resuming the unfinished copy: its journal exists, whether one was requested or not.
pub(super) fn resumed(options: &Options) -> Options {
    let journal = match &options.journal {
        JournalChoice::Never => JournalChoice::Auto,
        other => other.clone(),
    };
    // A digest of all data reads the copied data again: only if the command line requests it.
    let hashes = if options.hashes_are_defaults { Vec::new() } else { options.hashes.clone() };
    Options { resume: true, journal, hashes, ..block_map::forget(&checksum::forget(options)) }
}

/// A copy that may be made: the operator agrees, and the dests are locked against other haul processes.
pub(crate) struct Confirmed {
    pub(super) prepared: Prepared,
    pub(super) held: Vec<Held>,
}
