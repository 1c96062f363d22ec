//! A file that is being made.
use super::place::{inode, our_uid, regular};
use super::{FileError, FolderEntry};
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

/// What a name ends in while its file is being made.
const SUFFIX: &[u8] = b".haul-new";
/// Bytes of the final name that a temporary one begins with, for people who find it.
const NAME_BYTES_MAX: usize = 64;
/// Bytes of a temporary name that cannot be guessed, two digits each.
const RANDOM_BYTES: usize = 12;
const MODE: Mode = Mode::from_raw_mode(0o600);

/// Files that are being made, for an end that drops nothing.
static UNFINISHED: Mutex<Vec<(FolderEntry, OsString)>> = Mutex::new(Vec::new());

/// How often, and with what pause, an end by a signal tries to get at the list of them. Making a file takes no time but
/// where its file system hangs, and a file that stays is better than a process that does.
const TRIES: (u32, Duration) = (100, Duration::from_millis(2));

/// Removes every file that is being made: the process is about to end by a signal, and nothing is dropped. From then on
/// no thread begins another.
pub fn remove_unfinished() {
    for _ in 0..TRIES.0 {
        if let Ok(mut unfinished) = UNFINISHED.try_lock() {
            for (place, name) in unfinished.drain(..) {
                let _ = rustix::fs::unlinkat(&place.folder, &name, AtFlags::empty());
            }
            // A process about to create one waits for the end of the process.
            std::mem::forget(unfinished);
            return;
        }
        thread::sleep(TRIES.1);
    }
}

/// Who may read a file once it has its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// Its owner: it has serial numbers and paths.
    Owner,
    /// As the umask allows, as for any file that a program makes.
    Umask,
}

/// A file that does not have its final name yet. Dropping it removes it.
///
/// It is locked (flock: advisory, released with the process) under a temporary name, so that another process that
/// makes a file of the same name is found before either has done its work.
#[derive(Debug)]
pub struct NewFile {
    place: FolderEntry,
    temporary: OsString,
    file: File,
    is_published: bool,
}

impl NewFile {
    /// Begins a file for `place`, empty and with mode 0600. What has the name is left alone.
    ///
    /// # Errors
    /// Another process is making a file for this place; the file system fails.
    pub fn begin(place: &FolderEntry) -> Result<NewFile, FileError> {
        // Held from before it is there, so that an end by a signal finds it.
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        let (temporary, file) = loop {
            let name = temporary_name(&place.name)?;
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let fd = match rustix::fs::openat(&place.folder, &name, flags, MODE) {
                Err(Errno::EXIST) => continue,
                made => made?,
            };
            // Between the two calls another process may have taken it for one that was left lying. Where there are no
            // locks no process does.
            let is_taken = flock(&fd, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK);
            let is_there = place.stat_of(&name)?.is_some();
            if is_there && !is_taken {
                break (name, File::from(fd));
            }
        };
        unfinished.push((place.clone(), temporary.clone()));
        drop(unfinished);
        let new = NewFile { place: place.clone(), temporary, file, is_published: false };
        new.look_for_others()?;
        Ok(new)
    }

    /// The file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Refuses where another process is making this file. What a killed one left is removed in a folder owned by the
    /// user alone, as that of the journals of devices; elsewhere a file of such a name may belong to another process,
    /// and stays.
    fn look_for_others(&self) -> Result<(), FileError> {
        if !self.place.can_be_read {
            return Ok(());
        }
        let (start, folder) = (name_start(&self.place.name), &self.place.folder);
        let stat = rustix::fs::fstat(folder)?;
        let is_private = stat.st_uid == our_uid() && stat.st_mode & 0o077 == 0;
        for entry in rustix::fs::Dir::read_from(folder)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            let bytes = name.as_bytes();
            if !is_temporary(bytes, &start) || name == self.temporary {
                continue;
            }
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let Ok(fd) = rustix::fs::openat(folder, name, flags, Mode::empty()) else { continue };
            let stat = rustix::fs::fstat(&fd)?;
            if regular(&stat).is_err() {
                continue;
            }
            let is_ours = stat.st_uid == our_uid() && stat.st_nlink == 1 && stat.st_mode & 0o7777 == MODE.bits();
            match flock(&fd, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::WOULDBLOCK) => return Err(FileError::Busy),
                // Without locks it is unknown whether it is in use.
                Err(_) => {}
                // That it may stay is no failure to report.
                Ok(()) if is_ours && is_private => drop(rustix::fs::unlinkat(folder, name, AtFlags::empty())),
                Ok(()) => {}
            }
        }
        Ok(())
    }

    /// Makes the file durable and gives it its name, which nothing may bear.
    ///
    /// # Errors
    /// Something has the name: [`FileError::Exists`]. The file system fails. Then the file is removed.
    pub fn publish(mut self, visibility: Visibility) -> Result<File, FileError> {
        if visibility == Visibility::Umask {
            rustix::fs::fchmod(&self.file, Mode::from_raw_mode(0o666 & !umask()))?;
        }
        self.file.sync_all()?;
        let FolderEntry { folder, name, .. } = &self.place;
        match rustix::fs::renameat_with(folder, &self.temporary, folder, name, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => self.link()?,
            Err(Errno::EXIST) => return Err(FileError::Exists),
            renamed => renamed?,
        }
        self.end()
    }

    /// Gives it its name on a file system that cannot rename without replacing. A link never replaces; where there are
    /// no links either the name is examined before, which a process in between could defeat.
    fn link(&self) -> Result<(), FileError> {
        let FolderEntry { folder, name, .. } = &self.place;
        match rustix::fs::linkat(folder, &self.temporary, folder, name, AtFlags::empty()) {
            Ok(()) => {
                // The name stands; that the other one may stay too is no failure to report.
                let _ = rustix::fs::unlinkat(folder, &self.temporary, AtFlags::empty());
                Ok(())
            }
            Err(Errno::EXIST) => Err(FileError::Exists),
            Err(_) if self.place.look()?.is_some() => Err(FileError::Exists),
            Err(_) => Ok(rustix::fs::renameat(folder, &self.temporary, folder, name)?),
        }
    }

    /// Makes the file durable and gives it the name and mode of `old`, which is gone then. At no time is there none.
    ///
    /// # Errors
    /// The name leads to another file than `old`: [`FileError::Changed`], and that file stays. The file system fails.
    pub fn replace(mut self, old: impl AsFd) -> Result<File, FileError> {
        let old = rustix::fs::fstat(old)?;
        rustix::fs::fchmod(&self.file, Mode::from_raw_mode(old.st_mode & 0o777))?;
        self.file.sync_all()?;
        let FolderEntry { folder, name, .. } = &self.place;
        let is_old = |name: &OsStr| -> Result<bool, FileError> {
            Ok(self.place.stat_of(name)?.is_some_and(|found| inode(&found) == inode(&old)))
        };
        if !is_old(name)? {
            return Err(FileError::Changed);
        }
        // Names are exchanged and then examined, so that nothing is lost whatever other processes do in between.
        let exchange = || rustix::fs::renameat_with(folder, &self.temporary, folder, name, RenameFlags::EXCHANGE);
        match exchange() {
            Ok(()) if is_old(&self.temporary)? => {
                let _ = rustix::fs::unlinkat(folder, &self.temporary, AtFlags::empty());
            }
            Ok(()) => {
                let back = exchange();
                // Where it cannot be put back, the temporary name is that of a file of another process, and stays.
                self.is_published = back.is_err();
                return Err(back.map_or_else(FileError::from, |()| FileError::Changed));
            }
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                rustix::fs::renameat(folder, &self.temporary, folder, name)?;
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
            // Nobody would know what to do with half of one; that it may stay is no failure to report.
            let _ = rustix::fs::unlinkat(&self.place.folder, &self.temporary, AtFlags::empty());
        }
    }
}

/// A file in `folder` that has no name and disappears with this process, mode 0600, for reading and writing.
///
/// # Errors
/// The error of `openat(2)`.
pub fn nameless(folder: &Path) -> Result<File, FileError> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::TMPFILE;
    if let Ok(fd) = rustix::fs::open(folder, flags, MODE) {
        return Ok(fd.into());
    }
    // Not every file system has files without names: one with a name for as long as it takes to remove it.
    let new = NewFile::begin(&FolderEntry::of(&folder.join("scratch"))?)?;
    Ok(new.file.try_clone()?)
}

/// What the temporary names of this name begin with: it, shortened, and a digest of all of it.
fn name_start(name: &OsStr) -> Vec<u8> {
    let bytes = name.as_bytes();
    let digest = twox_hash::XxHash3_128::oneshot(bytes) as u64;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(NAME_BYTES_MAX)]);
    let plain: String = text.chars().filter(|letter| letter.is_ascii_graphic()).collect();
    format!(".{plain}.{digest:016x}-").into_bytes()
}

/// Whether a name that begins with `start` is a temporary name of haul: behind it are the digits of [`temporary_name`],
/// and no more.
fn is_temporary(name: &[u8], start: &[u8]) -> bool {
    let digits = name.strip_prefix(start).and_then(|rest| rest.strip_suffix(SUFFIX));
    digits.is_some_and(|digits| {
        digits.len() == 2 * RANDOM_BYTES && digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// One that cannot be guessed.
fn temporary_name(name: &OsStr) -> io::Result<OsString> {
    let mut random = [0u8; RANDOM_BYTES];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
    let mut bytes = name_start(name);
    for byte in random {
        bytes.extend_from_slice(format!("{byte:02x}").as_bytes());
    }
    bytes.extend_from_slice(SUFFIX);
    Ok(OsString::from_vec(bytes))
}

/// Bits that new files of this process lack. Asking by `umask(2)` would change it for a moment, for all threads.
fn umask() -> u32 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    mask.and_then(|mask| u32::from_str_radix(mask.trim(), 8).ok()).unwrap_or(0o077)
}
