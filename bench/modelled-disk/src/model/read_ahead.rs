//! The read-ahead cache of the disk: it continues to read while a sequential reader pauses.
use super::head::{Head, When};
use super::zones::{Zones, span_ns};
use crate::parameters::{Extent, Parameters};

struct Stream {
    /// The byte after the last one requested. The cache keeps its capacity before it, and reads as much after it.
    next: u64,
    /// Its start; nothing before is cached.
    first: u64,
    /// The byte at the head when it began to read ahead.
    from: u64,
    /// The time when the head passed `from`; it has continued since.
    from_ns: u64,
}

impl Stream {
    /// The time at which the head passes `offset`, if it is not stopped; 0 for what it passed before its last stop.
    fn reaches_ns(&self, zones: &Zones, offset: u64) -> u64 {
        if offset < self.from {
            return 0;
        }
        self.from_ns + zones.media_ns(offset) - zones.media_ns(self.from)
    }
}

/// The read-ahead cache; unused with `read_ahead_bytes` 0.
pub struct ReadAhead {
    buffer_bytes: u64,
    interface_bytes_per_s: u64,
    size_bytes: u64,
    stream: Option<Stream>,
}

impl ReadAhead {
    /// An empty cache.
    pub fn new(disk: &Parameters) -> ReadAhead {
        ReadAhead {
            buffer_bytes: disk.read_ahead_bytes,
            interface_bytes_per_s: disk.interface_bytes_per_s,
            size_bytes: disk.size_bytes,
            stream: None,
        }
    }

    /// The head moved elsewhere.
    pub fn stop(&mut self) {
        self.stream = None;
    }

    /// The head has read up to `end`, at `passed_ns`, and continues.
    pub fn go_on(&mut self, end: u64, passed_ns: u64) {
        if self.buffer_bytes > 0 {
            self.stream = Some(Stream { next: end, first: end, from: end, from_ns: passed_ns });
        }
    }

    /// Whether a read of `extent` needs no head movement: it is cached, or about to be. A reader whose commands
    /// arrive out of order still counts as sequential.
    pub fn covers(&self, extent: &Extent) -> bool {
        self.stream.as_ref().is_some_and(|stream| {
            let kept = stream.next.saturating_sub(self.buffer_bytes).max(stream.first);
            (kept..=stream.next + self.buffer_bytes).contains(&extent.offset)
        })
    }

    /// Serves a read that continues near the end of the last one; returns its completion time. `None`: it must be
    /// read from the medium.
    pub fn read(&mut self, extent: Extent, when: When, head: &mut Head) -> Option<u64> {
        let covers = self.covers(&extent);
        let stream = self.stream.as_mut().filter(|_| covers)?;
        let full = (stream.next + self.buffer_bytes).min(self.size_bytes);
        let full_ns = stream.reaches_ns(&head.zones, full);
        let in_memory_ns = when.begin_ns + span_ns(extent.len, self.interface_bytes_per_s);
        let read_ns = stream.reaches_ns(&head.zones, extent.end());
        let stopped = full_ns < when.begin_ns;
        if stopped {
            // The head stopped when the cache was full, and must wait until that position passes again.
            head.passed(full, full_ns, full_ns);
            stream.from = full;
            stream.from_ns = when.begin_ns + head.wait_for(full, when.begin_ns);
        }
        let read_ns = if extent.end() <= full { read_ns } else { stream.reaches_ns(&head.zones, extent.end()) };
        let answered_ns = read_ns.max(in_memory_ns);
        stream.next = stream.next.max(extent.end());
        let passed = stream.from.max(extent.end());
        let passed_ns = stream.reaches_ns(&head.zones, passed);
        head.passed(passed, passed_ns, answered_ns);
        Some(answered_ns)
    }
}
