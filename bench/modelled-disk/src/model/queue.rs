//! Commands that wait for the disk, and their order.
use std::collections::VecDeque;

use super::{Kind, Ticket};
use crate::parameters::Extent;

/// A command that the disk has not started.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// Its number.
    pub ticket: Ticket,
    /// Its kind.
    pub kind: Kind,
    /// Its bytes.
    pub extent: Extent,
    /// Its arrival time.
    pub arrival_ns: u64,
    /// How often a later command was chosen first.
    passed_over: u64,
}

/// Commands in order of arrival; the disk can choose among the first `depth` of them.
pub struct Queue {
    waiting: VecDeque<Waiting>,
    depth: usize,
    one_way: bool,
}

impl Queue {
    /// An empty queue in which the disk can choose among `depth` commands. With `one_way` it chooses the next one in
    /// ascending order, even if another needs no head movement, and does not limit how often a command is skipped.
    pub fn new(depth: u64, one_way: bool) -> Queue {
        Queue { waiting: VecDeque::new(), depth: usize::try_from(depth).unwrap_or(usize::MAX), one_way }
    }

    /// Whether the disk may choose another command than the oldest.
    pub fn reorders(&self) -> bool {
        self.depth > 1
    }

    /// Adds a command; `arrival_ns` never decreases.
    pub fn add(&mut self, ticket: Ticket, kind: Kind, extent: Extent, arrival_ns: u64) {
        debug_assert!(self.waiting.back().is_none_or(|last| last.arrival_ns <= arrival_ns));
        self.waiting.push_back(Waiting { ticket, kind, extent, arrival_ns, passed_over: 0 });
    }

    /// The oldest command.
    pub fn oldest(&self) -> Option<&Waiting> {
        self.waiting.front()
    }

    /// The arrival time of the first visible command for which `goes_on` is true.
    pub fn continuing_since(&self, continues_here: impl Fn(&Waiting) -> bool) -> Option<u64> {
        self.waiting.iter().take(self.depth).find(|one| continues_here(one)).map(|one| one.arrival_ns)
    }

    /// Removes the next command at `now_ns`: one that needs no head movement if there is one, else the next above
    /// byte `from`, else the lowest (C-LOOK).
    ///
    /// A command that was skipped four times the depth goes first, so that an endless stream starves no command. A
    /// flush is a barrier: no later command overtakes it, and it runs when it is the oldest.
    pub fn take(&mut self, from: u64, now_ns: u64, continues_here: impl Fn(&Waiting) -> bool) -> Option<Waiting> {
        let patience = if self.one_way { u64::MAX } else { 4 * self.depth as u64 };
        let seen = self.waiting.iter().take(self.depth).take_while(|one| one.arrival_ns <= now_ns);
        let seen = seen.enumerate().take_while(|(index, one)| *index == 0 || one.kind != Kind::Flush);
        let (index, _) = match self.waiting.front() {
            Some(oldest) if oldest.kind == Kind::Flush || oldest.passed_over >= patience => (0, oldest),
            _ => seen.min_by_key(|(_, one)| {
                (!self.one_way && !continues_here(one), one.extent.offset < from, one.extent.offset)
            })?,
        };
        self.waiting.range_mut(..index).for_each(|older| older.passed_over += 1);
        self.waiting.remove(index)
    }
}
