//! Schedules: the order in which extents are copied.
use super::{Extent, Run};
use std::io;
use std::time::Duration;

/// The next step for the pump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Copy this run. Its offset counts from the first byte of the copy, not of either side.
    Do(Run),
    /// Wait until a request in flight has completed.
    Wait,
    /// Nothing is left to copy.
    Finished,
}

/// Decides which extent is next. Offsets count from the first byte of the copy: 0 is the byte at `skip` of the source
/// and at `seek` of the dest.
pub trait Schedule {
    /// The next run, of at most `block_bytes` if it is data. Errors come from querying the source for holes.
    fn next(&mut self, block_bytes: u32) -> io::Result<Next>;

    /// The source ended at `offset`.
    fn ends_at(&mut self, offset: u64);

    /// Whether `extent`, which was scheduled, was copied by an earlier run: it is only read for digests, and
    /// [`Schedule::complete`] is not called for it.
    fn is_reread(&self, _extent: Extent) -> bool {
        false
    }

    /// All bytes of `extent` were copied.
    fn complete(&mut self, extent: Extent);

    /// The contiguous extent that was copied so far, from the first byte for a forward copy and from the last byte for
    /// a backward one.
    fn claimed(&self) -> Extent;

    /// Whether this schedule depends on the result of each read. Then [`Schedule::on_read`] and
    /// [`Schedule::on_failed`] are called, and an unreadable place neither ends the copy nor is read in smaller pieces.
    /// Constant.
    fn depends_on_results(&self) -> bool {
        false
    }

    /// All of `extent` was read, the last request of it in `took`; it will be written, then
    /// [`Schedule::complete`] is called for it.
    fn on_read(&mut self, _extent: Extent, _took: Duration) {}

    /// A read that began at `extent` failed after `took`, for a reason that depends on the place. The block that it
    /// belongs to ends before `extent`; if nothing of it was read, neither [`Schedule::on_read`] nor
    /// [`Schedule::complete`] is called for it. `bad` is the first unreadable byte, if the device reports it.
    fn on_failed(&mut self, _extent: Extent, _took: Duration, _bad: Option<u64>) {}

    /// Whether it returned [`Next::Wait`] last because it is paused: it is asked again after some time. Asked only if
    /// nothing is in flight.
    fn is_paused(&self) -> bool {
        false
    }

    /// The smallest length that a file as dest has in the end, whatever was copied.
    fn dest_len_min(&self) -> u64 {
        0
    }
}
