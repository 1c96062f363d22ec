//! Steps before the first and after the last block: allocating the dest, setting its end, flushing it.
use super::checkpoints::{CheckpointError, Checkpoints, disabled_warning, flush_error};
use super::run::Run;
use crate::core::{
    Direction, Ended, EndpointChange, EngineKind, Error, Event, Existing, Extent, ExtentSet, Kind, Op, Phase,
    RequestError, Result, Route, Side, Zeros, byte_count,
};
use std::io;
use std::time::Instant;

impl Run<'_> {
    /// Prepares the dest before the first write.
    pub(super) fn prepare(&self) -> Result<()> {
        let Some(len) = self.plan.len else { return Ok(()) };
        let dest = &self.ends[Side::Dest.index()];
        self.extend_to_end(len)?;
        if !self.plan.preallocate {
            return Ok(());
        }
        dest.prepare(self.plan.dest.map.hull(len)).map_err(|source| {
            let what = format!("cannot allocate {} for destination {}", byte_count(len), self.plan.dest.address);
            let error = Error::new(dest.diagnose(Op::Write, self.plan.dest.map.start(), &source), what);
            error.on(Side::Dest).because(source).advise("Free space there, or choose another file system.")
        })
    }

    /// Extends the dest file to its full length, if the copy has a journal: a hole does not extend a file, and nothing
    /// past its end is durable. Later, with writes in flight, the correct length is unknown.
    fn extend_to_end(&self, len: u64) -> Result<()> {
        let plan = self.plan;
        let holes = plan.zeros != Zeros::Write && (plan.ask_holes || plan.detect_zeros_bytes.is_some());
        if self.checkpoints.is_none() || !holes || !plan.set_end {
            return Ok(());
        }
        let dest = &self.ends[Side::Dest.index()];
        dest.end_at(plan.dest.map.end(len)).map_err(|source| self.finish_error("set the length of", source))
    }

    /// Sets the end of the dest and flushes it, even if the copy failed: claimed bytes must exist.
    pub(super) fn finish(&mut self) {
        self.end_checkpoints();
        let complete = matches!(self.ended, Ended::Complete);
        self.note_change();
        let dest = &self.ends[Side::Dest.index()];
        let sets_end = self.plan.set_end || self.plan.dest.access.existing == Existing::Create;
        let mut result = Ok(());
        if sets_end && !self.has_no_space && self.plan.direction == Direction::Forward {
            // All bytes that the journal claims must exist, even after gaps.
            let acknowledged = self.checkpoints.as_ref().map_or(0, Checkpoints::end);
            let mut end = self.plan.dest.map.end(self.claimed.end().max(acknowledged).max(self.dest_len_min));
            if !complete && self.plan.dest.access.existing == Existing::Keep {
                // Bytes that the copy did not reach keep their old data.
                end = end.max(dest.facts().size.unwrap_or(0));
            }
            result = dest.end_at(end).map_err(|source| self.finish_error("set the length of", source));
        }
        if result.is_err() {
            // Holes past the end of a file that is too short do not exist.
            self.claimed = Extent::new(0, 0);
        }
        let is_flushed = !self.flush_failed() && (self.plan.durable || self.dest_failed());
        if is_flushed {
            self.watch.begin(Phase::Flushing);
        }
        if complete && result.is_ok() && self.plan.route.writes() {
            let size = self.plan.dest.map.end(self.claimed.end());
            result = dest.complete(size).map_err(|source| self.completion_error(source));
            self.watch.tally.note_parts(Side::Dest, &**dest);
        }
        if self.flush_failed() {
            self.claimed = Extent::new(0, 0);
        } else if is_flushed {
            let flushed = dest.make_durable().map_err(|source| self.finish_error("flush", source));
            self.durable = flushed.is_ok();
            if flushed.is_err() {
                // Lost in writeback after the page cache acknowledged it; the affected bytes are unknown.
                self.claimed = Extent::new(0, 0);
            }
            result = result.and(flushed);
        }
        if !(complete && result.is_ok()) {
            // Some dests collect bytes in larger parts: what they have not stored is not copied.
            let kept = dest.kept([self.claimed].into_iter().collect()).bytes;
            self.claimed = kept.iter().next().filter(|first| first.offset == 0).unwrap_or(Extent::new(0, 0));
        }
        // A complete copy with unreadable sectors keeps its journal too, so that they can be read again.
        if self.durable && !(complete && self.unread[Side::Source.index()].is_empty()) {
            self.record_rest();
        }
        match result {
            Err(error) if complete && error.kind == Kind::Cancelled => {
                self.ended = self.watch.stop.ending().unwrap_or_else(|| Ended::Failed(Box::new(error)));
            }
            Err(error) if complete => self.ended = Ended::Failed(Box::new(error)),
            Err(error) => self.notes.push(error.to_string()),
            Ok(()) => {}
        }
        if !complete {
            self.digests.clear();
        }
    }

    /// Waits for the checkpoint in progress. If it failed, the copy fails.
    fn end_checkpoints(&mut self) {
        let Some(checkpoints) = &mut self.checkpoints else { return };
        if self.engine == EngineKind::Offload {
            checkpoints.on_block_done(self.claimed, &ExtentSet::new(), 0);
        }
        match checkpoints.collect(Instant::now()) {
            Ok(()) => {}
            Err(CheckpointError::Keep(error)) => self.notes.push(disabled_warning(&error)),
            Err(CheckpointError::Flush(source)) if matches!(self.ended, Ended::Failed(_)) => {
                self.notes.push(source.to_string())
            }
            Err(CheckpointError::Flush(source)) => {
                let error = flush_error(self.plan, &self.ends[Side::Dest.index()], source);
                self.ended = Ended::Failed(Box::new(error));
            }
        }
    }

    /// Whether a flush failed in a checkpoint. The kernel reports that once, so the result of another flush is
    /// meaningless.
    fn flush_failed(&self) -> bool {
        self.checkpoints.as_ref().is_some_and(Checkpoints::flush_failed)
    }

    /// Records the bytes since the last checkpoint: they are durable now, and a later run can skip them.
    fn record_rest(&mut self) {
        let Some(checkpoints) = &mut self.checkpoints else { return };
        let copy = Extent::new(0, self.plan.len.unwrap_or(0));
        let bad = self.ended.bad_place().into_iter().flat_map(|place| self.plan.source.map.copied_from(place));
        bad.filter_map(|bad| bad.intersection(&copy)).for_each(|bad| checkpoints.unread(bad));
        if let Err(CheckpointError::Keep(error)) = checkpoints.record_rest() {
            self.notes.push(disabled_warning(&error));
        }
    }

    /// Whether a write failed. With buffered I/O the error may concern any acknowledged write, so nothing can be
    /// claimed without a flush.
    fn dest_failed(&self) -> bool {
        self.plan.route.writes() && matches!(&self.ended, Ended::Failed(error) if error.side == Some(Side::Dest))
    }

    fn finish_error(&self, doing: &str, source: io::Error) -> Error {
        let dest = &self.ends[Side::Dest.index()];
        let offset = self.plan.dest.map.at(self.claimed.end());
        let what = format!("cannot {doing} destination {}", self.plan.dest.address);
        let error = Error::new(dest.diagnose(Op::Write, offset, &source), what).on(Side::Dest).because(source);
        let advice = "Written data may be lost, and the kernel does not report which bytes: check the device and the \
            kernel log (dmesg), then copy again.";
        error.advise(advice)
    }

    /// The error of a dest that was written and does not become visible.
    fn completion_error(&self, source: io::Error) -> Error {
        let dest = &self.ends[Side::Dest.index()];
        let offset = self.plan.dest.map.at(self.claimed.end());
        RequestError::of(&**dest, Op::Write, offset, source).into_error(dest.facts(), Op::Write, Side::Dest, offset)
    }

    /// Whether this change is that the device has disappeared, as the error says: without it no byte is left.
    fn is_loss(&self, side: Side, change: EndpointChange) -> bool {
        let Ended::Failed(error) = &self.ended else { return false };
        let all = self.ends[side.index()].facts().size.map(EndpointChange::Shrank);
        error.kind == Kind::Disconnected && error.side == Some(side) && all == Some(change)
    }

    fn note_change(&mut self) {
        let [from, to] = self.ends.each_ref().map(|end| end.facts().id);
        if from.is_some() && from == to {
            // Both sides are on one file or device, which haul itself changed.
            return;
        }
        let comparing = !self.plan.route.writes();
        let looked_at = match self.plan.route {
            Route::Copy | Route::Delta { .. } => &[Side::Source][..],
            Route::Compare { .. } => &Side::BOTH,
            // haul itself wrote it; changes by other processes show up as differences.
            Route::ReadBack => &[],
        };
        for side in looked_at {
            let change = self.ends[side.index()].change().filter(|change| !self.is_loss(*side, *change));
            let (name, address) = (side.name(), &self.plan.side(*side).address);
            let during = if comparing { "during the comparison" } else { "during the copy" };
            let note = match (change, comparing) {
                (Some(EndpointChange::Grew(bytes)), true) => {
                    format!("{name} {address} grew by {} {during}", byte_count(bytes))
                }
                (Some(EndpointChange::Grew(bytes)), false) => {
                    format!("{name} {address} grew by {} {during}, which haul did not copy", byte_count(bytes))
                }
                (Some(EndpointChange::Shrank(bytes)), _) => {
                    format!("{name} {address} shrank by {} {during}", byte_count(bytes))
                }
                (Some(EndpointChange::Modified), true) => format!("{name} {address} was modified {during}"),
                (Some(EndpointChange::Modified), false) => {
                    format!("{name} {address} was modified {during}: the copy may mix old and new data")
                }
                (None, _) => continue,
            };
            self.watch.observer.on_event(&Event::Warned(&note));
            self.notes.push(note);
        }
    }
}
