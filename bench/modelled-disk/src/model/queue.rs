//! Commands that wait for the disk, and which goes next.
use std::collections::VecDeque;

use super::{Kind, Ticket};
use crate::parameters::Extent;

/// One command that the disk has not begun.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// Its number.
    pub ticket: Ticket,
    /// What to do.
    pub kind: Kind,
    /// With which bytes.
    pub extent: Extent,
    /// When it came.
    pub arrival_ns: u64,
    /// How often another one that came later was taken first.
    passed_over: u64,
}

/// Commands in order of arrival; the disk sees the first `depth` of them.
pub struct Queue {
    waiting: VecDeque<Waiting>,
    depth: usize,
    one_way: bool,
}

impl Queue {
    /// An empty queue of which the disk sees `depth` commands. With `one_way` it takes the next one upwards whatever
    /// else needs no move, and none before its time because it was passed over.
    pub fn new(depth: u64, one_way: bool) -> Queue {
        Queue { waiting: VecDeque::new(), depth: usize::try_from(depth).unwrap_or(usize::MAX), one_way }
    }

    /// The disk may take another than the oldest.
    pub fn reorders(&self) -> bool {
        self.depth > 1
    }

    /// Adds a command; `arrival_ns` never decreases.
    pub fn add(&mut self, ticket: Ticket, kind: Kind, extent: Extent, arrival_ns: u64) {
        debug_assert!(self.waiting.back().is_none_or(|last| last.arrival_ns <= arrival_ns));
        self.waiting.push_back(Waiting { ticket, kind, extent, arrival_ns, passed_over: 0 });
    }

    /// The command that came first.
    pub fn oldest(&self) -> Option<&Waiting> {
        self.waiting.front()
    }

    /// When the first of the commands that the disk sees and `goes_on` is true for came.
    pub fn going_on_since(&self, goes_on: impl Fn(&Waiting) -> bool) -> Option<u64> {
        self.waiting.iter().take(self.depth).find(|one| goes_on(one)).map(|one| one.arrival_ns)
    }

    /// Takes the next command at `now_ns`: one that needs no move if there is one, else going up from byte `from`, then
    /// from the lowest again (C-LOOK).
    ///
    /// A command that was passed over four times the depth goes first, so that a stream that never ends starves nobody.
    /// A flush is a barrier: nothing that came after it goes before it, and it goes when it is the oldest.
    pub fn take(&mut self, from: u64, now_ns: u64, goes_on: impl Fn(&Waiting) -> bool) -> Option<Waiting> {
        let patience = if self.one_way { u64::MAX } else { 4 * self.depth as u64 };
        let seen = self.waiting.iter().take(self.depth).take_while(|one| one.arrival_ns <= now_ns);
        let seen = seen.enumerate().take_while(|(index, one)| *index == 0 || one.kind != Kind::Flush);
        let (index, _) = match self.waiting.front() {
            Some(oldest) if oldest.kind == Kind::Flush || oldest.passed_over >= patience => (0, oldest),
            _ => seen
                .min_by_key(|(_, one)| (!self.one_way && !goes_on(one), one.extent.offset < from, one.extent.offset))?,
        };
        self.waiting.range_mut(..index).for_each(|older| older.passed_over += 1);
        self.waiting.remove(index)
    }
}
