//! The undo journal's file.
use super::head::Record;
use super::{Head, PIECE_BYTES};
use crate::contract::{BlockDigest, Extent, HashKind};
use crate::ledger::first_line::FirstLine;
use crate::ledger::lines::{Line, Lines};
use crate::ledger::paper_file::{io_fault, lock, opened, rename_without_replacing, sync_directory_of, with_suffix};
use crate::ledger::seal::Seal;
use crate::ledger::{Fault, FaultKind, Paper};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Where the originals begin in the file; the lines stand before.
const DATA_BYTES: u64 = 1 << 20;

/// Originals of one extent, in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Where they were, in whole pieces.
    pub extent: Extent,
    at_bytes: u64,
    digest: BlockDigest,
}

/// An undo journal that is being made: nothing may be written to the device yet. Dropped, it is gone.
pub struct UndoMaking {
    path: PathBuf,
    being_made: PathBuf,
    file: File,
    head: Head,
    kept: Vec<Kept>,
    end_bytes: u64,
    is_done: bool,
}

impl UndoMaking {
    /// Begins one that is to be at `path`, where none may be; `path` with `.new` behind it is used meanwhile. What a
    /// crash left there is of a run that had not begun to write.
    ///
    /// # Errors
    /// One is there already, another process is making it, or the file system fails.
    pub fn begin(path: &Path, head: Head) -> Result<Self, Fault> {
        let being_made = with_suffix(path, ".new");
        let mut options = OpenOptions::new();
        let file = opened(Paper::Undo, options.read(true).write(true).create(true).truncate(false), &being_made)?;
        lock(Paper::Undo, &file)?;
        if path.symlink_metadata().is_ok() {
            let _ = fs::remove_file(&being_made);
            return Err(fault(FaultKind::Exists));
        }
        file.set_len(0).map_err(io)?;
        let (path, kept) = (path.to_owned(), Vec::new());
        Ok(UndoMaking { path, being_made, file, head, kept, end_bytes: DATA_BYTES, is_done: false })
    }

    /// Keeps the original `bytes` of the device from `offset` on: a whole number of pieces.
    ///
    /// # Errors
    /// The file system fails.
    pub fn keep(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Fault> {
        debug_assert!(bytes.len().is_multiple_of(PIECE_BYTES) && offset.is_multiple_of(PIECE_BYTES as u64));
        self.file.write_all_at(bytes, self.end_bytes).map_err(io)?;
        let digest = BlockDigest::of(HashKind::Blake3, bytes);
        let extent = Extent::new(offset, bytes.len() as u64);
        self.kept.push(Kept { extent, at_bytes: self.end_bytes, digest });
        self.end_bytes += extent.len;
        Ok(())
    }

    /// Returns when what was kept so far is on the disk, so that the time it takes is known.
    ///
    /// # Errors
    /// The file system fails.
    pub fn settle(&mut self) -> Result<(), Fault> {
        self.file.sync_data().map_err(io)
    }

    /// Makes all of it durable, under its name. Only then may what was kept be written over.
    ///
    /// # Errors
    /// The file system fails; then there is no journal.
    pub fn finish(mut self) -> Result<Undo, Fault> {
        let mut seal = Seal::default();
        let mut text = seal.close(&self.head.to_json().map_err(fault)?).map_err(fault)?;
        let record = |kept: &Kept| Record::Kept {
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
            return Err(fault(FaultKind::Senseless("more extents than it has room for".to_owned())));
        }
        self.file.write_all_at(text.as_bytes(), 0).and_then(|()| self.file.sync_all()).map_err(io)?;
        rename_without_replacing(Paper::Undo, &self.being_made, &self.path)?;
        self.is_done = true;
        // Unlike a copy's journal it must not be lost with the power: what it holds is nowhere else.
        if let Err(error) = sync_directory_of(&self.path) {
            let _ = fs::remove_file(&self.path);
            return Err(io(error));
        }
        let file = self.file.try_clone().map_err(io)?;
        let (path, head, kept) = (self.path.clone(), self.head.clone(), std::mem::take(&mut self.kept));
        Ok(Undo { path, file, head, kept })
    }
}

impl Drop for UndoMaking {
    fn drop(&mut self) {
        if !self.is_done {
            let _ = fs::remove_file(&self.being_made);
        }
    }
}

/// An undo journal that is whole, locked against other processes (flock: advisory, gone with the process).
#[derive(Debug)]
pub struct Undo {
    path: PathBuf,
    file: File,
    head: Head,
    kept: Vec<Kept>,
}

impl Undo {
    /// Opens the one at `path`; `None`: there is none.
    ///
    /// # Errors
    /// In use by another process, none of ours, of a newer haul, or damaged.
    pub fn open(path: &Path) -> Result<Option<Self>, Fault> {
        let found = opened(Paper::Undo, OpenOptions::new().read(true).write(true), path);
        let file = match found {
            Err(Fault { kind: FaultKind::Io(error), .. })
                if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
            {
                return Ok(None);
            }
            found => found?,
        };
        lock(Paper::Undo, &file)?;
        // Between opening and lock its owner may have come to its end and removed it.
        let id = |stat: fs::Metadata| (stat.dev(), stat.ino());
        if path.metadata().ok().map(id) != file.metadata().ok().map(id) {
            return Ok(None);
        }
        let mut lines = Lines::new(Paper::Undo, BufReader::new((&file).take(DATA_BYTES)));
        let (head, mut seal) = Head::read(&mut lines)?;
        let mut kept = Vec::new();
        loop {
            let whole = lines.advance()? == Line::Whole && seal.holds(&lines.bytes);
            let record = whole.then(|| serde_json::from_slice(&lines.bytes).ok()).flatten();
            match record {
                Some(Record::Kept { offset_bytes, len_bytes, at_bytes, digest }) => {
                    let fits = offset_bytes.checked_add(len_bytes).is_some_and(|end| i64::try_from(end).is_ok());
                    if !fits || !len_bytes.is_multiple_of(PIECE_BYTES as u64) {
                        return Err(lines.fault(FaultKind::Senseless("an extent that no device has".to_owned())));
                    }
                    kept.push(Kept { extent: Extent::new(offset_bytes, len_bytes), at_bytes, digest });
                }
                Some(Record::End { kept_extents: count }) if count == kept.len() as u64 => break,
                _ => return Err(lines.fault(FaultKind::Damaged)),
            }
        }
        drop(lines);
        Ok(Some(Undo { path: path.to_owned(), file, head, kept }))
    }

    /// Which device and session.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// What was kept, in the order it was.
    pub fn kept(&self) -> &[Kept] {
        &self.kept
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads originals into `bytes`, which are as many, and compares them with their digest.
    ///
    /// # Errors
    /// The file system fails, or they are damaged.
    pub fn original(&self, kept: &Kept, bytes: &mut [u8]) -> Result<(), Fault> {
        self.file.read_exact_at(bytes, kept.at_bytes).map_err(io)?;
        if BlockDigest::of(HashKind::Blake3, bytes) != kept.digest {
            return Err(fault(FaultKind::Damaged));
        }
        Ok(())
    }

    /// Removes the file: the originals are on the device, and durable.
    ///
    /// # Errors
    /// The file system fails.
    pub fn remove(self) -> Result<(), Fault> {
        fs::remove_file(&self.path).and_then(|()| sync_directory_of(&self.path)).map_err(io)
    }
}

fn fault(kind: FaultKind) -> Fault {
    Fault::of(Paper::Undo, kind)
}

fn io(source: io::Error) -> Fault {
    io_fault(Paper::Undo, source)
}
