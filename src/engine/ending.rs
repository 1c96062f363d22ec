//! Before the first block and after the last: room on the dest, its end, durability.
use super::checkpoints::{CheckpointError, Checkpoints, flush_error, given_up};
use super::run::Run;
use crate::core::{
    Direction, Ended, EndpointChange, EngineKind, Error, Event, Existing, Extent, ExtentSet, Op, Phase, Result, Route,
    Side, Zeros,
};
use std::io;
use std::time::Instant;

impl Run<'_> {
    /// Makes room for what is to come, before the first write.
    pub(super) fn prepare(&self) -> Result<()> {
        let Some(len) = self.plan.len else { return Ok(()) };
        let dest = &self.ends[Side::Dest.index()];
        self.reach_the_end(len)?;
        if !self.plan.preallocate {
            return Ok(());
        }
        dest.prepare(Extent::new(self.plan.dest.offset, len)).map_err(|source| {
            let what = format!("cannot allocate {len} bytes for destination {}", self.plan.dest.address);
            let error = Error::new(dest.diagnose(Op::Write, self.plan.dest.offset, &source), what);
            error.on(Side::Dest).because(source).advise("Free space there, or choose another file system.")
        })
    }

    /// Holes move no end of a file, and none behind its end is durable: a copy that is written down gives its file the
    /// whole length first. Later, while writes go on, it could only be set by guessing.
    fn reach_the_end(&self, len: u64) -> Result<()> {
        let plan = self.plan;
        let holes = plan.zeros != Zeros::Write && (plan.ask_holes || plan.detect_zeros_bytes.is_some());
        if self.checkpoints.is_none() || !holes || !plan.set_end {
            return Ok(());
        }
        let dest = &self.ends[Side::Dest.index()];
        dest.end_at(plan.dest.offset + len).map_err(|source| self.finish_error("set the length of", source))
    }

    /// Sets the end of the dest and makes it durable, whatever came before: what is claimed has to be there.
    pub(super) fn finish(&mut self) {
        self.end_checkpoints();
        let complete = matches!(self.ended, Ended::Complete);
        self.note_change();
        let dest = &self.ends[Side::Dest.index()];
        let truthful_end = self.plan.set_end || self.plan.dest.access.existing == Existing::Create;
        let mut result = Ok(());
        if truthful_end && !self.has_no_room && self.plan.direction == Direction::Forward {
            // What a journal says, or will say, has to be there, with gaps before it or not.
            let arrived = self.checkpoints.as_ref().map_or(0, Checkpoints::end);
            let mut end = self.plan.dest.offset + self.claimed.end().max(arrived);
            if !complete && self.plan.dest.access.existing == Existing::Keep {
                // What the copy did not get to is still the user's.
                end = end.max(dest.facts().size.unwrap_or(0));
            }
            result = dest.end_at(end).map_err(|source| self.finish_error("set the length of", source));
        }
        if result.is_err() {
            // Holes behind the end of a file that is too short do not exist.
            self.claimed = Extent::new(0, 0);
        }
        if self.flush_failed() {
            self.claimed = Extent::new(0, 0);
        } else if self.plan.durable || self.dest_failed() {
            self.watch.begin(Phase::Flushing);
            let flushed = dest.make_durable().map_err(|source| self.finish_error("flush", source));
            self.durable = flushed.is_ok();
            if flushed.is_err() {
                // Acknowledged by the page cache, and lost somewhere behind it: it is unknown which bytes.
                self.claimed = Extent::new(0, 0);
            }
            result = result.and(flushed);
        }
        // What cannot be read is worth knowing of a complete copy too: it is to be tried again.
        if self.durable && !(complete && self.unread[Side::Source.index()].is_empty()) {
            self.keep_the_rest();
        }
        match result {
            Err(error) if complete => self.ended = Ended::Failed(Box::new(error)),
            Err(error) => self.notes.push(error.to_string()),
            Ok(()) => {}
        }
        if !complete {
            self.digests.clear();
        }
    }

    /// Waits for the checkpoint under way. Should it fail, so has the copy.
    fn end_checkpoints(&mut self) {
        let Some(checkpoints) = &mut self.checkpoints else { return };
        if self.engine == EngineKind::Offload {
            checkpoints.on_block_done(self.claimed, &ExtentSet::new(), 0);
        }
        match checkpoints.collect(Instant::now()) {
            Ok(()) => {}
            Err(CheckpointError::Keep(error)) => self.notes.push(given_up(&error)),
            Err(CheckpointError::Flush(source)) if matches!(self.ended, Ended::Failed(_)) => {
                self.notes.push(source.to_string())
            }
            Err(CheckpointError::Flush(source)) => {
                let error = flush_error(self.plan, &self.ends[Side::Dest.index()], source);
                self.ended = Ended::Failed(Box::new(error));
            }
        }
    }

    /// A checkpoint got the error of a failed flush. The kernel reports it once, so that another flush would mean
    /// nothing.
    fn flush_failed(&self) -> bool {
        self.checkpoints.as_ref().is_some_and(Checkpoints::flush_failed)
    }

    /// What arrived since the last checkpoint is durable too, and worth knowing where the copy is not complete.
    fn keep_the_rest(&mut self) {
        let Some(checkpoints) = &mut self.checkpoints else { return };
        let copy = Extent::new(self.plan.source.offset, self.plan.len.unwrap_or(0));
        if let Some(bad) = self.ended.bad_place().and_then(|place| place.intersection(&copy)) {
            checkpoints.unread(Extent::new(bad.offset - copy.offset, bad.len));
        }
        if let Err(CheckpointError::Keep(error)) = checkpoints.keep_the_rest() {
            self.notes.push(given_up(&error));
        }
    }

    /// A write failed. Through the page cache, that may have been any of those acknowledged before, so that nothing can
    /// be claimed without asking.
    fn dest_failed(&self) -> bool {
        self.plan.route.writes() && matches!(&self.ended, Ended::Failed(error) if error.side == Some(Side::Dest))
    }

    fn finish_error(&self, doing: &str, source: io::Error) -> Error {
        let dest = &self.ends[Side::Dest.index()];
        let offset = self.plan.dest.offset + self.claimed.end();
        let what = format!("cannot {doing} destination {}", self.plan.dest.address);
        let error = Error::new(dest.diagnose(Op::Write, offset, &source), what).on(Side::Dest).because(source);
        let advice = "Written data may be lost, and the kernel does not report which bytes: check the device and the \
            kernel log (dmesg), then copy again.";
        error.advise(advice)
    }

    fn note_change(&mut self) {
        let [from, to] = self.ends.each_ref().map(|end| end.facts().id);
        if from.is_some() && from == to {
            // Within one file or device, it was we who changed it.
            return;
        }
        let comparing = !self.plan.route.writes();
        let looked_at = match self.plan.route {
            Route::Copy | Route::Delta { .. } => &[Side::Source][..],
            Route::Compare { .. } => &Side::BOTH,
            // It was we who wrote it, after it was examined; what others write is found as a difference.
            Route::ReadBack => &[],
        };
        for side in looked_at {
            let (name, address) = (side.name(), &self.plan.side(*side).address);
            let during = if comparing { "during the comparison" } else { "during the copy" };
            let note = match (self.ends[side.index()].change(), comparing) {
                (Some(EndpointChange::Grew(bytes)), true) => format!("{name} {address} grew by {bytes} bytes {during}"),
                (Some(EndpointChange::Grew(bytes)), false) => {
                    format!("{name} {address} grew by {bytes} bytes {during}; haul did not copy them")
                }
                (Some(EndpointChange::Shrank(bytes)), _) => {
                    format!("{name} {address} shrank by {bytes} bytes {during}")
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
