//! The part of a dd copy that the pump can make.
use super::watch::{BlockCopy, SignalThread};
use crate::apps::exit::Exit;
use crate::apps::fronts::dd::plan::{
    Blocks, CopyMethod, DdFacts, DdKind, as_dd_would, block_options, classify, whole_records,
};
use crate::apps::fronts::record_counts::RecordCounts;
use crate::apps::fronts::record_plan::{Diagnostic, RecordPlan};
use crate::apps::fronts::records::{OpenSides, Opened, SideKind};
use crate::core::schedules;
use crate::core::{Address, Ended, Endpoint, Facts, Host, NoObserver, Plan, Side, Stop, Tally};
use crate::disks;
use crate::disks::probe;
use crate::engine;
use crate::plan::{PassthroughMode, make};
use rustix::fs::{OFlags, SeekFrom};
use std::os::fd::AsRawFd;
use std::sync::Arc;

/// The result of moving blocks.
enum BlocksMoved {
    /// This many contiguous bytes were copied, and both sides are positioned after them.
    Bytes(u64),
    /// A signal ended the copy.
    Interrupted(i32),
}

/// The facts about an open side on which classification depends.
pub(crate) fn facts(side: Side, opened: &Opened) -> DdFacts {
    // A file that is still to be created has an offset and no descriptor.
    let offset = opened.position().ok().or(opened.offset);
    let kind = match opened.sort {
        SideKind::File => DdKind::File,
        SideKind::Block => DdKind::Block,
        SideKind::Pipe => DdKind::Pipe,
        SideKind::Zeros => DdKind::Zeros,
        SideKind::Null => DdKind::Null,
        SideKind::ScsiGeneric => DdKind::ScsiGeneric,
        SideKind::Commands => DdKind::Commands,
        SideKind::Other => DdKind::Other,
    };
    let odd = OFlags::APPEND | OFlags::SYNC | OFlags::DSYNC | OFlags::NONBLOCK;
    let (odd_flags, direct) = (opened.flags.intersects(odd), opened.flags.contains(OFlags::DIRECT));
    let logical_block_bytes = opened.logical_block_bytes;
    let in_memory = match side {
        Side::Source => !opened.waits_to_read(),
        Side::Dest => !opened.waits_to_write(),
    };
    DdFacts { kind, size: opened.size, offset, odd_flags, direct, logical_block_bytes, in_memory }
}

/// A planned copy of blocks, with both sides opened a second time.
struct ReadyToCopy {
    plan: Plan,
    ends: [Arc<dyn Endpoint>; 2],
}

/// The facts and endpoints of sides that are reached by passthrough commands, indexed by [`Side::index`]. They
/// are not probed again: while one is open it is claimed exclusively.
#[derive(Default)]
pub(crate) struct Held {
    pub(crate) facts: [Option<Facts>; 2],
    pub(crate) ends: [Option<Arc<dyn Endpoint>>; 2],
}

impl Held {
    fn passes(&self) -> PassthroughMode {
        match self.facts.each_ref().map(Option::is_some) {
            [true, true] => PassthroughMode::Both,
            [true, false] => PassthroughMode::Source,
            [false, true] => PassthroughMode::Dest,
            [false, false] => PassthroughMode::AsNamed,
        }
    }
}

/// Copies as blocks what can be copied so, in requests of the requested `pace` (bytes, number in flight) if
/// any; returns the counts after that, or how to end. `records_can_follow` is called before the first block; if
/// it returns false nothing is copied.
pub(crate) fn go_ahead(
    plan: &RecordPlan,
    ends: &OpenSides,
    watch: &SignalThread,
    pace: (Option<u32>, Option<u32>),
    held: &Held,
    records_can_follow: impl FnOnce() -> bool,
) -> Result<RecordCounts, Exit> {
    let (source, dest) = (facts(Side::Source, &ends.source), facts(Side::Dest, &ends.dest));
    let CopyMethod::Blocks(mut wanted) = classify(plan, &source, &dest) else { return Ok(RecordCounts::default()) };
    (wanted.block_bytes, wanted.depth) = pace;
    // If that fails, the copy by records does everything and reports the error in dd's words.
    let Ok(ready) = prepare(plan, &wanted, ends, held) else { return Ok(RecordCounts::default()) };
    if !records_can_follow() {
        return Err(Exit::FAILED);
    }
    match ready.run(plan, ends, watch) {
        BlocksMoved::Bytes(bytes) => Ok(RecordCounts::of_bytes(plan, bytes)),
        BlocksMoved::Interrupted(signal) => {
            watch.interrupted();
            Err(Exit::Signal(signal))
        }
    }
}

/// Plans and opens. The error states why the copy is made by records.
fn prepare(records: &RecordPlan, blocks: &Blocks, ends: &OpenSides, held: &Held) -> Result<ReadyToCopy, String> {
    let paths = [&ends.source, &ends.dest]
        .map(|end| end.fd().map(|fd| format!("/proc/self/fd/{}", fd.as_raw_fd())).unwrap_or_default());
    let (plan, source, dest) = plan_for(records, blocks, &paths, held)?;
    let failed = |error: crate::core::Error| error.to_string();
    let [held_source, held_dest] = held.ends.clone();
    let source_end = held_source.map_or_else(|| disks::open_source(&plan.source, &source), Ok).map_err(failed)?;
    let dest_end = held_dest.map_or_else(|| disks::open_dest(&plan.dest, &dest), Ok).map_err(failed)?;
    Ok(ReadyToCopy { plan, ends: [source_end, dest_end] })
}

/// The plan for copying `blocks` between the files at `paths`, and the facts of both.
pub(crate) fn plan_for(
    records: &RecordPlan,
    blocks: &Blocks,
    paths: &[String; 2],
    held: &Held,
) -> Result<(Plan, Facts, Facts), String> {
    let failed = |error: crate::core::Error| format!("not possible with blocks: {error}");
    // Operands of dd are paths, even if they look like URLs.
    let [source, dest] = &paths.each_ref().map(|path| Address::of_path(path));
    let (source, dest) = match held.facts.clone() {
        [None, None] => probe::both(source, dest).map_err(failed)?,
        [known_source, known_dest] => (
            known_source.map_or_else(|| probe::source(source), Ok).map_err(failed)?,
            known_dest.map_or_else(|| probe::dest(dest), Ok).map_err(failed)?,
        ),
    };
    let blocks = &Blocks { passes: held.passes(), ..*blocks };
    let options = block_options(blocks, source.address.clone(), dest.address.clone());
    let host = Host { ring_refused: engine::ring_refused() };
    let plan = make(&options, &source, &dest, &host).map_err(failed)?.plan;
    let plan = as_dd_would(plan, records, blocks, [&source, &dest])?;
    Ok((plan, source, dest))
}

impl ReadyToCopy {
    /// Copies the blocks. After a failure, the copy continues by records after the last whole one written: it
    /// reaches the same offset and reports the error there.
    fn run(self, plan: &RecordPlan, ends: &OpenSides, watch: &SignalThread) -> BlocksMoved {
        let (stop, tally) = (Arc::new(Stop::default()), Arc::new(Tally::default()));
        let dest_size = file_size(&ends.dest);
        watch.moving(Some(BlockCopy { stop: stop.clone(), tally: tally.clone(), ends: self.ends.clone() }));
        let mut schedule = schedules::make(&self.plan, &self.ends[Side::Source.index()]);
        let outcome =
            engine::run(&self.plan, &self.ends, &mut *schedule, engine::Watch::new(&stop, &tally, &NoObserver));
        watch.moving(None);
        let mut bytes = outcome.claimed.end();
        if !matches!(outcome.ended, Ended::Complete) {
            bytes = whole_records(plan, bytes);
            cut(&ends.dest, dest_size, self.plan.dest.map.at(bytes));
        }
        watch.tally.set(RecordCounts::of_bytes(plan, bytes));
        if let Ended::Interrupted(signal) = outcome.ended {
            return BlocksMoved::Interrupted(signal);
        }
        for end in [&ends.source, &ends.dest] {
            // It had an offset a moment ago, and seeks within the copied bytes.
            let _ = end.seek(SeekFrom::Current(bytes as i64));
        }
        BlocksMoved::Bytes(bytes)
    }
}

fn file_size(end: &Opened) -> Option<u64> {
    let fd = end.fd().ok().filter(|_| end.sort == SideKind::File)?;
    rustix::fs::fstat(fd).ok().map(|stat| stat.st_size as u64)
}

/// Truncates the part of a file after the last whole record that this copy appended.
fn cut(dest: &Opened, size_before: Option<u64>, end: u64) {
    let (Some(before), Some(now), Ok(fd)) = (size_before, file_size(dest), dest.fd()) else { return };
    let end = end.max(before);
    if now > end {
        // The failure that led here is reported by the copy by records.
        let _ = rustix::fs::ftruncate(fd, end);
    }
}

/// The facts of both sides before anything is opened for writing.
pub(crate) struct OpenedFacts {
    pub(crate) source: DdFacts,
    pub(crate) dest: DdFacts,
    pub(crate) paths: [String; 2],
}

/// Examines both sides without creating or truncating anything.
pub(crate) fn look(plan: &RecordPlan) -> Result<OpenedFacts, (Side, Diagnostic)> {
    let mut paths = [String::from("-"), String::from("-")];
    let mut all = Vec::new();
    for (side, asked) in [(Side::Source, &plan.source), (Side::Dest, &plan.dest)] {
        let opened = match side {
            Side::Source if plan.pattern.is_some() => Opened::made_up(),
            _ => Opened::look_at(asked, side).map_err(|complaint| (side, complaint))?,
        };
        let mut found = facts(side, &opened);
        let skip = asked.skip.in_bytes(asked.record_bytes).unwrap_or(0);
        found.offset = found.offset.map(|offset| offset.saturating_add(skip));
        if let Some(path) = &asked.path {
            paths[side.index()] = path.to_string_lossy().into_owned();
        } else {
            paths[side.index()] = format!("/proc/self/fd/{}", side.index());
        }
        all.push(found);
    }
    Ok(OpenedFacts { source: all[0], dest: all[1], paths })
}
