//! Ends the copy at a range of the source that does not match its block map.
use super::Pump;
use crate::core::{DamagedRange, Error, Kind, Side};

impl Pump<'_> {
    /// Fails the copy if a range was found damaged.
    pub(super) fn check_ranges(&mut self) {
        let Some(map) = self.plan.block_map.as_ref().filter(|_| self.failure.is_none()) else { return };
        let Some(DamagedRange { extent, expected, found }) = self.queues.damaged() else { return };
        let (source, map) = (&self.plan.source.address, &map.address);
        let last = extent.end() - 1;
        let what = format!(
            "source {source} is damaged: bytes {} to {last} have the digest {found}, but block map {map} has \
             {expected}",
            extent.offset
        );
        let error = Error { offset: Some(extent.offset), ..Error::new(Kind::Corrupt, what).on(Side::Source) };
        let error = error.advise(
            "The destination holds damaged data: do not use it. Obtain image and block map again, then copy again. \
             --no-bmap ignores the map.",
        );
        // All of the range was written; what is in flight after it is of no use.
        self.set_failure(error, 0);
        self.wake_source();
    }
}
