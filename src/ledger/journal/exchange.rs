//! Converts a journal to a mapfile of GNU ddrescue, and back.
use super::{Head, State};
use crate::core::{AddressMap, Extent, ExtentSet};
use crate::ledger::mapfile::Mapfile;

/// Maps the bytes of a copy in `set` to offsets of a side.
fn places(map: &AddressMap, set: &ExtentSet) -> ExtentSet {
    set.iter().flat_map(|extent| map.places(extent)).collect()
}

impl State {
    /// The equivalent mapfile, in offsets of the source, as in ddrescue: durable is finished, unread is bad,
    /// everything else is not tried, including bytes between ranges. If the length of the copy is unknown, it
    /// ends with the last known byte.
    pub fn to_mapfile(&self, head: &Head) -> Mapfile {
        let map = head.on_source();
        let (mut finished, bad) = (places(&map, &self.durable), places(&map, &self.unread));
        // With overlapping ranges, a byte may be both.
        finished.remove_all(&bad);
        let known = self.durable.end().max(self.unread.end());
        Mapfile::of_sets(map.hull(head.len_bytes.unwrap_or(known)), &finished, &bad)
    }

    /// The contents of a mapfile for the `copy`, an extent of the source. Bytes that ddrescue has not finished
    /// trying do not count as unread.
    ///
    /// ddrescue does not flush: the dest must be flushed before a journal may claim this.
    pub fn of_mapfile(mapfile: &Mapfile, copy: Extent) -> State {
        let sets = mapfile.sets();
        let moved_back = |set: &ExtentSet| -> ExtentSet {
            set.within(copy).map(|extent| Extent::new(extent.offset - copy.offset, extent.len)).collect()
        };
        State { durable: moved_back(&sets.finished), unread: moved_back(&sets.bad), ..State::default() }
    }
}
