//! The starter of a copy while it runs.
use crate::core::{Event, Observer, Phase, Stop, Tally};
use std::sync::atomic::Ordering::Relaxed;

/// The starter of a copy while it runs: requests its end, polls its numbers, receives rare events.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// The wish to stop, which any thread may have.
    pub stop: &'a Stop,
    /// The running numbers, which any thread may read.
    pub tally: &'a Tally,
    /// The receiver of rare events.
    pub observer: &'a dyn Observer,
}

impl<'a> Watch<'a> {
    /// One of these three.
    pub fn new(stop: &'a Stop, tally: &'a Tally, observer: &'a dyn Observer) -> Self {
        Watch { stop, tally, observer }
    }

    /// Tells that a phase begins.
    pub(super) fn begin(&self, phase: Phase) {
        self.tally.phase.store(phase as u8, Relaxed);
        self.observer.on_event(&Event::Began(phase));
    }
}
