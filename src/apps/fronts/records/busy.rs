//! Locks the dest against other haul processes, before it is truncated or written.
use super::opened::{SideKind, sort};
use crate::apps::fronts::record_plan::{Diagnostic, RecordPlan};
use crate::core::{Extent, Side};
use crate::hold::{Held, Use, hold, refused};
use rustix::fs::{Mode, OFlags};
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd};

/// Locks the bytes of the dest that `plan` writes, before anything has changed them.
pub(super) fn hold_dest(plan: &RecordPlan, fd: BorrowedFd<'_>) -> Result<Option<Held>, Diagnostic> {
    let written = match &plan.dest.path {
        Some(_) => plan.written(),
        // The process that opened it determined its contents and its current offset.
        None => {
            let mut kept = plan.clone();
            kept.dest_words.notrunc = true;
            let (current, written) = (rustix::fs::tell(fd).unwrap_or(0), kept.written());
            let offset = written.offset.saturating_add(current);
            Extent::new(offset, written.len.min(u64::MAX - offset))
        }
    };
    let emptied = plan.dest.path.is_some() && !plan.dest_words.notrunc;
    let appends = rustix::fs::fcntl_getfl(fd).is_ok_and(|flags| flags.contains(OFlags::APPEND));
    let name = plan.dest.path.as_deref().unwrap_or(OsStr::new("(standard output)"));
    match (appends, emptied) {
        // Appending overwrites nothing, not even what another process appends.
        (true, false) => hold_for(fd, Extent::new(0, u64::MAX), Use::Read, name),
        (true, true) => hold_for(fd, Extent::new(0, u64::MAX), Use::Write, name),
        _ => hold_for(fd, written, Use::Write, name),
    }
}

/// The same for the second dest, which is written from its first byte.
pub(super) fn hold_second(plan: &RecordPlan, path: &OsStr, fd: BorrowedFd<'_>) -> Result<Option<Held>, Diagnostic> {
    hold_for(fd, Extent::new(0, plan.written().len), Use::Write, path)
}

/// Why a lock of another haul process prevents writing to the dest, or to the second dest, if it exists.
/// Nothing is created, written or kept locked.
pub fn busy(plan: &RecordPlan, second: bool) -> Option<Diagnostic> {
    let path = if second { plan.second.as_deref() } else { plan.dest.path.as_deref() };
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fd = rustix::fs::open(path.unwrap_or(OsStr::new("/dev/stdout")), flags, Mode::empty()).ok()?;
    let held = match path.filter(|_| second) {
        Some(path) => hold_second(plan, path, fd.as_fd()),
        None => hold_dest(plan, fd.as_fd()),
    };
    held.err()
}

fn hold_for(fd: BorrowedFd<'_>, extent: Extent, used_for: Use, name: &OsStr) -> Result<Option<Held>, Diagnostic> {
    if !rustix::fs::fstat(fd).is_ok_and(|stat| matches!(sort(&stat), SideKind::File | SideKind::Block)) {
        return Ok(None);
    }
    hold(fd, extent, used_for)
        .map_err(|holder| Diagnostic::Busy(Box::new(refused(Side::Dest, &name.to_string_lossy(), Use::Write, &holder))))
}
