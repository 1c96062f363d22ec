//! A journal as GNU ddrescue's mapfile, and back.
use super::{Head, State};
use crate::core::{Extent, ExtentSet};
use crate::ledger::mapfile::Mapfile;

/// The extents of `set`, `by` bytes further on.
fn moved_on(set: &ExtentSet, by: u64) -> ExtentSet {
    set.iter().map(|Extent { offset, len }| Extent::new(offset + by, len)).collect()
}

impl State {
    /// The mapfile that says the same, in positions of the source, as ddrescue has them: durable is finished, unread is
    /// bad, the rest is not tried. Where the length of the copy is not known it ends with what is known.
    pub fn to_mapfile(&self, head: &Head) -> Mapfile {
        let begin = head.source.offset_bytes;
        let (finished, bad) = (moved_on(&self.durable, begin), moved_on(&self.unread, begin));
        let end = head.len_bytes.map_or(finished.end().max(bad.end()).max(begin), |len| begin + len);
        Mapfile::of_sets(Extent::new(begin, end - begin), &finished, &bad)
    }

    /// What a mapfile says about the `copy`, an extent of the source. What ddrescue has not finished trying is not
    /// unread.
    ///
    /// ddrescue writes without making durable: the dest has to be flushed before a journal may claim this.
    pub fn of_mapfile(mapfile: &Mapfile, copy: Extent) -> State {
        let sets = mapfile.sets();
        let moved_back = |set: &ExtentSet| -> ExtentSet {
            set.within(copy).map(|extent| Extent::new(extent.offset - copy.offset, extent.len)).collect()
        };
        State { durable: moved_back(&sets.finished), unread: moved_back(&sets.bad) }
    }
}
