//! An open directory and a name in it.
use super::FileError;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Mode bits that let group or others write.
const OTHERS_WRITE: u32 = 0o022;

/// A name in an open directory: even if the path is renamed later, it refers to the same directory.
#[derive(Clone, Debug)]
pub struct DirectoryEntry {
    pub(super) directory: Arc<OwnedFd>,
    /// Whether it is open for reading, so that it can be listed and synced.
    pub(super) can_be_read: bool,
    pub(super) name: OsString,
    /// The path as given, for messages.
    path: PathBuf,
}

/// How an existing file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// For reading. Follows a symbolic link, because the user may name a file that way.
    Read,
    /// For reading and writing, by a command that relies on its content and may remove it: the name must lead to the
    /// file itself, and in a directory that others can write to, the user must own the file.
    Own,
}

/// The identity of the file that a name leads to. Paths with equal values lead to the same file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileIdentity {
    /// An existing file, device or directory: device and inode number.
    Inode(u64, u64),
    /// A missing file: device and inode number of the directory, and the name in it.
    Nothing(u64, u64, OsString),
}

impl DirectoryEntry {
    /// The entry that `path` names. Does not follow a symbolic link in the last component.
    ///
    /// # Errors
    /// The error of `open(2)` for the directory, or `path` does not end in a name.
    pub fn of(path: &Path) -> io::Result<DirectoryEntry> {
        let name = path.file_name().ok_or_else(|| io::Error::other("it does not end in a file name"))?;
        let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let (fd, can_be_read) = match rustix::fs::open(directory, flags | OFlags::RDONLY, Mode::empty()) {
            Ok(fd) => (fd, true),
            // Files can be created in a directory without read permission.
            Err(Errno::ACCESS) => (rustix::fs::open(directory, flags | OFlags::PATH, Mode::empty())?, false),
            Err(errno) => return Err(errno.into()),
        };
        Ok(DirectoryEntry { directory: Arc::new(fd), can_be_read, name: name.to_owned(), path: path.to_owned() })
    }

    /// The same, but if `path` is a symbolic link of this user or root, the entry that it leads to, because users may
    /// store files elsewhere on purpose.
    ///
    /// # Errors
    /// As for [`DirectoryEntry::of`]; the link belongs to another user, or is dangling.
    pub fn following(path: &Path) -> Result<DirectoryEntry, FileError> {
        match fs::symlink_metadata(path) {
            Ok(link) if link.is_symlink() && ![0, our_uid()].contains(&link.uid()) => {
                Err(FileError::NotOurs(format!("it is a symbolic link owned by user {}", link.uid())))
            }
            Ok(link) if link.is_symlink() => {
                Ok(DirectoryEntry { path: path.to_owned(), ..DirectoryEntry::of(&canonical(path)?)? })
            }
            _ => Ok(DirectoryEntry::of(path)?),
        }
    }

    /// The path as given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The status of the entry, without following a symbolic link; `None` if it does not exist.
    ///
    /// # Errors
    /// The error of `fstatat(2)`.
    pub fn look(&self) -> io::Result<Option<Stat>> {
        self.stat_of(&self.name)
    }

    /// Fails if the name exists.
    ///
    /// # Errors
    /// It is a regular file: [`FileError::Exists`]; or it is another kind of file.
    pub fn free(&self) -> Result<(), FileError> {
        let Some(found) = self.look()? else { return Ok(()) };
        regular(&found)?;
        Err(FileError::Exists)
    }

    pub(super) fn stat_of(&self, name: &OsStr) -> io::Result<Option<Stat>> {
        match rustix::fs::statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Opens the regular file of this name; `None` if it does not exist. Never blocks, and never opens other kinds of
    /// files.
    ///
    /// # Errors
    /// It is not a regular file, may belong to another user, or cannot be opened.
    pub fn open(&self, opening: Opening) -> Result<Option<File>, FileError> {
        let (flags, at_flags) = match opening {
            Opening::Read => (OFlags::RDONLY, AtFlags::empty()),
            Opening::Own => (OFlags::RDWR | OFlags::NOFOLLOW, AtFlags::SYMLINK_NOFOLLOW),
        };
        // Checked before opening, because opening a device may have side effects, and again afterwards.
        match rustix::fs::statat(&self.directory, &self.name, at_flags) {
            Ok(stat) => regular(&stat)?,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        }
        let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = match rustix::fs::openat(&self.directory, &self.name, flags, Mode::empty()) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(FileError::NotRegular("a symbolic link")),
            Err(errno) => return Err(errno.into()),
        };
        let stat = rustix::fs::fstat(&fd)?;
        regular(&stat)?;
        if opening == Opening::Own {
            self.is_ours(&stat)?;
        }
        Ok(Some(fd.into()))
    }

    /// Checks that the file can be trusted: it belongs to the user, or only the user can write to the directory.
    fn is_ours(&self, file: &Stat) -> Result<(), FileError> {
        let directory = rustix::fs::fstat(&self.directory)?;
        let us = our_uid();
        if [0, us].contains(&directory.st_uid) && directory.st_mode & OTHERS_WRITE == 0 {
            return Ok(());
        }
        let why = if file.st_uid != us {
            format!("it is owned by user {}, not by user {us}", file.st_uid)
        } else if file.st_nlink != 1 {
            format!("it has {} hard links", file.st_nlink)
        } else if file.st_mode & OTHERS_WRITE != 0 {
            format!("its mode {:03o} allows other users to write to it", file.st_mode & 0o777)
        } else {
            return Ok(());
        };
        Err(FileError::NotOurs(why))
    }

    /// Whether the name still leads to `file`.
    ///
    /// # Errors
    /// The error of `stat(2)`.
    pub fn is_named(&self, file: impl AsFd) -> io::Result<bool> {
        let ours = rustix::fs::fstat(file)?;
        Ok(self.look()?.is_some_and(|named| inode(&named) == inode(&ours)))
    }

    /// Removes the name of `file`, and makes that durable. Does nothing if the name does not exist.
    ///
    /// # Errors
    /// The name leads to another file, which is kept; or the error of `unlinkat(2)` or `fsync(2)`.
    pub fn remove(&self, file: impl AsFd) -> Result<(), FileError> {
        let stat = rustix::fs::fstat(&file)?;
        self.remove_inode(inode(&stat))?;
        Ok(self.sync(file)?)
    }

    /// Removes the name of the file with this device and inode number. Does nothing if the name does not exist.
    ///
    /// # Errors
    /// The name leads to another file, which is kept; or the error of `unlinkat(2)`.
    pub fn remove_inode(&self, file: (u64, u64)) -> Result<(), FileError> {
        match self.look()? {
            None => Ok(()),
            Some(named) if inode(&named) != file => Err(FileError::Changed),
            Some(_) => Ok(rustix::fs::unlinkat(&self.directory, &self.name, AtFlags::empty())?),
        }
    }

    /// Gives the file of this name the name of `to` in the same file system, which must be free. That is durable then.
    ///
    /// # Errors
    /// The name exists: [`FileError::Exists`]; or the error of the file system.
    pub fn rename_to(&self, to: &DirectoryEntry) -> Result<(), FileError> {
        let file = self.open(Opening::Own)?.ok_or_else(|| FileError::from(Errno::NOENT))?;
        file.sync_all()?;
        let free = RenameFlags::NOREPLACE;
        match rustix::fs::renameat_with(&self.directory, &self.name, &to.directory, &to.name, free) {
            // NFS and others: a hard link never replaces a file.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                match rustix::fs::linkat(&self.directory, &self.name, &to.directory, &to.name, AtFlags::empty()) {
                    // A run that ended here left the file with both names.
                    Err(Errno::EXIST) if to.is_named(&file)? => {}
                    Err(Errno::EXIST) => return Err(FileError::Exists),
                    linked => linked?,
                }
                rustix::fs::unlinkat(&self.directory, &self.name, AtFlags::empty())?;
            }
            Err(Errno::EXIST) => return Err(FileError::Exists),
            renamed => renamed?,
        }
        Ok(to.sync(&file)?)
    }

    /// Makes the names in the directory durable. If the directory cannot be read, it flushes the whole file system of
    /// `file`.
    pub(super) fn sync(&self, file: impl AsFd) -> io::Result<()> {
        match self.can_be_read {
            true => Ok(rustix::fs::fsync(&self.directory)?),
            false => Ok(rustix::fs::syncfs(file)?),
        }
    }

    /// The identity of the file that the name leads to, following links.
    ///
    /// # Errors
    /// The error of `stat(2)`.
    pub fn found(&self) -> io::Result<FileIdentity> {
        match rustix::fs::statat(&self.directory, &self.name, AtFlags::empty()) {
            Ok(stat) => Ok(FileIdentity::Inode(stat.st_dev, stat.st_ino)),
            Err(Errno::NOENT) => match fs::read_link(&self.path) {
                // A dangling link.
                Ok(target) => {
                    let directory = self.path.parent().unwrap_or(Path::new("."));
                    DirectoryEntry::of(&directory.join(target))?.unnamed()
                }
                Err(_) => self.unnamed(),
            },
            Err(errno) => Err(errno.into()),
        }
    }

    fn unnamed(&self) -> io::Result<FileIdentity> {
        let directory = rustix::fs::fstat(&self.directory)?;
        Ok(FileIdentity::Nothing(directory.st_dev, directory.st_ino, self.name.clone()))
    }
}

/// Opens the regular file that `path` leads to for reading, without blocking.
///
/// # Errors
/// As for [`DirectoryEntry::open`]; `NotFound` if the file does not exist.
pub fn open_to_read(path: &Path) -> Result<File, FileError> {
    let file = DirectoryEntry::of(path)?.open(Opening::Read)?;
    file.ok_or_else(|| Errno::NOENT.into())
}

/// The identity of the file that `path` leads to, following links.
///
/// # Errors
/// As for [`DirectoryEntry::of`] and [`DirectoryEntry::found`].
pub fn find(path: &Path) -> io::Result<FileIdentity> {
    DirectoryEntry::of(path)?.found()
}

/// Device and inode number.
pub(super) fn inode(stat: &Stat) -> (u64, u64) {
    (stat.st_dev, stat.st_ino)
}

pub(super) fn our_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Refuses anything but regular files.
pub(super) fn regular(stat: &Stat) -> Result<(), FileError> {
    let what = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => return Ok(()),
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::CharacterDevice => "a character device",
        FileType::BlockDevice => "a block device",
        FileType::Directory => "a directory",
        FileType::Symlink => "a symbolic link",
        FileType::Unknown => "an unknown file type",
    };
    Err(FileError::NotRegular(what))
}

/// Maximum length of a file name with its slash and terminating NUL.
const NAME_BYTES: usize = 1 + 255 + 1;

/// Maximum length of a path (PATH_MAX).
const PATH_BYTES_MAX: usize = 4096;

/// The absolute path without symbolic links, or the path as given if the current directory is so deep that its absolute
/// path exceeds PATH_MAX.
///
/// # Errors
/// As for `std::fs::canonicalize`.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    let full = match path.canonicalize() {
        // The relative path may still be valid.
        Err(error) if error.raw_os_error() == Some(libc::ENAMETOOLONG) => path.metadata().map(|_| from_dot(path))?,
        full => full?,
    };
    let fits = full.as_os_str().len() + NAME_BYTES <= PATH_BYTES_MAX;
    Ok(if fits { full } else { from_dot(path) })
}

/// `name` as `./name`, so that a file always has the same name in a journal, and every name has a directory.
fn from_dot(path: &Path) -> PathBuf {
    let has_dot = path.is_absolute() || path.starts_with(".") || path.starts_with("..");
    if has_dot { path.to_owned() } else { Path::new(".").join(path) }
}
