//! `haul verify`.
use super::copy::{carry_out, host, show, tell, warn};
use super::read_back::Checker;
use super::session::Session;
use super::signals::Signals;
use super::{Exit, manifest, undo};
use crate::core::schedules;
use crate::core::stages::Checklist;
use crate::core::{BlockDigests, DigestedBlock, Endpoint, Error, Facts, Kind, Result, Side};
use crate::disks;
use crate::disks::memory::Memory;
use crate::disks::probe;
use crate::ledger::SideIdentity;
use crate::ledger::manifest::{Head, Manifest};
use crate::plan;
use crate::plan::{DigestComparison, DigestedCopy, Options};
use crate::report::Out;
use std::sync::Arc;
use std::time::SystemTime;

/// As for a copy, but both sides are read. `words` is the command line behind the program's name.
pub(super) fn verify(options: &Options, words: &[String], out: Out) -> Result<Exit> {
    if let Some(path) = &options.manifest {
        return against_manifest(options, path, words, out);
    }
    let signals = Signals::watch(out)?;
    let through = Side::BOTH.map(|side| options.passthrough.may(side));
    let (source, dest) = probe::both_to_read(&options.source, &options.dest, through)?;
    let mut plan = plan::compare(options, &source, &dest, &host(options))?;
    plan.warnings.extend([&source, &dest].into_iter().flat_map(undo::read_warnings));
    if options.dry_run {
        return show(options, &plan, &source, &dest, out);
    }
    warn(options, &plan, out);
    let ends = [disks::open_source(&plan.source, &source)?, disks::open_compared(&plan.dest, &dest)?];
    carry_out(options, &plan, &ends, &signals, words, out)
}

/// The dest alone is read, and compared with what a manifest says.
fn against_manifest(options: &Options, path: &str, words: &[String], out: Out) -> Result<Exit> {
    let signals = Signals::watch(out)?;
    let manifest = manifest::open(path)?;
    let dest = probe::dest_to_read(&options.dest, options.passthrough.may(Side::Dest))?;
    let head = &manifest.head;
    let copy = DigestedCopy {
        address: path.to_owned(),
        len: manifest.closing.len_bytes,
        digests: BlockDigests { kind: head.algorithm, block_bytes: head.block_bytes },
        offset: offset_on(options, head, &dest)?,
    };
    let DigestComparison { mut plan, source, shorter } = plan::compare_digests(options, &copy, &dest, &host(options))?;
    plan.warnings.extend(doubts(head, &dest, plan.dest.offset));
    plan.warnings.extend(undo::read_warnings(&dest));
    if options.dry_run {
        return show(options, &plan, &source, &dest, out);
    }
    warn(options, &plan, out);
    let nothing: Arc<dyn Endpoint> = Arc::new(Memory::nothing(0));
    let ends = [nothing, disks::open_compared(&plan.dest, &dest)?];
    let session = Session::new(options, Some(&signals));
    let started = SystemTime::now();
    let list = checklist(&manifest);
    let checker = Checker::new(&list, copy.len, copy.digests.block_bytes);
    let (mut outcome, progress) = session.run(&plan, &ends, &mut *schedules::make(&plan, &ends[0]), &checker, None);
    let mut differences = checker.into_differences();
    differences.shorter = shorter.map(|(side, lacks)| (side, Some(lacks)));
    outcome.differences = Some(differences);
    if !manifest.unread.is_empty() {
        let bytes = manifest.unread.total_bytes();
        outcome.notes.push(format!("{bytes} bytes could not be read when the copy was made: they should be zeros"));
    }
    tell(options, &plan, &outcome, &progress, started, words, out)
}

pub(super) fn checklist(manifest: &Manifest) -> Checklist {
    let pieces = manifest.pieces().iter().map(|&(extent, digest)| DigestedBlock { extent, digest });
    Checklist::new(manifest.head.algorithm, pieces.collect())
}

/// Where the copy begins on the dest: where it was asked for, else where it began on the side that the dest is.
fn offset_on(options: &Options, head: &Head, dest: &Facts) -> Result<u64> {
    if let Some(seek) = options.seek_bytes {
        return Ok(seek);
    }
    let (from, to) = (head.source.offset_bytes, head.dest.offset_bytes);
    let side = if is_a_dest(head, dest) { Some(to) } else { is(&head.source, Side::Source, dest).then_some(from) };
    side.or((from == to).then_some(to)).ok_or_else(|| {
        let what = format!(
            "the copy began at byte {from} of its source {} and at byte {to} of its dest {}, and dest {} is neither",
            head.source.path, head.dest.path, dest.address
        );
        Error::new(Kind::Usage, what).on(Side::Dest).advise("Say with --seek where it begins there.")
    })
}

/// The dest is the side that a manifest remembers.
pub(super) fn is(then: &SideIdentity, side: Side, dest: &Facts) -> bool {
    then.misfits(side, &SideIdentity::of(dest, then.offset_bytes)).is_empty()
}

fn is_a_dest(head: &Head, dest: &Facts) -> bool {
    head.dests().any(|then| is(then, Side::Dest, dest))
}

/// What to know before the dest is compared with a manifest of other things.
fn doubts(head: &Head, dest: &Facts, offset: u64) -> Option<String> {
    let one_of_them = is_a_dest(head, dest) || is(&head.source, Side::Source, dest);
    let from = if offset > 0 { format!(" from byte {offset}") } else { String::new() };
    (!one_of_them).then(|| {
        format!(
            "the manifest is of a copy from {} to {}; {}{from} is neither, by its name and what it says of itself",
            head.source.path, head.dest.path, dest.address
        )
    })
}
