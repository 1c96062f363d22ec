//! Writes a manifest during the copy.
use super::coverage::Coverage;
use super::{Entry, Head};
use crate::core::BlockDigest;
use crate::ledger::first_line::FirstLine;
use crate::ledger::seal::Seal;
use crate::ledger::{Fault, FaultKind, RecordFile};
use std::io::Write;

/// Writes a manifest line by line, with blocks in any order; nothing is buffered or rewritten.
///
/// Pass a buffered writer. Until it is closed the file reads as truncated, which is correct: it is the manifest
/// of an unfinished copy. To continue after an interruption, read the old file up to its fault, [`Writer::add`]
/// what the journal still claims to a new file, and rename that over the old one.
pub struct Writer<W> {
    out: W,
    seal: Seal,
    coverage: Coverage,
}

impl<W: Write> Writer<W> {
    /// Writes the first line.
    ///
    /// # Errors
    /// `out` fails, or a field of the head is invalid.
    pub fn create(out: W, head: &Head) -> Result<Self, Fault> {
        let mut writer = Writer { out, seal: Seal::default(), coverage: Coverage::new(head) };
        let json = head.to_json().map_err(fault)?;
        writer.line(&json)?;
        Ok(writer)
    }

    /// Writes one line.
    ///
    /// # Errors
    /// `out` fails, after which the manifest is unusable; or the entry is invalid here: it overlaps another, is
    /// not aligned to the block length, or reaches beyond the copy. Then nothing was written.
    pub fn add(&mut self, entry: Entry) -> Result<(), Fault> {
        self.coverage.admit(&entry).map_err(fault)?;
        self.line(&entry.to_json())
    }

    /// Writes the last line and returns `out`, flushed but not durable. `whole` is the digest of all bytes of
    /// the copy in order, if there is one.
    ///
    /// # Errors
    /// `out` fails, or bytes of the copy are missing.
    pub fn close(mut self, whole: Option<BlockDigest>) -> Result<W, Fault> {
        let closing = self.coverage.close(whole).map_err(fault)?;
        self.line(&closing.to_json())?;
        self.out.flush().map_err(|source| fault(FaultKind::Io(source)))?;
        Ok(self.out)
    }

    fn line(&mut self, json: &str) -> Result<(), Fault> {
        let line = self.seal.close(json).map_err(fault)?;
        self.out.write_all(line.as_bytes()).map_err(|source| fault(FaultKind::Io(source)))
    }
}

fn fault(kind: FaultKind) -> Fault {
    Fault::of(RecordFile::Manifest, kind)
}
