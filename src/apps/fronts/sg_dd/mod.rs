//! `haul sg_dd`, `haul sgp_dd`, `haul sgm_dd`, and haul under one of these names.
pub mod cli;
mod device;
mod listener;
pub mod plan;
pub mod report;

use crate::apps::exit::Exit;
use crate::apps::fronts::dd::blocks::{self, Held, OpenedFacts};
use crate::apps::fronts::dd::plan::{CopyMethod, DdKind, classify};
use crate::apps::fronts::dd::report::explained;
use crate::apps::fronts::dd::watch::SignalThread;
use crate::apps::fronts::earlier::{stale_journals, undo_warnings};
use crate::apps::fronts::record_counts::{RecordCounts, RecordTally};
use crate::apps::fronts::record_plan::{Amount, RecordListener};
use crate::apps::fronts::records::{self, OpenSides, Opened, StartResult};
use crate::apps::fronts::sg_dd::cli::{self as words, SgCommand};
use crate::apps::fronts::sg_dd::plan::{CommandRefusal, SgFailure, blocks_to_copy, refused_flag, status};
use crate::apps::fronts::sg_dd::report::{
    Continuation, SgReporter, command_refusal, count_refusal, disk_failure, refusal, usage,
};
use crate::apps::fronts::sg_plan::{SgFront, SgPlan};
use crate::core::{DeviceCounts, Facts, Side};
use crate::disks::probe;
use crate::plan::check;
use crate::report::Out;
use crate::sys;
use device::{CommandSideError, Disks};
use listener::SgListener;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::sync::Arc;
use std::time::Duration;

/// Blocks of a transfer in sg3_utils.
const FAMILY_TRANSFER_BLOCKS: u64 = 128;

/// Runs the program with the operands `words`; `program` is the name by which it was called, one word or two.
pub(super) fn sg_dd(front: SgFront, program: &[OsString], words: &[OsString], out: Out) -> Exit {
    sys::share_one_heap();
    let name = program.join(OsStr::new(" "));
    match words::parse(front, words) {
        Err(error) => {
            out.eprint_bytes(&usage(&error, name.as_bytes(), front));
            Exit::Status(error.status(front))
        }
        Ok(SgCommand::Help) => crate::apps::exit::printed(out, &words::help_text(&name.to_string_lossy(), front)),
        Ok(SgCommand::Version) => {
            crate::apps::exit::printed(out, &format!("{} (haul) {}\n", front.name(), env!("CARGO_PKG_VERSION")))
        }
        Ok(SgCommand::Copy(plan)) => {
            let called = Continuation { program: program.to_vec(), words: words.to_vec(), ..Continuation::default() };
            match copy(*plan, name.as_bytes(), called, out) {
                Ok(exit) => exit,
                Err(failure) => Exit::Status(status(front, &failure)),
            }
        }
    }
}

fn copy(mut plan: SgPlan, name: &[u8], called: Continuation, out: Out) -> Result<Exit, SgFailure> {
    let tally = Arc::new(RecordTally::default());
    let reporter = SgReporter::new(name, &plan, tally.clone(), out);
    if plan.block_size_assumed {
        reporter.print("Assume default 'bs' ((logical) block size) of 512 bytes\n");
    }
    let mut looked = blocks::look(&plan.records).map_err(|(side, complaint)| {
        reporter.report_failure(side, &complaint, false);
        listener::failure(side, &complaint).unwrap_or(SgFailure::Io)
    })?;
    let disks =
        Disks::find(&plan, &mut looked).map_err(|trouble| print_side_error(&trouble, &plan, &reporter, name))?;
    let total = complete_plan(&mut plan, &looked, &disks, &reporter, name, out)?;
    disks.check(&plan, total).map_err(|trouble| print_side_error(&trouble, &plan, &reporter, name))?;
    refuse_in_use(&plan, &looked, &reporter, name)?;
    reporter.start(total);
    if plan.verbose > 0 {
        print_copy_method(&plan, &looked, &disks, &reporter);
    }
    if plan.dry_run {
        reporter.print_dry_run();
        return Ok(Exit::Status(0));
    }
    let (held, opened) = disks.open(&plan).map_err(|trouble| print_side_error(&trouble, &plan, &reporter, name))?;
    let sg_listener = Arc::new(SgListener::new(reporter, plan, called, total));
    run(&sg_listener, &tally, held, opened, disks.shared)
}

/// Reports why a disk cannot be copied by commands; returns the failure.
fn print_side_error(trouble: &CommandSideError, plan: &SgPlan, reporter: &SgReporter, name: &[u8]) -> SgFailure {
    match trouble {
        CommandSideError::Refused(refusal) => {
            reporter.print_bytes(&command_refusal(refusal, name, reporter.names(), plan.block_bytes()));
            match refusal {
                CommandRefusal::BlockSize(..) => SgFailure::Count,
                CommandRefusal::Beyond(..) => SgFailure::Beyond,
                CommandRefusal::Unnameable(..) | CommandRefusal::NoPlace(..) => SgFailure::CommandLength,
                CommandRefusal::WriteProtected => SgFailure::WriteProtected,
                CommandRefusal::NoNode(_) | CommandRefusal::OtherCommands(_) | CommandRefusal::TwoWays => {
                    SgFailure::UnsupportedFlag
                }
            }
        }
        CommandSideError::Failed(side, error) => {
            reporter.print_bytes(&disk_failure(error, name));
            let errno = std::error::Error::source(&**error)
                .and_then(|cause| cause.downcast_ref::<std::io::Error>()?.raw_os_error());
            match side {
                Side::Source => SgFailure::OpenSource(errno),
                Side::Dest => SgFailure::OpenDest(errno),
            }
        }
    }
}

/// Refuses to write to a block device that is in use, unless that is requested. A disk that is reached by
/// commands is claimed when it is opened.
fn refuse_in_use(plan: &SgPlan, looked: &OpenedFacts, reporter: &SgReporter, name: &[u8]) -> Result<(), SgFailure> {
    if plan.overwrites_in_use || plan.records.compare {
        return Ok(());
    }
    let stdout = OsString::from("/proc/self/fd/1");
    let dest = Some(plan.records.dest.path.as_ref().unwrap_or(&stdout));
    let dest = dest.filter(|_| looked.dest.kind == DdKind::Block);
    for (path, is_second) in [(dest, false), (plan.records.second.as_ref(), true)] {
        let Some(Err(error)) = path.and_then(|path| device_facts(path)).map(|facts| check::free(&facts)) else {
            continue;
        };
        // A haul process that has locked it is named, even if no other process uses the device.
        if let Some(complaint) = records::busy(&plan.records, is_second) {
            reporter.report_failure(Side::Dest, &complaint, false);
            return Err(SgFailure::Locked);
        }
        let text = format!(": {error}. {} oflag=force writes to it anyway.\n", error.advice);
        reporter.print_bytes(&[name, text.as_bytes()].concat());
        return Err(SgFailure::OpenDest(Some(libc::EBUSY)));
    }
    Ok(())
}

/// The facts of the block device at `path`; `None` for other files.
fn device_facts(path: &OsStr) -> Option<Facts> {
    let is_device = std::fs::metadata(path).is_ok_and(|stat| stat.file_type().is_block_device());
    // The canonical name of the device is valid UTF-8, even if `path` is not.
    let canonical = std::fs::canonicalize(path).ok().filter(|_| is_device)?;
    probe::dest(path.to_str().or(canonical.to_str())?).ok()
}

/// Completes the plan with what depends on the sides; returns the blocks to copy.
fn complete_plan(
    plan: &mut SgPlan,
    looked: &OpenedFacts,
    disks: &Disks,
    reporter: &SgReporter,
    name: &[u8],
    out: Out,
) -> Result<u64, SgFailure> {
    let kinds = [looked.source.kind, looked.dest.kind];
    if let Some(flag) = refused_flag(plan, kinds) {
        out.eprint_bytes(&refusal(&flag, name, reporter.names()));
        return Err(SgFailure::UnsupportedFlag);
    }
    if plan.direct_devices {
        plan.records.source.words.direct |= kinds[0] == DdKind::Block;
        plan.records.dest.words.direct |= kinds[1] == DdKind::Block;
    }
    if are_one(&looked.paths) || disks.are_one {
        // Reading ahead would read data before it is overwritten: only alternating transfers of the size used
        // by sg3_utils give the same result as sg3_utils.
        plan.records.buffers = Some(1);
        plan.records.transfer_records = Some(plan.transfer_blocks.unwrap_or(FAMILY_TRANSFER_BLOCKS));
    }
    disks.limit_transfers(plan);
    let total = match plan.records.count {
        Some(count) => count.records,
        None => blocks_to_copy(plan, &looked.source, &looked.dest).map_err(|error| {
            out.eprint_bytes(&count_refusal(&error, reporter.names(), plan.block_bytes()));
            SgFailure::Count
        })?,
    };
    plan.records.count = Some(Amount { records: total, bytes: 0 });
    Ok(total)
}

/// Whether both paths name the same file or device.
fn are_one(paths: &[String; 2]) -> bool {
    let [source, dest] = paths.each_ref().map(|path| std::fs::metadata(path).map(|stat| (stat.dev(), stat.ino())));
    matches!((source, dest), (Ok(source), Ok(dest)) if source == dest)
}

fn run(
    sg_listener: &Arc<SgListener>,
    tally: &Arc<RecordTally>,
    held: Held,
    opened: [Option<Opened>; 2],
    shared: Option<Side>,
) -> Result<Exit, SgFailure> {
    let plan = Arc::new(sg_listener.plan.records.clone());
    let tick = sg_listener.plan.progress_s.map(Duration::from_secs);
    let watch = SignalThread::start(&plan, sg_listener.clone(), tally, &listener::signals(), tick)
        .map_err(|_| SgFailure::Io)?;
    let report_failure = |side, complaint| {
        sg_listener.report_failure(side, &complaint, false);
        sg_listener.failed().unwrap_or(SgFailure::Io)
    };
    let mut ends = records::open(&plan, opened).map_err(|(side, complaint)| report_failure(side, complaint))?;
    for warning in undo_warnings(&plan, &ends, &held.facts) {
        sg_listener.reporter.print(&format!("warning: {warning}\n"));
    }
    for stale in stale_journals(&plan, &ends, held.facts[Side::Dest.index()].as_ref()) {
        sg_listener.reporter.print(&format!("warning: {}\n", stale.warning()));
        stale.end().map_err(|error| {
            sg_listener.reporter.print(&format!("{error}\n"));
            SgFailure::Io
        })?;
    }
    records::empty(&plan, &mut ends).map_err(|complaint| report_failure(Side::Dest, complaint))?;
    let ends = Arc::new(ends);
    sg_listener.opened(&ends);
    let listener: Arc<dyn RecordListener> = sg_listener.clone();
    let begun = records::begin(&plan, &ends, &*listener);
    let StartResult::Yes(lead) = begun else { return Err(sg_listener.failed().unwrap_or(SgFailure::Io)) };
    let mut ran = records::RecordsEnd::default();
    if plan.count != Some(Amount::default()) {
        let before = match shared {
            // There is one buffer of shared memory, and so one transfer at a time.
            Some(_) => Ok(RecordCounts::default()),
            None => blocks::go_ahead(&plan, &ends, &watch, pace(&sg_listener.plan), &held, || true),
        };
        let before = match before {
            Ok(counts) => counts,
            Err(exit) => return Ok(exit),
        };
        ran = records::run(&plan, &ends, before, lead, tally, &listener);
    }
    let finished = records::finish(&plan, &ends, ran.at_hole, ran.gave_up, &*listener);
    ends.drop_caches();
    watch.over();
    if sg_listener.pipe_broke() {
        watch.interrupted();
        return Ok(Exit::Signal(libc::SIGPIPE));
    }
    let failed = ran.read_failed || ran.write_failed || ran.no_memory || finished.failed;
    let failure = sg_listener.failed().or(failed.then_some(SgFailure::Io));
    sg_listener.reporter.print_end(failure.is_some());
    print_disk_notes(&sg_listener.plan, &sg_listener.reporter, &ends, &held);
    match failure {
        Some(failure) => Err(failure),
        None => Ok(Exit::Status(0)),
    }
}

/// Prints the notes of disks that were reached by commands.
fn print_disk_notes(plan: &SgPlan, reporter: &SgReporter, ends: &OpenSides, held: &Held) {
    let asked = plan.scsi_flags.map(|flags| flags.dio);
    let mut sum = DeviceCounts::default();
    for (end, asked) in [&ends.source, &ends.dest].into_iter().zip(asked) {
        let Some(counts) = end.device_counts() else { continue };
        sum.recovered += counts.recovered;
        sum.indirect += if asked { counts.indirect } else { 0 };
    }
    reporter.print_disk_counts(sum, asked.contains(&true));
    for note in held.ends.iter().flatten().flat_map(|end| end.closing().notes).filter(|_| plan.verbose > 0) {
        reporter.print(&format!(" >> {note}\n"));
    }
}

/// Bytes per request and requests in flight, if specified.
fn pace(plan: &SgPlan) -> (Option<u32>, Option<u32>) {
    let bytes = plan.transfer_blocks.map(|blocks| blocks.saturating_mul(plan.block_bytes()));
    (bytes.map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX)), plan.in_flight)
}

/// `verbose=`: prints the kinds of both sides, and how the copy is made.
fn print_copy_method(plan: &SgPlan, looked: &OpenedFacts, disks: &Disks, reporter: &SgReporter) {
    for (what, facts) in [("Input", &looked.source), ("Output", &looked.dest)] {
        reporter.print(&format!(" >> {what} file type: {}\n", facts.kind.name()));
    }
    let (block_plan, because) = match classify(&plan.records, &looked.source, &looked.dest) {
        CopyMethod::Records(because) => (None, because),
        CopyMethod::Blocks(_) if disks.shared.is_some() => {
            (None, "mmap: the driver shares one buffer, so one transfer at a time".to_owned())
        }
        CopyMethod::Blocks(mut wanted) => {
            (wanted.block_bytes, wanted.depth) = pace(plan);
            match blocks::plan_for(&plan.records, &wanted, &looked.paths, &disks.known()) {
                Ok((block_plan, ..)) => (Some(block_plan), "only data is moved".to_owned()),
                Err(because) => (None, because),
            }
        }
    };
    let text = explained(&plan.records, block_plan.as_ref(), &because);
    match plan.verbose {
        1 => reporter.print(&format!(" >> {}\n", text.lines().next().unwrap_or_default())),
        _ => reporter.print(&text.lines().map(|line| format!(" >> {line}\n")).collect::<String>()),
    }
}
