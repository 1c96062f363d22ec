//! The journal's file.
use super::reading::{JournalReading, Torn, read};
use super::record::{FinalStamp, Record};
use super::{Head, State};
use crate::core::{Extent, ExtentSet};
use crate::files::{FileError, FolderEntry, NewFile, Visibility, open_to_read};
use crate::ledger::first_line::FirstLine;
use crate::ledger::record_file::{self, free_place, open_own};
use crate::ledger::seal::Seal;
use crate::ledger::{Fault, FaultKind, RecordFile};
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::io::{self, BufReader};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Below this size a journal is not worth being written again.
const COMPACT_BYTES: u64 = 256 << 10;

/// A journal, open and locked against other processes (flock: advisory, released with the process).
pub struct Journal {
    place: FolderEntry,
    file: File,
    head: Head,
    state: State,
    ended: Option<FinalStamp>,
    seal: Seal,
    /// Valid bytes; the next line goes there.
    len_bytes: u64,
    /// Size from which on it is written again.
    pub(super) compact_bytes: u64,
    /// Somewhere on the path to the disk something failed, and it is unknown what is on it.
    spoiled: bool,
}

impl Journal {
    /// Begins a journal at `path`, where nothing may be. It has its name only once its first line is durable, so that
    /// no crash leaves half of one.
    ///
    /// # Errors
    /// Something already exists, another process is just making it, or the file system fails.
    pub fn create(path: &Path, head: Head) -> Result<Self, Fault> {
        let place = free_place(RecordFile::Journal, path)?;
        let (journal, new) = Journal::begin(&place, head, State::default(), None)?;
        let file = new.publish(Visibility::Owner).map_err(file_fault)?;
        Ok(Journal { file, compact_bytes: COMPACT_BYTES, ..journal })
    }

    /// Opens the journal at `path` to continue it, and cuts off what a crash left of its last line. `None`: there is
    /// none.
    ///
    /// # Errors
    /// It is in use by another process, no journal, perhaps another user's, of a newer haul, damaged, or
    /// cannot be written to.
    pub fn open(path: &Path) -> Result<Option<(Self, Option<Torn>)>, Fault> {
        let Some((place, file)) = open_own(RecordFile::Journal, path)? else { return Ok(None) };
        let reading = read(BufReader::new(&file))?;
        if reading.torn.is_some() {
            file.set_len(reading.whole_bytes).map_err(io_fault)?;
        }
        // What was read may be in the page cache only.
        file.sync_all().map_err(io_fault)?;
        let journal = Journal {
            place,
            file,
            head: reading.head,
            state: reading.state,
            ended: reading.ended,
            seal: reading.seal,
            len_bytes: reading.whole_bytes,
            compact_bytes: COMPACT_BYTES.max(2 * reading.whole_bytes),
            spoiled: false,
        };
        Ok(Some((journal, reading.torn)))
    }

    /// What the journal at `path` says; it is neither locked nor changed.
    ///
    /// # Errors
    /// It cannot be read, is no journal, of a newer haul, or damaged.
    pub fn look(path: &Path) -> Result<JournalReading, Fault> {
        read(BufReader::new(open_to_read(path).map_err(file_fault)?))
    }

    /// Removes the journal at `path`, of which no copy can be continued.
    ///
    /// # Errors
    /// Another process is using it; the file system fails.
    pub fn remove_damaged(path: &Path) -> Result<(), Fault> {
        match open_own(RecordFile::Journal, path)? {
            Some((place, file)) => place.remove(&file).map_err(file_fault),
            None => Ok(()),
        }
    }

    /// Which copy it is about.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// What it claims.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What the destination was when the copy ended in good order; `None`: it did not, or nothing is known of it.
    pub fn ended(&self) -> Option<&FinalStamp> {
        self.ended.as_ref()
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.place.path()
    }

    /// Claims that `durable` are on the dest and durable, and that `unread` could not be read. On return the claim is
    /// durable itself. Extents may be empty, overlap, and have been claimed before. Written in lines of a bounded
    /// length, each durable before the next; from time to time the file is written again, which bounds its size.
    ///
    /// # Errors
    /// An extent is beyond the end of the copy; the file system fails. A line that did not fit on it is taken back;
    /// after any other failure nothing more is claimed through this journal, which still reads as what was claimed.
    pub fn append(&mut self, durable: &[Extent], unread: &[Extent]) -> Result<(), Fault> {
        if self.spoiled {
            return Err(fault(FaultKind::Spoiled));
        }
        let end = self.head.end_max();
        if let Some(beyond) = durable.iter().chain(unread).find(|extent| extent.end() > end) {
            return Err(fault(FaultKind::Misplaced(*beyond)));
        }
        let mut durable: ExtentSet = durable.iter().copied().collect();
        let mut unread: ExtentSet = unread.iter().copied().collect();
        durable.remove_all(&self.state.durable);
        unread.remove_all(&self.state.unread);
        for record in Record::split(&durable, &unread) {
            self.append_record(&record)?;
        }
        if self.len_bytes > self.compact_bytes {
            // Where it fails the old file is still there, whole: the copy continues that, and tries again later.
            if self.compact().is_err() {
                self.compact_bytes = 2 * self.len_bytes;
            }
        }
        Ok(())
    }

    /// Says that the copy ended in good order, and what its destination was then.
    ///
    /// # Errors
    /// As for [`Journal::append`].
    pub fn end(&mut self, ended: FinalStamp) -> Result<(), Fault> {
        self.append_record(&Record { ended: Some(ended), ..Record::default() })
    }

    /// Takes back that the copy ended: it is about to write again.
    ///
    /// # Errors
    /// As for [`Journal::append`].
    pub fn reopen(&mut self) -> Result<(), Fault> {
        if self.ended.is_some() { self.append_record(&Record::default()) } else { Ok(()) }
    }

    fn append_record(&mut self, record: &Record) -> Result<(), Fault> {
        if self.spoiled {
            return Err(fault(FaultKind::Spoiled));
        }
        let mut seal = self.seal;
        let line = seal.close(&record.to_json()).map_err(fault)?;
        if let Err(source) = self.file.write_all_at(line.as_bytes(), self.len_bytes) {
            let taken_back = self.file.set_len(self.len_bytes).and_then(|()| self.file.sync_data());
            self.spoiled = taken_back.is_err();
            return Err(io_fault(source));
        }
        if let Err(source) = self.file.sync_data() {
            // The kernel may have thrown the pages away and says so once only.
            self.spoiled = true;
            return Err(io_fault(source));
        }
        self.seal = seal;
        self.len_bytes += line.len() as u64;
        self.state.apply(&record.durable, &record.unread);
        self.ended.clone_from(&record.ended);
        Ok(())
    }

    /// Writes the file again with no more than there is to say, and puts it in its place once it is durable. A crash
    /// leaves the one or the other.
    ///
    /// # Errors
    /// Another file has the name by now; the file system fails. The old file is then still in use.
    pub fn compact(&mut self) -> Result<(), Fault> {
        if self.spoiled {
            return Err(fault(FaultKind::Spoiled));
        }
        let (anew, new) = Journal::begin(&self.place, self.head.clone(), self.state.clone(), self.ended.clone())?;
        let file = new.replace(&self.file).map_err(file_fault)?;
        let compact_bytes = COMPACT_BYTES.max(2 * anew.len_bytes);
        *self = Journal { file, compact_bytes, ..anew };
        Ok(())
    }

    /// Removes the file: the copy is complete and needs no journal.
    ///
    /// # Errors
    /// Another file has the name by now, and stays; the file system fails.
    pub fn remove(self) -> Result<(), Fault> {
        self.place.remove(&self.file).map_err(file_fault)
    }

    /// Writes head and state to a new file, which has no name yet.
    fn begin(
        place: &FolderEntry,
        head: Head,
        state: State,
        ended: Option<FinalStamp>,
    ) -> Result<(Self, NewFile), Fault> {
        let new = NewFile::begin(place).map_err(file_fault)?;
        let mut seal = Seal::default();
        let mut text = seal.close(&head.to_json().map_err(fault)?).map_err(fault)?;
        let last = ended.clone().map(|ended| Record { ended: Some(ended), ..Record::default() });
        for record in Record::split(&state.durable, &state.unread).into_iter().chain(last) {
            text.push_str(&seal.close(&record.to_json()).map_err(fault)?);
        }
        new.file().write_all_at(text.as_bytes(), 0).map_err(io_fault)?;
        let file = new.file().try_clone().map_err(io_fault)?;
        let (place, len_bytes) = (place.clone(), text.len() as u64);
        Ok((Journal { place, file, head, state, ended, seal, len_bytes, compact_bytes: 0, spoiled: false }, new))
    }
}

/// Whether a process has this journal open to write to it. The look is a lock of its own, for a moment, which
/// [`Journal::open`] waits for.
pub fn is_in_use(journal: &File) -> bool {
    let locked = flock(journal, FlockOperation::NonBlockingLockShared);
    if locked.is_ok() {
        // The descriptor may be kept open; it is not to keep the lock.
        let _ = flock(journal, FlockOperation::Unlock);
    }
    locked == Err(rustix::io::Errno::WOULDBLOCK)
}

fn file_fault(error: FileError) -> Fault {
    record_file::file_fault(RecordFile::Journal, error)
}

fn fault(kind: FaultKind) -> Fault {
    Fault::of(RecordFile::Journal, kind)
}

fn io_fault(source: io::Error) -> Fault {
    fault(FaultKind::Io(source))
}
