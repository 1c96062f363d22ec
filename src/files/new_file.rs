//! Creating files atomically.
use super::place::{inode, our_uid, regular};
use super::{DirectoryEntry, FileError};
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, RenameFlags, flock};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Suffix of temporary names.
const SUFFIX: &[u8] = b".haul-new";
/// Maximum number of bytes of the final name in a temporary name, where they help users to identify it.
const NAME_BYTES_MAX: usize = 64;
/// Number of random bytes in a temporary name, as two hexadecimal digits each.
const RANDOM_BYTES: usize = 12;
const MODE: Mode = Mode::from_raw_mode(0o600);

/// Temporary files to remove if the process ends without dropping values.
static UNFINISHED: Mutex<Vec<(DirectoryEntry, OsString)>> = Mutex::new(Vec::new());

/// Number of attempts to lock that list when a signal ends the process, and the pause between them. Creating a file is
/// quick unless its file system hangs, and a remaining file is better than a process that does not end.
const TRIES: (u32, Duration) = (100, Duration::from_millis(2));

/// Removes all temporary files, because a signal is about to end the process without dropping values. No thread can
/// create another one from then on.
pub fn remove_unfinished() {
    for _ in 0..TRIES.0 {
        if let Ok(mut unfinished) = UNFINISHED.try_lock() {
            for (place, name) in unfinished.drain(..) {
                let _ = rustix::fs::unlinkat(&place.directory, &name, AtFlags::empty());
            }
            // Keep the lock: a thread that is about to create a file waits until the process ends.
            std::mem::forget(unfinished);
            return;
        }
        thread::sleep(TRIES.1);
    }
}

/// Permissions of a file after it is renamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// Only its owner may read it, because it contains serial numbers and paths.
    Owner,
    /// According to the umask, like any new file.
    Umask,
}

/// A file without its final name. Dropping it removes it.
///
/// It is locked (flock: advisory, released with the process) under a temporary name, so that another process that
/// creates a file of the same name is detected before either has done its work.
#[derive(Debug)]
pub struct NewFile {
    place: DirectoryEntry,
    temporary: OsString,
    file: File,
    is_published: bool,
}

impl NewFile {
    /// Creates an empty temporary file with mode 0600 for `place`. An existing file of that name does not change.
    ///
    /// # Errors
    /// Another process is creating a file for this place, or the file system returned an error.
    pub fn begin(place: &DirectoryEntry) -> Result<NewFile, FileError> {
        // Locked before the file exists, so that the cleanup after a signal finds it.
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        let (temporary, file) = loop {
            let name = temporary_name(&place.name)?;
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let fd = match rustix::fs::openat(&place.directory, &name, flags, MODE) {
                Err(Errno::EXIST) => continue,
                made => made?,
            };
            // Between the two calls another process may have locked it as a leftover file. That is impossible on file
            // systems without locks.
            let is_taken = flock(&fd, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK);
            let is_there = place.stat_of(&name)?.is_some();
            if is_there && !is_taken {
                break (name, File::from(fd));
            }
        };
        unfinished.push((place.clone(), temporary.clone()));
        drop(unfinished);
        let new = NewFile { place: place.clone(), temporary, file, is_published: false };
        new.check_for_others()?;
        Ok(new)
    }

    /// The file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Fails if another process is creating this file. Leftovers of killed processes are removed if only the user can
    /// write to the directory, such as that of the journals of devices; elsewhere such a file may belong to another
    /// user and is kept.
    fn check_for_others(&self) -> Result<(), FileError> {
        if !self.place.can_be_read {
            return Ok(());
        }
        let (start, directory) = (name_start(&self.place.name), &self.place.directory);
        let stat = rustix::fs::fstat(directory)?;
        let is_private = stat.st_uid == our_uid() && stat.st_mode & 0o077 == 0;
        for entry in rustix::fs::Dir::read_from(directory)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            let bytes = name.as_bytes();
            if !is_temporary(bytes, &start) || name == self.temporary {
                continue;
            }
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let Ok(fd) = rustix::fs::openat(directory, name, flags, Mode::empty()) else { continue };
            let stat = rustix::fs::fstat(&fd)?;
            if regular(&stat).is_err() {
                continue;
            }
            let is_ours = stat.st_uid == our_uid() && stat.st_nlink == 1 && stat.st_mode & 0o7777 == MODE.bits();
            match flock(&fd, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::WOULDBLOCK) => return Err(FileError::Busy),
                // Without locks it is unknown whether it is in use.
                Err(_) => {}
                // A failure to remove it is ignored.
                Ok(()) if is_ours && is_private => drop(rustix::fs::unlinkat(directory, name, AtFlags::empty())),
                Ok(()) => {}
            }
        }
        Ok(())
    }

    /// Makes the file durable and renames it to its final name, which must not exist.
    ///
    /// # Errors
    /// The name exists: [`FileError::Exists`], or the file system returned an error. Then the file is removed.
    pub fn publish(mut self, visibility: Visibility) -> Result<File, FileError> {
        if visibility == Visibility::Umask {
            rustix::fs::fchmod(&self.file, Mode::from_raw_mode(0o666 & !umask()))?;
        }
        self.file.sync_all()?;
        let DirectoryEntry { directory, name, .. } = &self.place;
        match rustix::fs::renameat_with(directory, &self.temporary, directory, name, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => self.link()?,
            Err(Errno::EXIST) => return Err(FileError::Exists),
            renamed => renamed?,
        }
        self.end()
    }

    /// Renames the file on a file system that cannot rename without replacing. A hard link never replaces a file. If
    /// hard links are not supported either, the name is checked before, which is subject to a race.
    fn link(&self) -> Result<(), FileError> {
        let DirectoryEntry { directory, name, .. } = &self.place;
        match rustix::fs::linkat(directory, &self.temporary, directory, name, AtFlags::empty()) {
            Ok(()) => {
                // The final name exists; a failure to remove the temporary one is ignored.
                let _ = rustix::fs::unlinkat(directory, &self.temporary, AtFlags::empty());
                Ok(())
            }
            Err(Errno::EXIST) => Err(FileError::Exists),
            Err(_) if self.place.look()?.is_some() => Err(FileError::Exists),
            Err(_) => Ok(rustix::fs::renameat(directory, &self.temporary, directory, name)?),
        }
    }

    /// Makes the file durable, and renames it with the mode of `old`, which it replaces atomically.
    ///
    /// # Errors
    /// The name does not lead to `old`: [`FileError::Changed`], and the existing file is kept; or the file system
    /// returned an error.
    pub fn replace(mut self, old: impl AsFd) -> Result<File, FileError> {
        let old = rustix::fs::fstat(old)?;
        rustix::fs::fchmod(&self.file, Mode::from_raw_mode(old.st_mode & 0o777))?;
        self.file.sync_all()?;
        let DirectoryEntry { directory, name, .. } = &self.place;
        let is_old = |name: &OsStr| -> Result<bool, FileError> {
            Ok(self.place.stat_of(name)?.is_some_and(|found| inode(&found) == inode(&old)))
        };
        if !is_old(name)? {
            return Err(FileError::Changed);
        }
        // The names are exchanged and then checked, so that nothing is lost even if other processes change them in
        // between.
        let exchange = || rustix::fs::renameat_with(directory, &self.temporary, directory, name, RenameFlags::EXCHANGE);
        match exchange() {
            Ok(()) if is_old(&self.temporary)? => {
                let _ = rustix::fs::unlinkat(directory, &self.temporary, AtFlags::empty());
            }
            Ok(()) => {
                let back = exchange();
                // If exchanging them back fails, the temporary name is that of another process's file, which must not
                // be removed.
                self.is_published = back.is_err();
                return Err(back.map_or_else(FileError::from, |()| FileError::Changed));
            }
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                rustix::fs::renameat(directory, &self.temporary, directory, name)?;
            }
            Err(errno) => return Err(errno.into()),
        }
        self.end()
    }

    fn end(&mut self) -> Result<File, FileError> {
        self.is_published = true;
        self.place.sync(&self.file)?;
        Ok(self.file.try_clone()?)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        unfinished.retain(|(_, name)| *name != self.temporary);
        drop(unfinished);
        if !self.is_published {
            // An incomplete file is useless; a failure to remove it is ignored.
            let _ = rustix::fs::unlinkat(&self.place.directory, &self.temporary, AtFlags::empty());
        }
    }
}

/// An unnamed file in `directory` that is removed when it is closed, with mode 0600, for reading and writing.
///
/// # Errors
/// The error of `openat(2)`.
pub fn nameless(directory: &Path) -> Result<File, FileError> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::TMPFILE;
    if let Ok(fd) = rustix::fs::open(directory, flags, MODE) {
        return Ok(fd.into());
    }
    // Not every file system supports unnamed files; otherwise, create a named one and remove it immediately.
    let new = NewFile::begin(&DirectoryEntry::of(&directory.join("scratch"))?)?;
    Ok(new.file.try_clone()?)
}

/// Start of the temporary names for this name: the name, truncated, and a digest of it.
fn name_start(name: &OsStr) -> Vec<u8> {
    let bytes = name.as_bytes();
    let digest = twox_hash::XxHash3_128::oneshot(bytes) as u64;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(NAME_BYTES_MAX)]);
    let plain: String = text.chars().filter(|letter| letter.is_ascii_graphic()).collect();
    format!(".{plain}.{digest:016x}-").into_bytes()
}

/// Whether a name is a temporary name of haul: `start` followed only by the digits of [`temporary_name`].
fn is_temporary(name: &[u8], start: &[u8]) -> bool {
    let digits = name.strip_prefix(start).and_then(|rest| rest.strip_suffix(SUFFIX));
    digits.is_some_and(|digits| {
        digits.len() == 2 * RANDOM_BYTES && digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// An unpredictable temporary name.
fn temporary_name(name: &OsStr) -> io::Result<OsString> {
    let mut bytes = name_start(name);
    bytes.extend_from_slice(random_digits()?.as_bytes());
    bytes.extend_from_slice(SUFFIX);
    Ok(OsString::from_vec(bytes))
}

/// Digits of a name that other users cannot guess.
pub(super) fn random_digits() -> io::Result<String> {
    let mut random = [0u8; RANDOM_BYTES];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The umask of this process. `umask(2)` is not used because it would change the umask of all threads for a moment.
fn umask() -> u32 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    mask.and_then(|mask| u32::from_str_radix(mask.trim(), 8).ok()).unwrap_or(0o077)
}
