//! No bytes through us: the file system shares the extents.
use crate::contract::{Endpoint, Extent, Plan};
use std::io;
use std::sync::Arc;

/// What came of asking.
pub(super) enum Offloaded {
    /// The dest has the bytes.
    Done(Extent),
    /// It cannot be done here; nothing has changed.
    Refused(io::Error),
}

/// Asks the dest to take the source's extents over. The plan knows the length.
pub(super) fn reflink(plan: &Plan, ends: &[Arc<dyn Endpoint>; 2]) -> Offloaded {
    let [source, dest] = ends;
    let len = plan.len.unwrap_or(0);
    let refused = |errno| Offloaded::Refused(io::Error::from_raw_os_error(errno));
    let Some(descriptor) = source.descriptor() else { return refused(libc::EOPNOTSUPP) };
    if len == 0 {
        return Offloaded::Done(Extent::new(0, 0));
    }
    match dest.share_from(descriptor, Extent::new(plan.source.offset, len), plan.dest.offset) {
        Ok(()) => Offloaded::Done(Extent::new(0, len)),
        Err(error) => Offloaded::Refused(error),
    }
}
