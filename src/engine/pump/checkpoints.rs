//! Checkpoints during the copy.
use super::{CopyFailure, Pump};
use crate::core::{Event, Side};
use crate::engine::checkpoints::{CheckpointError, disabled_warning, flush_error};

impl Pump<'_> {
    /// Starts and completes checkpoints. A failed flush ends the copy.
    pub(in crate::engine) fn checkpoint(&mut self) {
        let Some(checkpoints) = &mut self.checkpoints else { return };
        match checkpoints.round(self.queues.now) {
            Ok(()) => {}
            Err(CheckpointError::Keep(error)) => {
                self.watch.observer.on_event(&Event::Warned(&disabled_warning(&error)))
            }
            Err(CheckpointError::Flush(source)) => {
                let dest = &self.ends[Side::Dest.index()];
                let error = flush_error(self.plan, dest, source);
                self.failure = Some(CopyFailure { error, ticket: 0, by_signal: false });
                self.clear_suspect();
                self.ends[Side::Source.index()].cancel();
            }
        }
    }
}
