//! Control and observation of a running copy.
use crate::core::{Event, Observer, Phase, Stop, Tally};
use std::sync::atomic::Ordering::Relaxed;

/// Lets the caller of a copy stop it, poll its counters and receive its events.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// The stop request, which any thread may make.
    pub stop: &'a Stop,
    /// The counters, which any thread may read.
    pub tally: &'a Tally,
    /// The receiver of events.
    pub observer: &'a dyn Observer,
}

impl<'a> Watch<'a> {
    /// Combines the three.
    pub fn new(stop: &'a Stop, tally: &'a Tally, observer: &'a dyn Observer) -> Self {
        Watch { stop, tally, observer }
    }

    /// Reports the start of a phase.
    pub(super) fn begin(&self, phase: Phase) {
        self.tally.phase.store(phase as u8, Relaxed);
        self.observer.on_event(&Event::Began(phase));
    }
}
