//! Written bytes that the disk has acknowledged but not written to the medium.
use std::collections::BTreeMap;

use crate::parameters::Extent;

/// Most bytes written to the medium before the disk checks for new commands.
const PIECE_BYTES: u64 = 256 << 10;

/// The volatile write cache: the extents, not their data.
pub struct WriteCache {
    capacity_bytes: u64,
    /// Start → end of extents that are not on the medium; no two are adjacent.
    dirty: BTreeMap<u64, u64>,
    dirty_bytes: u64,
    /// The time since which it has not been empty.
    pub since_ns: u64,
}

impl WriteCache {
    /// An empty cache of `capacity_bytes`.
    pub fn new(capacity_bytes: u64) -> WriteCache {
        WriteCache { capacity_bytes, dirty: BTreeMap::new(), dirty_bytes: 0, since_ns: 0 }
    }

    /// Whether a write of `len` bytes can fit at all.
    pub fn takes(&self, len: u64) -> bool {
        len > 0 && len <= self.capacity_bytes
    }

    /// Whether a write of `len` bytes fits now.
    pub fn has_room(&self, len: u64) -> bool {
        self.dirty_bytes + len <= self.capacity_bytes
    }

    /// Whether all these bytes are cached.
    pub fn holds(&self, extent: &Extent) -> bool {
        let before = self.dirty.range(..=extent.offset).next_back();
        before.is_some_and(|(_, end)| *end >= extent.end())
    }

    /// Adds `extent` at `now_ns`.
    pub fn add(&mut self, extent: Extent, now_ns: u64) {
        if self.dirty.is_empty() {
            self.since_ns = now_ns;
        }
        let (mut start, mut end) = (extent.offset, extent.end());
        let touching: Vec<u64> =
            self.dirty.range(..=end).rev().take_while(|(_, e)| **e >= start).map(|(s, _)| *s).collect();
        for offset in touching {
            let old_end = self.dirty.remove(&offset).unwrap_or(offset);
            self.dirty_bytes -= old_end - offset;
            (start, end) = (start.min(offset), end.max(old_end));
        }
        self.dirty.insert(start, end);
        self.dirty_bytes += end - start;
    }

    /// Removes the piece to be written next, for a head at `from`: the next above it, else the lowest.
    pub fn take_piece(&mut self, from: u64) -> Option<Extent> {
        let inside = self.dirty.range(..=from).next_back().filter(|(_, end)| **end > from).map(|(s, e)| (*s, *e));
        let above = self.dirty.range(from..).next().map(|(s, e)| (*s, *e));
        let (start, end) = inside.or(above).or_else(|| self.dirty.iter().next().map(|(s, e)| (*s, *e)))?;
        let offset = if inside.is_some() { from } else { start };
        let len = (end - offset).min(PIECE_BYTES);
        self.dirty.remove(&start);
        if start < offset {
            self.dirty.insert(start, offset);
        }
        if offset + len < end {
            self.dirty.insert(offset + len, end);
        }
        self.dirty_bytes -= len;
        Some(Extent { offset, len })
    }

    /// Whether everything is on the medium.
    pub fn is_empty(&self) -> bool {
        self.dirty.is_empty()
    }
}
