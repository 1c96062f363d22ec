//! The disk's own memory that goes on reading when a sequential reader has gone away for a moment.
use super::head::{Head, When};
use super::zones::{Zones, span_ns};
use crate::parameters::{Extent, Parameters};

struct Stream {
    /// The byte after the last one asked for. As much as the memory holds is kept before it, and read after it.
    next: u64,
    /// Where it began; nothing before is in memory.
    first: u64,
    /// The head passed this byte ...
    from: u64,
    /// ... then, and has gone on since.
    from_ns: u64,
}

impl Stream {
    /// When the head has passed `offset`, if nothing stops it; 0 for what it passed before it last stopped.
    fn reaches_ns(&self, zones: &Zones, offset: u64) -> u64 {
        if offset < self.from {
            return 0;
        }
        self.from_ns + zones.media_ns(offset) - zones.media_ns(self.from)
    }
}

/// The read-ahead memory; of no use with `read_ahead_bytes` 0.
pub struct ReadAhead {
    buffer_bytes: u64,
    interface_bytes_per_s: u64,
    size_bytes: u64,
    stream: Option<Stream>,
}

impl ReadAhead {
    /// An empty memory.
    pub fn new(disk: &Parameters) -> ReadAhead {
        ReadAhead {
            buffer_bytes: disk.read_ahead_bytes,
            interface_bytes_per_s: disk.interface_bytes_per_s,
            size_bytes: disk.size_bytes,
            stream: None,
        }
    }

    /// The head went elsewhere.
    pub fn stop(&mut self) {
        self.stream = None;
    }

    /// The head has just read up to `end`, at `passed_ns`, and reads on.
    pub fn go_on(&mut self, end: u64, passed_ns: u64) {
        if self.buffer_bytes > 0 {
            self.stream = Some(Stream { next: end, first: end, from: end, from_ns: passed_ns });
        }
    }

    /// A read of `extent` needs no move of the head: it is in memory, or about to be. A reader whose commands overtake
    /// one another on their way here is still sequential.
    pub fn covers(&self, extent: &Extent) -> bool {
        self.stream.as_ref().is_some_and(|stream| {
            let kept = stream.next.saturating_sub(self.buffer_bytes).max(stream.first);
            (kept..=stream.next + self.buffer_bytes).contains(&extent.offset)
        })
    }

    /// Serves a read that goes on about where the last one ended; returns when it is answered. `None`: the medium must
    /// be asked in the ordinary way.
    pub fn read(&mut self, extent: Extent, when: When, head: &mut Head) -> Option<u64> {
        let covers = self.covers(&extent);
        let stream = self.stream.as_mut().filter(|_| covers)?;
        let full = (stream.next + self.buffer_bytes).min(self.size_bytes);
        let full_ns = stream.reaches_ns(&head.zones, full);
        let in_memory_ns = when.begin_ns + span_ns(extent.len, self.interface_bytes_per_s);
        let read_ns = stream.reaches_ns(&head.zones, extent.end());
        let stopped = full_ns < when.begin_ns;
        if stopped {
            // The head stopped when the memory was full, and has to wait for that place to come round.
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
