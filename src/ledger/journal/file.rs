//! The journal's file.
use super::reading::{Torn, read};
use super::record::Record;
use super::{Head, State};
use crate::contract::{Extent, ExtentSet};
use crate::ledger::first_line::FirstLine;
use crate::ledger::paper_file::{lock, opened, sync_directory_of, with_suffix};
use crate::ledger::seal::Seal;
use crate::ledger::{Fault, FaultKind, Paper};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Below this size a journal is not worth being written anew.
const COMPACT_BYTES: u64 = 256 << 10;

/// A journal, open and locked against other processes (flock: advisory, gone with the process).
pub struct Journal {
    path: PathBuf,
    file: File,
    head: Head,
    state: State,
    seal: Seal,
    /// Bytes that hold; the next line goes there.
    len_bytes: u64,
    /// Size from which on it is written anew.
    pub(super) compact_bytes: u64,
    /// Somewhere on the way to the disk something failed, and nobody knows what is on it.
    spoiled: bool,
}

impl Journal {
    /// Begins a journal at `path`, which must not be there. It has its name only once its first line is durable, so
    /// that no crash leaves half of one. `path` with `.new` behind it is used meanwhile.
    ///
    /// # Errors
    /// It is there already, another process is just making it, or the file system fails.
    pub fn create(path: &Path, head: Head) -> Result<Self, Fault> {
        let being_made = with_suffix(path, ".new");
        let file = opened(
            Paper::Journal,
            OpenOptions::new().read(true).write(true).create(true).truncate(false),
            &being_made,
        )?;
        lock(Paper::Journal, &file)?;
        // Whoever else makes this journal holds the lock on the same file, so nobody comes in between.
        if path.symlink_metadata().is_ok() {
            let _ = fs::remove_file(&being_made);
            return Err(fault(FaultKind::Exists));
        }
        let path = path.to_owned();
        let (state, seal) = (State::default(), Seal::default());
        let compact_bytes = COMPACT_BYTES;
        let mut journal = Journal { path, file, head, state, seal, len_bytes: 0, compact_bytes, spoiled: false };
        let made = journal.write_all_anew().and_then(|()| journal.put_in_place(&being_made));
        if made.is_err() {
            let _ = fs::remove_file(&being_made);
        }
        made.map(|()| journal)
    }

    /// Opens the journal at `path` to go on with it, and cuts off what a crash left of its last line.
    ///
    /// # Errors
    /// It is not there, in use by another process, no journal, of a newer haul, damaged, or cannot be written to.
    pub fn open(path: &Path) -> Result<(Self, Option<Torn>), Fault> {
        let file = loop {
            let file = opened(Paper::Journal, OpenOptions::new().read(true).write(true), path)?;
            lock(Paper::Journal, &file)?;
            // It may have been written anew between opening and lock; the lock is then on a file without a name.
            let (ours, named) = (file.metadata().map_err(io_fault)?, path.metadata().map_err(io_fault)?);
            if (ours.dev(), ours.ino()) == (named.dev(), named.ino()) {
                break file;
            }
        };
        let reading = read(BufReader::new(&file))?;
        if reading.torn.is_some() {
            file.set_len(reading.whole_bytes).map_err(io_fault)?;
        }
        // What was read may be in the page cache only.
        file.sync_all().map_err(io_fault)?;
        let journal = Journal {
            path: path.to_owned(),
            file,
            head: reading.head,
            state: reading.state,
            seal: reading.seal,
            len_bytes: reading.whole_bytes,
            compact_bytes: COMPACT_BYTES.max(2 * reading.whole_bytes),
            spoiled: false,
        };
        Ok((journal, reading.torn))
    }

    /// Which copy it is about.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// What it claims.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Claims that `durable` are on the dest and durable, and that `unread` could not be read. On return the claim is
    /// durable itself. Extents may be empty, overlap, and have been claimed before. Written in lines of a bounded
    /// length, each durable before the next; now and then the file is written anew, so that its size is bounded by what
    /// there is to say.
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
            // Where it fails the old file is still there, whole: the copy goes on with that, and tries again later.
            if self.compact().is_err() {
                self.compact_bytes = 2 * self.len_bytes;
            }
        }
        Ok(())
    }

    fn append_record(&mut self, record: &Record) -> Result<(), Fault> {
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
        Ok(())
    }

    /// Writes the file anew with no more than there is to say, beside the old one (`.compact` behind its name), and
    /// puts it in its place once it is durable. A crash leaves the one or the other.
    ///
    /// # Errors
    /// The file system fails; the old file is then still in use.
    pub fn compact(&mut self) -> Result<(), Fault> {
        if self.spoiled {
            return Err(fault(FaultKind::Spoiled));
        }
        let beside = with_suffix(&self.path, ".compact");
        let file =
            opened(Paper::Journal, OpenOptions::new().read(true).write(true).create(true).truncate(true), &beside)?;
        lock(Paper::Journal, &file)?;
        let mut anew = Journal {
            path: self.path.clone(),
            file,
            head: self.head.clone(),
            state: self.state.clone(),
            seal: Seal::default(),
            len_bytes: 0,
            compact_bytes: 0,
            spoiled: false,
        };
        if let Err(failed) = anew.write_all_anew().and_then(|()| anew.put_in_place(&beside)) {
            let _ = fs::remove_file(&beside);
            return Err(failed);
        }
        anew.compact_bytes = COMPACT_BYTES.max(2 * anew.len_bytes);
        *self = anew;
        Ok(())
    }

    /// Removes the file: the copy is complete and needs no journal.
    ///
    /// # Errors
    /// The file system fails.
    pub fn remove(self) -> Result<(), Fault> {
        fs::remove_file(&self.path).and_then(|()| sync_directory_of(&self.path)).map_err(io_fault)
    }

    /// Writes head and state to the empty file and makes it durable.
    fn write_all_anew(&mut self) -> Result<(), Fault> {
        self.file.set_len(0).map_err(io_fault)?;
        let mut seal = Seal::default();
        let mut text = seal.close(&self.head.to_json().map_err(fault)?).map_err(fault)?;
        for record in Record::split(&self.state.durable, &self.state.unread) {
            text.push_str(&seal.close(&record.to_json()).map_err(fault)?);
        }
        self.file.write_all_at(text.as_bytes(), 0).and_then(|()| self.file.sync_all()).map_err(io_fault)?;
        self.seal = seal;
        self.len_bytes = text.len() as u64;
        Ok(())
    }

    /// Gives the file, now named `from`, its name.
    fn put_in_place(&mut self, from: &Path) -> Result<(), Fault> {
        fs::rename(from, &self.path).map_err(io_fault)?;
        // Should this fail, a power loss may bring the old file back. What is claimed later goes to the new one, so the
        // old one then claims less, not more. Of a first journal nothing comes back, and nothing was claimed.
        let _ = sync_directory_of(&self.path);
        Ok(())
    }
}

fn fault(kind: FaultKind) -> Fault {
    Fault::of(Paper::Journal, kind)
}

fn io_fault(source: io::Error) -> Fault {
    fault(FaultKind::Io(source))
}
