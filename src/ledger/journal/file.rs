//! The file of a journal.
use super::reading::{JournalReading, Torn, read};
use super::record::{Digests, FinalStamp, Record};
use super::{Head, RecordedDigests, State};
use crate::core::{BlockDigests, DigestedBlock, Extent, ExtentSet, Upload};
use crate::files::{DirectoryEntry, FileError, NewFile, Visibility, open_to_read};
use crate::ledger::first_line::FirstLine;
use crate::ledger::record_file::{self, free_place, open_own};
use crate::ledger::seal::Seal;
use crate::ledger::{Fault, FaultKind, RecordFile};
use rustix::fs::{FlockOperation, flock};
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Minimum size for compacting a journal.
const COMPACT_BYTES: u64 = 256 << 10;

/// A journal, open and locked against other processes (flock: advisory, released when the process ends).
pub struct Journal {
    place: DirectoryEntry,
    file: File,
    head: Head,
    state: State,
    ended: Option<FinalStamp>,
    seal: Seal,
    /// Length of the valid part; the next line is written after it.
    len_bytes: u64,
    /// Size at which it is compacted.
    pub(super) compact_bytes: u64,
    /// A write or flush failed, so that the content on the disk is unknown.
    spoiled: bool,
}

impl Journal {
    /// Creates a journal at `path`, which must not exist. It gets its name only after its first line is
    /// durable, so that a crash never leaves a partial one.
    ///
    /// # Errors
    /// The file exists, another process is creating it, or the file system fails.
    pub fn create(path: &Path, head: Head) -> Result<Self, Fault> {
        let place = free_place(RecordFile::Journal, path)?;
        let (journal, new) = Journal::begin(&place, head, State::default(), None)?;
        let file = new.publish(Visibility::Owner).map_err(file_fault)?;
        let compact_bytes = COMPACT_BYTES.max(2 * journal.len_bytes);
        Ok(Journal { file, compact_bytes, ..journal })
    }

    /// Opens the journal at `path` to resume it, and truncates a line that a crash left incomplete. `None`: it
    /// does not exist.
    ///
    /// # Errors
    /// It is in use by another process, not a journal, possibly another user's, from a newer haul, damaged, or
    /// not writable.
    pub fn open(path: &Path) -> Result<Option<(Self, Option<Torn>)>, Fault> {
        let Some((place, file)) = open_own(RecordFile::Journal, path)? else { return Ok(None) };
        let reading = read(BufReader::new(&file))?;
        if reading.torn.is_some() {
            file.set_len(reading.whole_bytes).map_err(io_fault)?;
        }
        // The contents may be only in the page cache.
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

    /// Reads the journal at `path` without locking or changing it.
    ///
    /// # Errors
    /// It cannot be read, is not a journal, from a newer haul, or damaged.
    pub fn look(path: &Path) -> Result<JournalReading, Fault> {
        read(BufReader::new(open_to_read(path).map_err(file_fault)?))
    }

    /// Removes the journal at `path`, from which no copy can be resumed.
    ///
    /// # Errors
    /// Another process is using it; the file system fails.
    pub fn remove_damaged(path: &Path) -> Result<(), Fault> {
        match open_own(RecordFile::Journal, path)? {
            Some((place, file)) => place.remove(&file).map_err(file_fault),
            None => Ok(()),
        }
    }

    /// The copy that it describes.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Its claims.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The stamp of the destination when the copy ended in an orderly way; `None`: it did not, or no stamp is
    /// available.
    pub fn ended(&self) -> Option<&FinalStamp> {
        self.ended.as_ref()
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.place.path()
    }

    /// Claims that `durable` is on the dest and durable, and that `unread` could not be read. When it returns,
    /// the claim itself is durable. Extents may be empty, overlap, and have been claimed before. It writes
    /// lines of limited length, each durable before the next; the file is periodically compacted, which limits
    /// its size.
    ///
    /// # Errors
    /// An extent is beyond the end of the copy; the file system fails. A line for which there was no space is
    /// removed; after any other failure nothing more is claimed by this journal, whose previous claims remain
    /// readable.
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
        self.compact_if_grown();
        Ok(())
    }

    fn compact_if_grown(&mut self) {
        // If it fails, the old file is still complete: the copy continues with it, and tries again later.
        if self.len_bytes > self.compact_bytes && self.compact().is_err() {
            self.compact_bytes = 2 * self.len_bytes;
        }
    }

    /// Records parts of the upload that is the dest, before bytes in them are claimed. Those that are known already
    /// are not repeated.
    ///
    /// # Errors
    /// As for [`Journal::append`].
    pub fn add_upload(&mut self, upload: &Upload) -> Result<(), Fault> {
        let known = self.state.upload.as_ref().filter(|known| known.id == upload.id);
        let known: HashSet<&(u32, String)> = known.into_iter().flat_map(|known| &known.parts).collect();
        let parts = upload.parts.iter().filter(|part| !known.contains(part)).cloned().collect();
        let new = Upload { parts, ..upload.clone() };
        Record::of_upload(&new).try_for_each(|record| self.append_record(&record))
    }

    /// Records the digests of blocks of the source. They are used only where the bytes are durable.
    ///
    /// # Errors
    /// As for [`Journal::append`].
    pub fn add_digests(&mut self, how: BlockDigests, blocks: &[DigestedBlock]) -> Result<(), Fault> {
        Record::of_digests(how, blocks).try_for_each(|record| self.append_record(&record))?;
        self.compact_if_grown();
        Ok(())
    }

    /// Records that the copy ended in an orderly way, and the stamp of its destination.
    ///
    /// # Errors
    /// As for [`Journal::append`].
    pub fn end(&mut self, ended: FinalStamp) -> Result<(), Fault> {
        self.append_record(&Record { ended: Some(ended), ..Record::default() })
    }

    /// Revokes the record of the end: the copy is about to write again.
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
            // The kernel may have discarded the pages, and reports that only once.
            self.spoiled = true;
            return Err(io_fault(source));
        }
        self.seal = seal;
        self.len_bytes += line.len() as u64;
        record.upload.iter().for_each(|upload| self.state.add_upload(upload));
        record.digests.iter().map(Digests::blocks).for_each(|(how, some)| self.state.add_digests(how, &some));
        self.state.apply(&record.durable, &record.unread);
        self.ended.clone_from(&record.ended);
        Ok(())
    }

    /// Writes a new file without redundant lines, and replaces the old one when it is durable. After a crash
    /// one of the two exists.
    ///
    /// # Errors
    /// Another file has the name now, or the file system fails. The old file then remains in use.
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
    /// Another file has the name now, and is kept; the file system fails.
    pub fn remove(self) -> Result<(), Fault> {
        self.place.remove(&self.file).map_err(file_fault)
    }

    /// Writes head and state to a new file that has no name yet.
    fn begin(
        place: &DirectoryEntry,
        head: Head,
        state: State,
        ended: Option<FinalStamp>,
    ) -> Result<(Self, NewFile), Fault> {
        let new = NewFile::begin(place).map_err(file_fault)?;
        let mut seal = Seal::default();
        let mut text = seal.close(&head.to_json().map_err(fault)?).map_err(fault)?;
        let last = ended.clone().map(|ended| Record { ended: Some(ended), ..Record::default() });
        let ranges = Record::of_ranges(&head.source_ranges);
        let uploads = state.upload.iter().flat_map(Record::of_upload);
        let digests = state.digests.iter().flat_map(|RecordedDigests { how, blocks }| {
            let blocks: Vec<DigestedBlock> = blocks.values().copied().collect();
            Record::of_digests(*how, &blocks).collect::<Vec<_>>()
        });
        let claims = Record::split(&state.durable, &state.unread);
        for record in ranges.chain(uploads).chain(claims).chain(digests).chain(last) {
            text.push_str(&seal.close(&record.to_json()).map_err(fault)?);
        }
        new.file().write_all_at(text.as_bytes(), 0).map_err(io_fault)?;
        let file = new.file().try_clone().map_err(io_fault)?;
        let (place, len_bytes) = (place.clone(), text.len() as u64);
        Ok((Journal { place, file, head, state, ended, seal, len_bytes, compact_bytes: 0, spoiled: false }, new))
    }
}

/// Whether a process has this journal open for writing. The check takes a lock for a moment, for which
/// [`Journal::open`] waits.
pub fn is_in_use(journal: &File) -> bool {
    let locked = flock(journal, FlockOperation::NonBlockingLockShared);
    if locked.is_ok() {
        // The caller may keep the descriptor open, but must not keep the lock.
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
