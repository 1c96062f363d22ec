//! A folder, open, and a name in it.
use super::FileError;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bits of a mode that let others than the owner write.
const OTHERS_WRITE: u32 = 0o022;

/// A name in a folder that is open: whatever becomes of the path to the folder, this stays the same folder.
#[derive(Clone, Debug)]
pub struct FolderEntry {
    pub(super) folder: Arc<OwnedFd>,
    /// It was opened for reading: it can be listed and synced.
    pub(super) can_be_read: bool,
    pub(super) name: OsString,
    /// As it was named, for messages.
    path: PathBuf,
}

/// How an existing file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// For reading. A symbolic link is followed: the user may name a file to be read that way.
    Read,
    /// For reading and writing, by a program that will believe what it says and may remove it: the name has to lead to
    /// the file itself, and in a folder that others can write to the file has to be our own.
    Own,
}

/// What a name leads to. Two paths with one `FileIdentity` lead to one file, whatever their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileIdentity {
    /// This file, device or folder: device and inode number.
    Inode(u64, u64),
    /// Nothing yet: device and inode number of the folder, and the name there.
    Nothing(u64, u64, OsString),
}

impl FolderEntry {
    /// The place that `path` names. A symbolic link at its last name is not followed.
    ///
    /// # Errors
    /// The error of `open(2)` of the folder; `path` ends in no name.
    pub fn of(path: &Path) -> io::Result<FolderEntry> {
        let name = path.file_name().ok_or_else(|| io::Error::other("it does not end in a file name"))?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let (fd, can_be_read) = match rustix::fs::open(folder, flags | OFlags::RDONLY, Mode::empty()) {
            Ok(fd) => (fd, true),
            // Files can be made in a folder that cannot be listed.
            Err(Errno::ACCESS) => (rustix::fs::open(folder, flags | OFlags::PATH, Mode::empty())?, false),
            Err(errno) => return Err(errno.into()),
        };
        Ok(FolderEntry { folder: Arc::new(fd), can_be_read, name: name.to_owned(), path: path.to_owned() })
    }

    /// The same, but where `path` is a symbolic link of this user or of root, the place that it leads to: for files
    /// that people keep elsewhere on purpose.
    ///
    /// # Errors
    /// As for [`FolderEntry::of`]; the link is another user's, or leads nowhere.
    pub fn following(path: &Path) -> Result<FolderEntry, FileError> {
        match fs::symlink_metadata(path) {
            Ok(link) if link.is_symlink() && ![0, our_uid()].contains(&link.uid()) => {
                Err(FileError::NotOurs(format!("it is a symbolic link owned by user {}", link.uid())))
            }
            Ok(link) if link.is_symlink() => {
                Ok(FolderEntry { path: path.to_owned(), ..FolderEntry::of(&canonical(path)?)? })
            }
            _ => Ok(FolderEntry::of(path)?),
        }
    }

    /// As it was named.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What has the name, itself and not what a symbolic link leads to; `None`: nothing does.
    ///
    /// # Errors
    /// The error of `fstatat(2)`.
    pub fn look(&self) -> io::Result<Option<Stat>> {
        self.stat_of(&self.name)
    }

    pub(super) fn stat_of(&self, name: &OsStr) -> io::Result<Option<Stat>> {
        match rustix::fs::statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Opens the regular file that has the name; `None`: nothing does. Never waits, and never opens anything else.
    ///
    /// # Errors
    /// It is no regular file, may be another user's, or cannot be opened.
    pub fn open(&self, opening: Opening) -> Result<Option<File>, FileError> {
        let (flags, at_flags) = match opening {
            Opening::Read => (OFlags::RDONLY, AtFlags::empty()),
            Opening::Own => (OFlags::RDWR | OFlags::NOFOLLOW, AtFlags::SYMLINK_NOFOLLOW),
        };
        // Looked at before it is opened: opening a device can do something to it. Looked at again afterwards.
        match rustix::fs::statat(&self.folder, &self.name, at_flags) {
            Ok(stat) => regular(&stat)?,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        }
        let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = match rustix::fs::openat(&self.folder, &self.name, flags, Mode::empty()) {
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

    /// Whether the file may be believed: in a folder that only we can write to every file, else our own only.
    fn is_ours(&self, file: &Stat) -> Result<(), FileError> {
        let folder = rustix::fs::fstat(&self.folder)?;
        let us = our_uid();
        if [0, us].contains(&folder.st_uid) && folder.st_mode & OTHERS_WRITE == 0 {
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

    /// Removes the name of `file`, and makes that durable; does nothing where the name no longer exists.
    ///
    /// # Errors
    /// Another file has the name: it stays. The error of `unlinkat(2)` or `fsync(2)`.
    pub fn remove(&self, file: impl AsFd) -> Result<(), FileError> {
        let stat = rustix::fs::fstat(&file)?;
        self.remove_inode(inode(&stat))?;
        Ok(self.sync(file)?)
    }

    /// Removes the name of the file with this device and inode number; does nothing where the name no longer exists.
    ///
    /// # Errors
    /// Another file has the name: it stays. The error of `unlinkat(2)`.
    pub fn remove_inode(&self, file: (u64, u64)) -> Result<(), FileError> {
        match self.look()? {
            None => Ok(()),
            Some(named) if inode(&named) != file => Err(FileError::Changed),
            Some(_) => Ok(rustix::fs::unlinkat(&self.folder, &self.name, AtFlags::empty())?),
        }
    }

    /// Makes the names in the folder durable. Where it may not be read, the whole file system of `file` is flushed.
    pub(super) fn sync(&self, file: impl AsFd) -> io::Result<()> {
        match self.can_be_read {
            true => Ok(rustix::fs::fsync(&self.folder)?),
            false => Ok(rustix::fs::syncfs(file)?),
        }
    }

    /// What the place leads to, links followed.
    ///
    /// # Errors
    /// The error of `stat(2)`.
    pub fn found(&self) -> io::Result<FileIdentity> {
        match rustix::fs::statat(&self.folder, &self.name, AtFlags::empty()) {
            Ok(stat) => Ok(FileIdentity::Inode(stat.st_dev, stat.st_ino)),
            Err(Errno::NOENT) => match fs::read_link(&self.path) {
                // A link that leads to nothing yet.
                Ok(target) => {
                    let folder = self.path.parent().unwrap_or(Path::new("."));
                    FolderEntry::of(&folder.join(target))?.unnamed()
                }
                Err(_) => self.unnamed(),
            },
            Err(errno) => Err(errno.into()),
        }
    }

    fn unnamed(&self) -> io::Result<FileIdentity> {
        let folder = rustix::fs::fstat(&self.folder)?;
        Ok(FileIdentity::Nothing(folder.st_dev, folder.st_ino, self.name.clone()))
    }
}

/// Opens the regular file that `path` leads to for reading, without waiting.
///
/// # Errors
/// As for [`FolderEntry::open`]; nothing is there: `NotFound`.
pub fn open_to_read(path: &Path) -> Result<File, FileError> {
    let file = FolderEntry::of(path)?.open(Opening::Read)?;
    file.ok_or_else(|| Errno::NOENT.into())
}

/// What `path` leads to, links followed.
///
/// # Errors
/// As for [`FolderEntry::of`] and [`FolderEntry::found`].
pub fn find(path: &Path) -> io::Result<FileIdentity> {
    FolderEntry::of(path)?.found()
}

/// Device and inode number.
pub(super) fn inode(stat: &Stat) -> (u64, u64) {
    (stat.st_dev, stat.st_ino)
}

pub(super) fn our_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Refuses what is no regular file, in words.
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

/// Room for the name of a file in a folder, with its slash and the end of the text.
const NAME_BYTES: usize = 1 + 255 + 1;

/// The longest path that the kernel takes (PATH_MAX).
const PATH_BYTES_MAX: usize = 4096;

/// The path without symbolic links, from the root; as it was given, where its own folder is so deep that the kernel
/// takes no path to it from the root.
///
/// # Errors
/// As for `std::fs::canonicalize`.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    let full = match path.canonicalize() {
        // What it leads to may still be reached.
        Err(error) if error.raw_os_error() == Some(libc::ENAMETOOLONG) => path.metadata().map(|_| from_dot(path))?,
        full => full?,
    };
    let fits = full.as_os_str().len() + NAME_BYTES <= PATH_BYTES_MAX;
    Ok(if fits { full } else { from_dot(path) })
}

/// `name` as `./name`: one file has one name in a journal, however it was given, and every name has a folder.
fn from_dot(path: &Path) -> PathBuf {
    let has_dot = path.is_absolute() || path.starts_with(".") || path.starts_with("..");
    if has_dot { path.to_owned() } else { Path::new(".").join(path) }
}
