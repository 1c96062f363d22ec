//! Whoever started a copy, while it runs.
use crate::core::{Event, Observer, Phase, Stop, Tally};
use std::sync::atomic::Ordering::Relaxed;

/// Whoever started a copy, while it runs: asks for its end, polls its numbers, hears of rare facts.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// The wish to stop, which any thread may have.
    pub stop: &'a Stop,
    /// The running numbers, which any thread may read.
    pub tally: &'a Tally,
    /// Who hears of rare facts.
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
        self.observer.hear(&Event::Began(phase));
    }
}
