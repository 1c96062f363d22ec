//! Opens both sides as dd does.
use super::busy::{hold_dest, hold_second};
use super::commands_only::check_nodes;
use super::opened::{Opened, SideKind, sort};
use crate::apps::fronts::record_plan::{Diagnostic, ExtraDiagnostic, OpenWords, RecordPlan, RecordSide};
use crate::core::Side;
use crate::hold::Held;
use crate::sys;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

impl Opened {
    /// What would be opened as `side`, without creating or truncating anything. Only files and disks are
    /// opened: opening anything else may have side effects. A path that cannot be examined counts as an empty
    /// file to be created.
    ///
    /// # Errors
    /// The source cannot be opened.
    pub fn look_at(asked: &RecordSide, side: Side) -> Result<Opened, Diagnostic> {
        let Some(path) = &asked.path else {
            return standard(side.index() as u8, OpenWords::default()).map(Opened::look);
        };
        let sort = rustix::fs::stat(path).map(|stat| sort(&stat));
        let unopened = |sort, size, offset| Opened {
            fd: None,
            standing: None,
            sort,
            size,
            offset,
            flags: flags(asked.words),
            logical_block_bytes: None,
        };
        match sort {
            Ok(SideKind::File | SideKind::Block) | Err(_) => {}
            Ok(sort) => return Ok(unopened(sort, None, (sort != SideKind::Pipe).then_some(0))),
        }
        match (open_path(asked, OFlags::RDONLY, OFlags::NONBLOCK), side) {
            (Ok(fd), _) => {
                let mut opened = Opened::look(fd);
                opened.flags = flags(asked.words);
                Ok(opened)
            }
            (Err(complaint), Side::Source) => Err(complaint),
            (Err(_), Side::Dest) => Ok(unopened(SideKind::File, Some(0), Some(0))),
        }
    }

    fn look(fd: Option<OwnedFd>) -> Opened {
        let stat = fd.as_ref().and_then(|fd| rustix::fs::fstat(fd).ok());
        let sort = stat.as_ref().map_or(SideKind::Other, sort);
        let size = match (sort, &fd) {
            (SideKind::File, _) => stat.map(|stat| stat.st_size as u64),
            (SideKind::Block, Some(fd)) => sys::block::size_bytes(fd.as_fd()).ok(),
            _ => None,
        };
        let offset = fd.as_ref().and_then(|fd| rustix::fs::tell(fd).ok());
        let flags = fd.as_ref().and_then(|fd| rustix::fs::fcntl_getfl(fd).ok()).unwrap_or(OFlags::empty());
        let block = fd.as_ref().filter(|_| sort == SideKind::Block);
        let logical_block_bytes = block.and_then(|fd| rustix::fs::ioctl_blksszget(fd).ok());
        Opened { fd, standing: None, sort, size, offset, flags, logical_block_bytes }
    }

    /// A generated source, which is not opened.
    pub fn made_up() -> Opened {
        let (size, offset, flags) = (None, None, OFlags::empty());
        Opened { fd: None, standing: None, sort: SideKind::Zeros, size, offset, flags, logical_block_bytes: None }
    }
}

/// Both sides, open.
#[derive(Debug)]
pub struct OpenSides {
    /// The side that is read.
    pub source: Opened,
    /// The side that is written.
    pub dest: Opened,
    /// The second dest.
    pub(super) second: Option<OwnedFd>,
    /// Locks against other haul processes.
    _held: [Option<Held>; 2],
}

impl OpenSides {
    /// The second dest.
    pub fn second(&self) -> Option<BorrowedFd<'_>> {
        self.second.as_ref().map(AsFd::as_fd)
    }

    /// Evicts the page cache of disks that are reached by passthrough commands: it may be outdated.
    pub fn drop_caches(&self) {
        for device in [&self.source, &self.dest].into_iter().filter_map(Opened::device) {
            // If writing back fails, the process that wrote the data gets the error.
            let _ = device.drop_cache();
        }
    }

    /// Whether writes may change what is read next: both sides are one file or one device, or one contains the
    /// other. Then each record must be written before the next one is read.
    pub(super) fn are_one(&self) -> bool {
        let stat = |end: &Opened| end.fd().ok().and_then(|fd| rustix::fs::fstat(fd).ok());
        let (Some(source), Some(dest)) = (stat(&self.source), stat(&self.dest)) else { return false };
        match (self.source.sort, self.dest.sort) {
            (SideKind::File, SideKind::File) => (source.st_dev, source.st_ino) == (dest.st_dev, dest.st_ino),
            (SideKind::Block, SideKind::Block) => source.st_rdev == dest.st_rdev,
            (SideKind::File, SideKind::Block) => source.st_dev == dest.st_rdev,
            (SideKind::Block, SideKind::File) => source.st_rdev == dest.st_dev,
            _ => false,
        }
    }
}

/// Opens the source, then the dest, which may create a file. [`empty`] truncates it after all checks. Sides
/// that are already open, by [`Side::index`], are used as they are: disks that are reached by passthrough
/// commands.
///
/// # Errors
/// The side, and dd's message.
pub fn open(plan: &RecordPlan, [source, dest]: [Option<Opened>; 2]) -> Result<OpenSides, (Side, Diagnostic)> {
    check_nodes(plan, [source.is_some(), dest.is_some()])?;
    let on = |side| move |complaint| (side, complaint);
    let source = match source {
        Some(source) => source,
        None => open_source(plan).map_err(on(Side::Source))?,
    };
    let (dest, held, made) = match dest {
        Some(dest) => (dest, None, false),
        None => open_to_write(plan).map_err(on(Side::Dest))?,
    };
    let (second, second_held) = match open_second(plan) {
        Ok(second) => second,
        Err(complaint) => {
            if made {
                remove_made(&dest, plan.dest.path.as_deref().unwrap_or_default());
            }
            return Err((Side::Dest, complaint));
        }
    };
    Ok(OpenSides { source, dest, second, _held: [held, second_held] })
}

/// Removes the file at `path` that this copy created, unless the name now belongs to another file.
fn remove_made(made: &Opened, path: &OsStr) {
    let ours = made.fd().ok().and_then(|fd| rustix::fs::fstat(fd).ok());
    let (Some(ours), Ok(named)) = (ours, rustix::fs::lstat(path)) else { return };
    if (ours.st_dev, ours.st_ino) == (named.st_dev, named.st_ino) {
        // The reason for the refusal is reported; an empty file that remains is harmless.
        let _ = rustix::fs::unlink(path);
    }
}

fn open_source(plan: &RecordPlan) -> Result<Opened, Diagnostic> {
    let source = match (plan.pattern, &plan.source.path) {
        (Some(_), _) => Opened::made_up(),
        (None, Some(_)) => Opened::look(open_path(&plan.source, OFlags::RDONLY, flags(plan.source.words))?),
        (None, None) => Opened::look(standard(0, plan.source.words)?),
    };
    lock(&source, plan.source.words)?;
    Ok(source)
}

/// Opens the dest for writing, or for reading if it is to be compared. True: the file was created.
fn open_to_write(plan: &RecordPlan) -> Result<(Opened, Option<Held>, bool), Diagnostic> {
    let (dest, made) = match &plan.dest.path {
        Some(_) if plan.compare => (open_path(&plan.dest, OFlags::RDONLY, flags(plan.dest.words))?, false),
        Some(_) => open_dest(plan)?,
        None => (standard(1, plan.dest.words)?, false),
    };
    let mut held = None;
    if let (Some(fd), false) = (&dest, plan.compare) {
        held = hold_dest(plan, fd.as_fd())?;
    }
    let dest = Opened::look(dest);
    lock(&dest, plan.dest.words)?;
    Ok((dest, held, made))
}

/// Takes the requested lock, or reports the process that has it.
fn lock(opened: &Opened, words: OpenWords) -> Result<(), Diagnostic> {
    if !words.flock {
        return Ok(());
    }
    let locked = opened
        .fd()
        .and_then(|fd| sys::retry(|| rustix::fs::flock(fd, rustix::fs::FlockOperation::NonBlockingLockExclusive)));
    locked.map_err(|error| Diagnostic::Careful(ExtraDiagnostic::Locked(error)))
}

/// Opens and locks the second dest, if there is one. It is not truncated.
fn open_second(plan: &RecordPlan) -> Result<(Option<OwnedFd>, Option<Held>), Diagnostic> {
    let Some(path) = &plan.second else { return Ok((None, None)) };
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC;
    let fd = sys::retry(|| rustix::fs::open(path, flags, Mode::from_raw_mode(0o666)))
        .map_err(|error| Diagnostic::Careful(ExtraDiagnostic::Second(error)))?;
    let held = hold_second(plan, path, fd.as_fd())?;
    Ok((Some(fd), held))
}

fn flags(words: OpenWords) -> OFlags {
    let table = [
        (words.append, OFlags::APPEND),
        (words.direct, OFlags::DIRECT),
        (words.directory, OFlags::DIRECTORY),
        (words.dsync, OFlags::DSYNC),
        (words.sync, OFlags::SYNC),
        (words.nonblock, OFlags::NONBLOCK),
        (words.noatime, OFlags::NOATIME),
        (words.noctty, OFlags::NOCTTY),
        (words.nofollow, OFlags::NOFOLLOW),
        (words.excl, OFlags::EXCL),
    ];
    table.into_iter().filter(|(given, _)| *given).fold(OFlags::empty(), |all, (_, flag)| all | flag)
}

fn open_path(side: &RecordSide, direction: OFlags, more: OFlags) -> Result<Option<OwnedFd>, Diagnostic> {
    let path = side.path.as_deref().unwrap_or_default();
    let flags = direction | OFlags::CLOEXEC | more;
    loop {
        match rustix::fs::open(path, flags, Mode::from_raw_mode(0o666)) {
            Ok(fd) => return Ok(Some(fd)),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(Diagnostic::Open(errno.into())),
        }
    }
}

/// Opens the dest; true: the file was created, and may have to be removed again.
fn open_dest(plan: &RecordPlan) -> Result<(Option<OwnedFd>, bool), Diagnostic> {
    let (words, skip) = (plan.dest_words, plan.dest.skip);
    let mut more = flags(plan.dest.words);
    // O_EXCL opens an existing device exclusively: with O_CREAT it would fail, because the device exists.
    let claims_device = plan.dest.words.excl && is_block_device(plan.dest.path.as_deref().unwrap_or_default());
    more.set(OFlags::CREATE, !words.nocreat && !claims_device);
    more.set(OFlags::EXCL, words.excl || plan.dest.words.excl);
    // No O_TRUNC: a file that another haul process writes must not be truncated.
    if skip.records == 0 {
        return open_or_make(plan, OFlags::WRONLY, more);
    }
    // Before anything is created.
    if !words.notrunc && skip.in_bytes(plan.dest.record_bytes).is_none() {
        return Err(Diagnostic::TooLong(skip.records));
    }
    // dd skips records on a file without offsets by reading them.
    match open_or_make(plan, OFlags::RDWR, more) {
        Err(_) => open_or_make(plan, OFlags::WRONLY, more),
        opened => opened,
    }
}

/// If there is a second dest, which may be refused, true is certain to mean that this call created the file.
fn open_or_make(plan: &RecordPlan, direction: OFlags, flags: OFlags) -> Result<(Option<OwnedFd>, bool), Diagnostic> {
    let makes = plan.second.is_some() && flags.contains(OFlags::CREATE);
    let path = plan.dest.path.as_deref().unwrap_or_default();
    let missing = || matches!(rustix::fs::stat(path), Err(Errno::NOENT));
    if makes
        && missing()
        && let Ok(fd) = open_path(&plan.dest, direction, flags | OFlags::EXCL)
    {
        return Ok((fd, true));
    }
    // It exists, or it cannot be created: then this call returns the kernel's error.
    Ok((open_path(&plan.dest, direction, flags)?, false))
}

fn is_block_device(path: &OsStr) -> bool {
    rustix::fs::stat(path).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice)
}

/// Truncates the dest if the plan requires it. [`open`] has changed no byte of it, so that every reason to
/// refuse is found before.
///
/// # Errors
/// dd's message.
pub fn empty(plan: &RecordPlan, ends: &mut OpenSides) -> Result<(), Diagnostic> {
    if plan.dest.path.is_none() || plan.compare || plan.dest_words.notrunc {
        return Ok(());
    }
    let Some(fd) = &ends.dest.fd else { return Ok(()) };
    truncate(fd, plan)?;
    if ends.dest.sort == SideKind::File {
        ends.dest.size = rustix::fs::fstat(fd).ok().map(|stat| stat.st_size as u64);
    }
    Ok(())
}

/// Truncates a file at the offset of the first record.
fn truncate(fd: &OwnedFd, plan: &RecordPlan) -> Result<(), Diagnostic> {
    let skip = plan.dest.skip;
    // As in dd: a skip of less than one record preserves nothing.
    if skip.records == 0 {
        let is_file = rustix::fs::fstat(fd).is_ok_and(|stat| sort(&stat) == SideKind::File);
        let emptied = if is_file { sys::retry(|| rustix::fs::ftruncate(fd, 0)) } else { Ok(()) };
        // dd truncates a file when it opens it.
        return emptied.map_err(Diagnostic::Open);
    }
    let Some(size) = skip.in_bytes(plan.dest.record_bytes) else { return Err(Diagnostic::TooLong(skip.records)) };
    let Err(error) = sys::retry(|| rustix::fs::ftruncate(fd, size)) else { return Ok(()) };
    // Devices and pipes cannot be truncated.
    let matters = rustix::fs::fstat(fd)
        .is_ok_and(|stat| matches!(FileType::from_raw_mode(stat.st_mode), FileType::RegularFile | FileType::Directory));
    if matters { Err(Diagnostic::Truncate(size, error)) } else { Ok(()) }
}

/// Standard input or output, with the requested flags.
fn standard(number: u8, words: OpenWords) -> Result<Option<OwnedFd>, Diagnostic> {
    let wanted = flags(words) - OFlags::NOFOLLOW - OFlags::NOCTTY;
    let failed = |errno: Errno| Diagnostic::SetFlags(errno.into());
    if sys::was_closed(number) {
        return if wanted.is_empty() { Ok(None) } else { Err(failed(Errno::BADF)) };
    }
    let (stdin, stdout) = (io::stdin(), io::stdout());
    let fd = if number == 0 { stdin.as_fd() } else { stdout.as_fd() };
    if wanted.contains(OFlags::DIRECTORY) {
        let stat = rustix::fs::fstat(fd).map_err(failed)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            return Err(failed(Errno::NOTDIR));
        }
    }
    let wanted = wanted - OFlags::DIRECTORY;
    if !wanted.is_empty() {
        let present = rustix::fs::fcntl_getfl(fd).map_err(failed)?;
        if !present.contains(wanted) {
            rustix::fs::fcntl_setfl(fd, present | wanted).map_err(failed)?;
        }
    }
    // A duplicate descriptor: closing it reports the same errors as closing the stream.
    rustix::io::fcntl_dupfd_cloexec(fd, 3).map(Some).map_err(|errno| Diagnostic::Open(errno.into()))
}
