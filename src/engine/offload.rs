//! No bytes through us: the file system shares the extents, or the device copies them.
use crate::contract::{DeviceCopy, Endpoint, Extent, Plan, Stop, Tally};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

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

/// How a copy that the device makes by itself has ended.
pub(super) struct Copied {
    /// Bytes, from the first on.
    pub(super) bytes: u64,
    /// Why it ended early, if not by a signal.
    pub(super) failed: Option<io::Error>,
}

/// Lets the device copy, one command after the other: between them the wish to stop is heard, and the tally follows.
pub(super) fn by_device(plan: &Plan, dest: &Arc<dyn Endpoint>, stop: &Stop, tally: &Tally) -> Copied {
    let (mut bytes, len) = (0, plan.len.unwrap_or(0));
    let DeviceCopy { from_offset, command_bytes } = plan.device_copy.expect("the plan has it for this engine");
    while bytes < len && stop.asked().is_none() {
        let from = Extent::new(from_offset + bytes, (len - bytes).min(command_bytes.into()));
        match dest.copy_within(from, plan.dest.offset + bytes) {
            Ok(moved) => bytes += u64::from(moved),
            Err(error) => return Copied { bytes, failed: Some(error) },
        }
        tally.written_bytes.store(bytes, Relaxed);
    }
    Copied { bytes, failed: None }
}
