//! Features of the writing side that only sg_dd and its variants use: a second dest, comparing, skipping
//! records that cannot be written.
use super::OpenSides;
use super::batch::{Batch, Memory};
use super::reader::{is_einval, is_of_medium};
use super::writer::Writer;
use crate::apps::fronts::record_plan::{Diagnostic, ExtraDiagnostic, RecordListener};
use crate::core::{DeviceError, Kind, Side};
use rustix::fs::SeekFrom;
use std::io;

impl OpenSides {
    /// A batch in memory that a driver shares with haul, if requested. If it is not available, that is
    /// reported.
    pub(super) fn shared_batch(&self, bytes: usize, listener: &dyn RecordListener) -> Option<Batch> {
        let len = u32::try_from(bytes).ok()?;
        for (side, end) in [(Side::Source, &self.source), (Side::Dest, &self.dest)] {
            match end.device().and_then(|device| device.shared_memory(len)) {
                Some(Ok(buffer)) => return Some(Batch::shared(buffer)),
                Some(Err(error)) => {
                    listener.report_failure(side, &Diagnostic::Careful(ExtraDiagnostic::NotShared(error)), false)
                }
                None => {}
            }
        }
        None
    }
}

/// The result of a comparison by the disk.
enum DeviceComparison {
    Yes,
    /// Its error.
    No(io::Error),
    /// The disk did not compare.
    Unknown,
}

impl Writer {
    /// Number of the next record, from the beginning of the dest.
    fn record(&self, obs: usize) -> u64 {
        self.first + self.done / obs as u64
    }

    /// Writes record by record, beginning with the first although `written` bytes of it were written before,
    /// and skips records that the medium fails to write.
    pub(super) fn write_singly(&mut self, bytes: &[u8], obs: usize, written: usize) -> Result<(), Diagnostic> {
        let ends = self.ends.clone();
        let fails = |error| Diagnostic::Write { midway: false, error };
        let back = ends.dest.seek(SeekFrom::Current(-(written as i64))).map_err(fails)?;
        let mut at = back;
        for record in bytes.chunks(obs) {
            match ends.dest.write_all_at(record, at) {
                Ok(()) => {}
                Err(error) if is_of_medium(&error) => {
                    let complaint = Diagnostic::Careful(ExtraDiagnostic::Unwritable(self.record(obs), error));
                    self.listener.report_failure(Side::Dest, &complaint, false);
                    self.counts.unrecovered += 1;
                }
                Err(error) => return Err(fails(error)),
            }
            self.arrived(record.len() as u64, obs as u64);
            at += record.len() as u64;
        }
        ends.dest.seek(SeekFrom::Start(at)).map_err(fails)?;
        self.at_hole = false;
        Ok(())
    }

    /// Reads the dest and compares it with `bytes`.
    pub(super) fn compare_run(&mut self, bytes: &[u8], obs: usize) -> Result<(), Diagnostic> {
        let doubt = match self.agrees(bytes, obs)? {
            DeviceComparison::Yes => {
                self.arrived(bytes.len() as u64, obs as u64);
                return Ok(());
            }
            DeviceComparison::No(error) => Some(error),
            DeviceComparison::Unknown => None,
        };
        // Whole records, as direct I/O requires, although the last one may be short.
        let len = bytes.len().next_multiple_of(obs);
        let kept = self.theirs.take().filter(|memory| memory.bytes().len() >= len).or_else(|| Memory::of(len));
        let mut memory = kept.ok_or(Diagnostic::Memory(len as u64))?;
        let read = self.read_theirs(&mut memory.bytes_mut()[..len]);
        let result = read.map_err(|error| Diagnostic::Careful(ExtraDiagnostic::Compare(error))).and_then(|len| {
            let theirs = &memory.bytes()[..len.min(bytes.len())];
            match (bytes == theirs, doubt) {
                (true, None) => Ok(()),
                // The disk reports a difference, but reading finds none.
                (true, Some(error)) => Err(Diagnostic::Careful(ExtraDiagnostic::Compare(error))),
                (false, _) => self.report_difference(bytes, theirs, obs),
            }
        });
        self.theirs = Some(memory);
        result?;
        self.arrived(bytes.len() as u64, obs as u64);
        Ok(())
    }

    /// Compares by a command of the disk, if it is reached by commands. After a mismatch, reading finds the
    /// record.
    fn agrees(&mut self, bytes: &[u8], obs: usize) -> Result<DeviceComparison, Diagnostic> {
        let dest = &self.ends.dest;
        let fails = |error| Diagnostic::Careful(ExtraDiagnostic::Compare(error));
        let whole = bytes.len().is_multiple_of(obs);
        let Some(device) = dest.device().filter(|_| whole && !self.compares_itself) else {
            return Ok(DeviceComparison::Unknown);
        };
        let at = dest.position().map_err(fails)?;
        if dest.size.is_some_and(|size| size < at + bytes.len() as u64) {
            return Ok(DeviceComparison::Unknown);
        }
        match device.compare_at(bytes, at) {
            Ok(()) => {
                dest.seek(SeekFrom::Current(bytes.len() as i64)).map_err(fails)?;
                Ok(DeviceComparison::Yes)
            }
            Err(error) => match DeviceError::of(&error) {
                Some(device_failure) if device_failure.is_miscompare() => Ok(DeviceComparison::No(error)),
                Some(device_failure) if device_failure.kind == Kind::Unsupported => {
                    self.compares_itself = true;
                    self.listener.report_failure(
                        Side::Dest,
                        &Diagnostic::Careful(ExtraDiagnostic::ReadToCompare(error)),
                        false,
                    );
                    Ok(DeviceComparison::Unknown)
                }
                _ => Err(fails(error)),
            },
        }
    }

    /// Reads up to the length of `theirs`, or to the end.
    fn read_theirs(&self, theirs: &mut [u8]) -> io::Result<usize> {
        let mut got = 0;
        while got < theirs.len() {
            match self.ends.dest.read(&mut theirs[got..]) {
                Ok(0) => break,
                Ok(moved) => got += moved,
                // Direct I/O cannot read at the unaligned offset after a short read.
                Err(error) if got > 0 && is_einval(&error) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(got)
    }

    /// Reports every record that differs if the copy continues; otherwise the first one ends it.
    fn report_difference(&mut self, ours: &[u8], theirs: &[u8], obs: usize) -> Result<(), Diagnostic> {
        let first = self.record(obs);
        for (at, record) in ours.chunks(obs).enumerate() {
            let start = at * obs;
            let other = &theirs[start.min(theirs.len())..(start + record.len()).min(theirs.len())];
            if record == other {
                continue;
            }
            let number = first + at as u64;
            self.counts.differing += 1;
            let byte = record.iter().zip(other).position(|(our, their)| our != their);
            let complaint = Diagnostic::Careful(match byte {
                Some(byte) => ExtraDiagnostic::Differs { record: number, byte: byte as u64 },
                None => ExtraDiagnostic::DestEnds(number),
            });
            // After the end of the dest there is nothing to compare.
            if byte.is_none() || !self.plan.care.pass_unwritable {
                self.arrived(start as u64, obs as u64);
                return Err(complaint);
            }
            self.listener.report_failure(Side::Dest, &complaint, false);
        }
        Ok(())
    }
}
