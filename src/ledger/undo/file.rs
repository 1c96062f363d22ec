//! The file of an undo journal.
use super::head::Record;
use super::{Head, PIECE_BYTES};
use crate::core::{BlockDigest, Extent};
use crate::files::{DirectoryEntry, FileError, NewFile, Visibility};
use crate::ledger::first_line::FirstLine;
use crate::ledger::lines::{Line, Lines};
use crate::ledger::record_file::{self, free_place, io_fault, open_own};
use crate::ledger::seal::Seal;
use crate::ledger::{Fault, FaultKind, RecordFile};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Offset of the original data in the file; the lines are before it.
const DATA_BYTES: u64 = 1 << 20;

/// Original data of one extent, in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Original {
    /// Its extent on the device, in whole pieces.
    pub extent: Extent,
    at_bytes: u64,
    digest: BlockDigest,
}

/// An undo journal in preparation: nothing may be written to the device yet. Dropping it removes the file.
pub struct UndoMaking {
    place: DirectoryEntry,
    new: NewFile,
    head: Head,
    kept: Vec<Original>,
    end_bytes: u64,
}

impl UndoMaking {
    /// Begins an undo journal at `path`, which must not exist.
    ///
    /// # Errors
    /// The file exists, another process is creating it, or the file system fails.
    pub fn begin(path: &Path, head: Head) -> Result<Self, Fault> {
        let place = free_place(RecordFile::Undo, path)?;
        let new = NewFile::begin(&place).map_err(file_fault)?;
        Ok(UndoMaking { place, new, head, kept: Vec::new(), end_bytes: DATA_BYTES })
    }

    /// Saves the original `bytes` of the device at `offset`: a whole number of pieces.
    ///
    /// # Errors
    /// The file system fails.
    pub fn keep(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Fault> {
        debug_assert!(bytes.len().is_multiple_of(PIECE_BYTES) && offset.is_multiple_of(PIECE_BYTES as u64));
        self.new.file().write_all_at(bytes, self.end_bytes).map_err(io)?;
        let digest = BlockDigest::blake3(bytes);
        let extent = Extent::new(offset, bytes.len() as u64);
        self.kept.push(Original { extent, at_bytes: self.end_bytes, digest });
        self.end_bytes += extent.len;
        Ok(())
    }

    /// Flushes what was saved so far, so that the time for that is known.
    ///
    /// # Errors
    /// The file system fails.
    pub fn sync(&mut self) -> Result<(), Fault> {
        self.new.file().sync_data().map_err(io)
    }

    /// Makes the journal durable, under its name. Only then may the saved extents be overwritten.
    ///
    /// # Errors
    /// The file system fails; then there is no journal.
    pub fn finish(self) -> Result<Undo, Fault> {
        let mut seal = Seal::default();
        let mut text = seal.close(&self.head.to_json().map_err(fault)?).map_err(fault)?;
        let record = |kept: &Original| Record::Kept {
            offset_bytes: kept.extent.offset,
            len_bytes: kept.extent.len,
            at_bytes: kept.at_bytes,
            digest: kept.digest,
        };
        for record in self.kept.iter().map(record).chain([Record::End { kept_extents: self.kept.len() as u64 }]) {
            let json = serde_json::to_string(&record).map_err(|error| io(error.into()))?;
            text.push_str(&seal.close(&json).map_err(fault)?);
        }
        if text.len() as u64 > DATA_BYTES {
            return Err(fault(FaultKind::Invalid("more extents than it has room for".to_owned())));
        }
        let UndoMaking { place, new, head, kept, .. } = self;
        let file = new.file().try_clone().map_err(io)?;
        file.write_all_at(text.as_bytes(), 0).map_err(io)?;
        // Unlike a copy's journal it must survive a power loss: its data exists nowhere else.
        if let Err(error) = new.publish(Visibility::Owner) {
            // If its name may not survive, the data must not count as saved. If another file has the name, it
            // is not removed.
            let _ = place.remove(&file);
            return Err(file_fault(error));
        }
        Ok(Undo { place, file, head, kept })
    }
}

/// A complete undo journal, locked against other processes (flock: advisory, released when the process ends).
#[derive(Debug)]
pub struct Undo {
    place: DirectoryEntry,
    file: File,
    head: Head,
    kept: Vec<Original>,
}

impl Undo {
    /// Opens the undo journal at `path`; `None`: it does not exist.
    ///
    /// # Errors
    /// It is in use by another process, not a haul file, from a newer haul, or damaged.
    pub fn open(path: &Path) -> Result<Option<Self>, Fault> {
        let Some((place, file)) = open_own(RecordFile::Undo, path)? else { return Ok(None) };
        let mut lines = Lines::new(RecordFile::Undo, BufReader::new((&file).take(DATA_BYTES)));
        let (head, mut seal) = Head::read(&mut lines)?;
        let mut kept = Vec::new();
        loop {
            let whole = lines.advance()? == Line::Whole && seal.holds(&lines.bytes);
            let record = whole.then(|| serde_json::from_slice(&lines.bytes).ok()).flatten();
            match record {
                Some(Record::Kept { offset_bytes, len_bytes, at_bytes, digest }) => {
                    let fits = offset_bytes.checked_add(len_bytes).is_some_and(|end| i64::try_from(end).is_ok());
                    if !fits || !len_bytes.is_multiple_of(PIECE_BYTES as u64) {
                        return Err(lines.fault(FaultKind::Invalid("an extent that no device has".to_owned())));
                    }
                    kept.push(Original { extent: Extent::new(offset_bytes, len_bytes), at_bytes, digest });
                }
                Some(Record::End { kept_extents: count }) if count == kept.len() as u64 => break,
                _ => return Err(lines.fault(FaultKind::Damaged)),
            }
        }
        drop(lines);
        Ok(Some(Undo { place, file, head, kept }))
    }

    /// The device and the session.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The saved extents, in the order in which they were saved.
    pub fn kept(&self) -> &[Original] {
        &self.kept
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.place.path()
    }

    /// Reads original data into `bytes`, which has the same length, and compares it with its digest.
    ///
    /// # Errors
    /// The file system fails, or the data is damaged.
    pub fn original(&self, kept: &Original, bytes: &mut [u8]) -> Result<(), Fault> {
        self.file.read_exact_at(bytes, kept.at_bytes).map_err(io)?;
        if BlockDigest::blake3(bytes) != kept.digest {
            return Err(fault(FaultKind::Damaged));
        }
        Ok(())
    }

    /// Removes the file: the original data is on the device, and durable.
    ///
    /// # Errors
    /// The file system fails.
    pub fn remove(self) -> Result<(), Fault> {
        self.place.remove(&self.file).map_err(file_fault)
    }
}

fn fault(kind: FaultKind) -> Fault {
    Fault::of(RecordFile::Undo, kind)
}

fn file_fault(error: FileError) -> Fault {
    record_file::file_fault(RecordFile::Undo, error)
}

fn io(source: io::Error) -> Fault {
    io_fault(RecordFile::Undo, source)
}
