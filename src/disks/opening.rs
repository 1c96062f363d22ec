//! Opening one side as planned, and checking that it is still what was probed.
use crate::core::{Error, Existing, Extent, Facts, FileId, Kind, PlanSide, Result, Side};
use crate::hold::{self, Held, Use};
use crate::sys::block;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// The side to open, with everything that error messages need.
#[derive(Clone, Copy)]
pub(super) struct Opening<'a> {
    pub(super) side: Side,
    /// Whether to open it for reading.
    pub(super) reads: bool,
    /// Whether to open it for writing.
    pub(super) writes: bool,
    pub(super) plan: &'a PlanSide,
    pub(super) facts: &'a Facts,
}

impl Opening<'_> {
    /// Opens the path for the planned direction, with additional flags `more`.
    pub(super) fn open(&self, more: OFlags) -> Result<OwnedFd> {
        let direction = match (self.reads, self.writes) {
            (true, true) => OFlags::RDWR,
            (_, false) => OFlags::RDONLY,
            (false, true) => OFlags::WRONLY,
        };
        let flags = direction | OFlags::CLOEXEC | OFlags::NOCTTY | more;
        // The default permissions of new files, reduced by the umask.
        let mode = Mode::from_raw_mode(0o666);
        loop {
            match rustix::fs::open(&self.plan.path, flags, mode) {
                Ok(fd) => return Ok(fd),
                Err(Errno::INTR) => {}
                Err(error) => return Err(self.refused_by_kernel(more, error)),
            }
        }
    }

    /// An error of this side with its path.
    pub(super) fn error(&self, kind: Kind, what: &str) -> Error {
        Error::new(kind, format!("cannot open {} {}{what}", self.side.name(), self.name())).on(self.side)
    }

    fn name(&self) -> String {
        match (self.plan.address.as_str(), self.side) {
            ("-", Side::Source) => "(standard input)".to_owned(),
            ("-", Side::Dest) => "(standard output)".to_owned(),
            _ => self.plan.path.display().to_string(),
        }
    }

    fn refused_by_kernel(&self, more: OFlags, errno: Errno) -> Error {
        let cause = io::Error::from(errno);
        if errno == Errno::INVAL && more.contains(OFlags::DIRECT) {
            let error = self.error(Kind::Unsupported, " for direct I/O: the file system does not support it");
            return error.because(cause).advise("Run the command again without direct I/O.");
        }
        if errno == Errno::BUSY {
            let error = self.error(Kind::Refused, ": it is in use");
            let advice = "Unmount it and stop the programs that use it (see lsblk, swapon --show, losetup -l), then \
                run the command again.";
            return error.because(cause).advise(advice);
        }
        if errno == Errno::EXIST && self.plan.access.existing == Existing::Create {
            let error = self.error(Kind::Refused, ": it appeared after haul examined it");
            return error.because(cause).advise("Run the command again to examine it again.");
        }
        let advice = match errno {
            Errno::NOENT => "Check the path.",
            Errno::ACCESS | Errno::PERM => "Run the command as root, or as a user with permission.",
            Errno::ROFS => "The file system is mounted read-only: remount it, or choose another one.",
            Errno::ISDIR => "Name a file in that directory.",
            Errno::TXTBSY => "The file is a running program or swap space: stop it, or write to another file.",
            Errno::NOMEDIUM => "Insert a medium.",
            _ => "",
        };
        self.error(Kind::Open, "").because(cause).advise(advice)
    }

    /// Checks that `fd` is the probed file, even if the path leads to another one now. Returns its identity.
    pub(super) fn check_identity(&self, fd: BorrowedFd<'_>) -> Result<FileId> {
        let stat = rustix::fs::fstat(fd).map_err(|errno| self.error(Kind::Open, "").because(errno.into()))?;
        let id = match FileType::from_raw_mode(stat.st_mode) {
            FileType::BlockDevice => FileId::Device(stat.st_rdev),
            _ => FileId::File(stat.st_dev, stat.st_ino),
        };
        if self.facts.id.is_some_and(|known| known != id) {
            return Err(self.changed(""));
        }
        // A removed USB stick and another one inserted later may have the same name and device number.
        let sequence = matches!(id, FileId::Device(_)).then(|| block::disk_sequence(fd).ok()).flatten();
        match (self.facts.disk_sequence, sequence) {
            (Some(known), Some(now)) if known != now => Err(self.changed(": another disk or medium has its name now")),
            _ => Ok(id),
        }
    }

    /// Takes the planned lock on `fd`, which has this `id`.
    ///
    /// # Errors
    /// Refused if another haul process uses it.
    pub(super) fn hold(&self, fd: BorrowedFd<'_>) -> Result<Option<Held>> {
        let used_for = if self.writes { Use::Write } else { Use::Read };
        self.plan.lock.map_or(Ok(None), |extent| self.hold_for(fd, extent, used_for))
    }

    /// The same for a standard stream, which may be a file: from its current offset on.
    ///
    /// # Errors
    /// As for [`Opening::hold`].
    pub(super) fn hold_redirected(&self, fd: BorrowedFd<'_>) -> Result<Option<Held>> {
        let is_file =
            rustix::fs::fstat(fd).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile);
        let (Some(extent), Ok(offset), true) = (self.plan.lock, rustix::fs::tell(fd), is_file) else { return Ok(None) };
        if self.writes && rustix::fs::fcntl_getfl(fd).is_ok_and(|flags| flags.contains(OFlags::APPEND)) {
            // Appending never overwrites bytes, even if other processes append too.
            return self.hold_for(fd, Extent::new(0, u64::MAX), Use::Read);
        }
        let used_for = if self.writes { Use::Write } else { Use::Read };
        self.hold_for(fd, Extent::new(offset, extent.len.min(u64::MAX - offset)), used_for)
    }

    fn hold_for(&self, fd: BorrowedFd<'_>, extent: Extent, used_for: Use) -> Result<Option<Held>> {
        hold::hold(fd, extent, used_for).map_err(|holder| {
            let wanted = if self.writes { Use::Write } else { Use::Read };
            hold::refused(self.side, &self.name(), wanted, &holder)
        })
    }

    /// The error for a side that is not what the plan was made for any more.
    pub(super) fn changed(&self, how: &str) -> Error {
        let error = self.error(Kind::Refused, &format!(": it changed after haul examined it{how}"));
        error.advise("Run the command again to examine it again.")
    }

    /// Refuses to create a regular file under /dev: a missing `/dev/sdz` must not become a file that fills memory.
    /// Files in /dev/shm are permitted.
    pub(super) fn refuse_file_under_dev(&self) -> Result<()> {
        let parent = parent_directory(&self.plan.path);
        let parent = parent.canonicalize().unwrap_or_else(|_| parent.to_owned());
        if !parent.starts_with("/dev") || parent.starts_with("/dev/shm") {
            return Ok(());
        }
        let error = self.error(Kind::Refused, ": no such device, and haul creates no regular file under /dev");
        Err(error.advise("'haul list' shows the available devices."))
    }
}

/// The directory that contains `path`.
pub(super) fn parent_directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => Path::new("/"),
    }
}

/// Whether two descriptors refer to the same file or device node.
pub(super) fn same(one: &OwnedFd, other: &OwnedFd) -> bool {
    let id = |fd: &OwnedFd| rustix::fs::fstat(fd.as_fd()).map(|stat| (stat.st_dev, stat.st_ino, stat.st_rdev)).ok();
    id(one).is_some() && id(one) == id(other)
}
