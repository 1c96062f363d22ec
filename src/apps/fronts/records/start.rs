//! Skips the bytes before the first record.
use super::OpenSides;
use super::batch::Memory;
use super::opened::{Opened, SideKind};
use crate::apps::fronts::record_plan::{Amount, Diagnostic, RecordListener, RecordPlan};
use crate::core::Side;
use rustix::fs::{OFlags, SeekFrom};
use rustix::io::Errno;
use std::io;

/// Whether the copy can begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartResult {
    /// It can.
    Yes(SkipResult),
    /// It cannot, which has been reported; the counts must still be reported.
    No,
    /// Memory for it cannot be allocated, which has been reported; nothing else is reported.
    NoMemory,
}

/// The state after skipping the beginning by reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SkipResult {
    /// Bytes of the last read if it was short, otherwise 0.
    pub short_bytes: u64,
    /// The warning about short reads was printed.
    pub warned: bool,
}

/// Positions both sides at their first record.
pub fn begin(plan: &RecordPlan, ends: &OpenSides, listener: &dyn RecordListener) -> StartResult {
    let lead = match skip_source(plan, ends, listener) {
        StartResult::Yes(lead) => lead,
        refused => return refused,
    };
    let skip = plan.dest.skip;
    if skip.is_zero() {
        return StartResult::Yes(lead);
    }
    let moved = match skip.in_bytes(plan.dest.record_bytes) {
        None => Err(Errno::OVERFLOW.into()),
        Some(bytes) => ends.dest.seek(SeekFrom::Current(bytes as i64)),
    };
    match moved {
        Ok(_) => StartResult::Yes(lead),
        Err(_) if can_be_read_over(&ends.dest) => read_over_dest(plan, ends, lead, listener),
        Err(error) => refuse(listener, Side::Dest, error),
    }
}

/// Whether it has no offsets, and was opened for reading too.
fn can_be_read_over(dest: &Opened) -> bool {
    dest.sort == SideKind::Pipe && dest.flags.contains(OFlags::RDWR)
}

/// Skips the beginning of a FIFO by reading it, as dd does. A short read counts as a record.
fn read_over_dest(plan: &RecordPlan, ends: &OpenSides, lead: SkipResult, listener: &dyn RecordListener) -> StartResult {
    let record_bytes = plan.dest.record_bytes;
    let Some(mut memory) = usize::try_from(record_bytes).ok().and_then(Memory::of) else {
        // Without reblocking one buffer serves both sides, and dd calls it the input buffer.
        let side = if plan.reblock { Side::Dest } else { Side::Source };
        listener.report_failure(side, &Diagnostic::Memory(record_bytes), false);
        return StartResult::NoMemory;
    };
    let skip = plan.dest.skip;
    let wants = (0..skip.records).map(|_| record_bytes).chain((skip.bytes > 0).then_some(skip.bytes));
    for want in wants {
        match ends.dest.read(&mut memory.bytes_mut()[..want as usize]) {
            // A process that has the same FIFO open for writing never reads its end.
            Ok(_) => {}
            Err(error) => return refuse(listener, Side::Dest, error),
        }
    }
    StartResult::Yes(lead)
}

fn refuse(listener: &dyn RecordListener, side: Side, error: io::Error) -> StartResult {
    listener.report_failure(side, &Diagnostic::Skip(error), false);
    StartResult::No
}

fn skip_source(plan: &RecordPlan, ends: &OpenSides, listener: &dyn RecordListener) -> StartResult {
    let (skip, source) = (plan.source.skip, &ends.source);
    if skip.is_zero() || plan.pattern.is_some() {
        return StartResult::Yes(SkipResult::default());
    }
    let Some(bytes) = skip.in_bytes(plan.source.record_bytes) else {
        return refuse(listener, Side::Source, Errno::OVERFLOW.into());
    };
    let moved = source.seek(SeekFrom::Current(bytes as i64));
    match moved {
        Ok(now) => {
            if source.sort == SideKind::File && source.size.is_some_and(|size| now > size) {
                listener.report_failure(Side::Source, &Diagnostic::SkipTooFar, false);
            }
            StartResult::Yes(SkipResult::default())
        }
        Err(error) if source.offset.is_some() => refuse(listener, Side::Source, error),
        // Without offsets, reading reaches the first record or reports the error.
        Err(_) => read_over(plan, ends, skip, listener),
    }
}

/// Skips by reading if there are no offsets. A short read counts as a record, unless the plan requires full
/// reads.
fn read_over(plan: &RecordPlan, ends: &OpenSides, skip: Amount, listener: &dyn RecordListener) -> StartResult {
    let record_bytes = plan.source.record_bytes;
    let memory = usize::try_from(record_bytes).ok().and_then(Memory::of);
    let Some(mut memory) = memory else {
        listener.report_failure(Side::Source, &Diagnostic::Memory(record_bytes), false);
        return StartResult::NoMemory;
    };
    let mut left = skip;
    let (mut passed, mut short) = (0u64, None);
    let mut warned = false;
    while !left.is_zero() {
        let want = if left.records > 0 { record_bytes } else { left.bytes };
        let bytes = &mut memory.bytes_mut()[..want as usize];
        let got = match read_record(ends, bytes, plan.full_reads) {
            Ok(got) => got,
            Err(error) => {
                listener.report_failure(Side::Source, &Diagnostic::Read(error), plan.keep_going);
                return StartResult::No;
            }
        };
        if got == 0 {
            break;
        }
        // As in dd: a read is short if it returned less than the next one requests.
        if let (Some(bytes), true) = (short.take().filter(|bytes| *bytes < want), !warned) {
            warned = true;
            listener.report_failure(Side::Source, &Diagnostic::PartialRead(bytes), false);
        }
        short = (warns_of_short_reads(plan) && (got as u64) < record_bytes).then_some(got as u64);
        passed += got as u64;
        match left.records {
            0 => left.bytes = 0,
            _ => left.records -= 1,
        }
    }
    if Some(passed) != skip.in_bytes(record_bytes) {
        listener.report_failure(Side::Source, &Diagnostic::SkipTooFar, false);
    }
    StartResult::Yes(SkipResult { short_bytes: short.unwrap_or(0), warned })
}

/// Reads once, or as often as it takes to fill `bytes`.
fn read_record(ends: &OpenSides, bytes: &mut [u8], full: bool) -> io::Result<usize> {
    let mut got = 0;
    loop {
        let moved = ends.source.read(&mut bytes[got..])?;
        got += moved;
        if moved == 0 || !full || got == bytes.len() {
            return Ok(got);
        }
    }
}

/// Whether a short read causes a warning, because records are counted.
pub(super) fn warns_of_short_reads(plan: &RecordPlan) -> bool {
    let counted = plan.count.is_some_and(|count| count.records > 0) || plan.source.skip.records > 0;
    !plan.reblock && !plan.full_reads && (counted || plan.source.words.direct || plan.dest.words.direct)
}
