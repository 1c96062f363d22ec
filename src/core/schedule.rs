//! Which extent goes next.
use super::{Extent, Run};
use std::io;

/// What the pump is to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Copy this run; its offset counts from the first byte of the copy, not of either side.
    Do(Run),
    /// Nothing before something in flight has settled.
    Wait,
    /// No more.
    Finished,
}

/// Decides which extent goes next. Offsets count from the first byte of the copy: 0 is the byte at `skip` on the
/// source and at `seek` on the dest.
pub trait Schedule {
    /// The next run, at most `block_bytes` long where it is data. Errors come of asking the source for its holes.
    fn next(&mut self, block_bytes: u32) -> io::Result<Next>;

    /// The source has no bytes at or after `offset`.
    fn ends_at(&mut self, offset: u64);

    /// Every byte of `extent`, which was handed out, arrived in an earlier run: it is read for the digests alone, and
    /// is not reported as settled again.
    fn is_reread(&self, _extent: Extent) -> bool {
        false
    }

    /// Every byte of `extent` has arrived.
    fn settled(&mut self, extent: Extent);

    /// All bytes that arrived with none missing between them, from the end where the copy began: the first byte's
    /// side for a forward copy, the last byte's for a backward one. This much may be claimed.
    fn claimed(&self) -> Extent;
}
