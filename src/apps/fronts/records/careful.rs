//! What only sg_dd and its kin ask of the writing side: a second dest, comparing, passing over what cannot be written.
use super::OpenSides;
use super::batch::{Batch, Memory};
use super::reader::{is_einval, is_of_medium};
use super::writer::Writer;
use crate::apps::fronts::record_plan::{Diagnostic, ExtraDiagnostic, RecordListener};
use crate::core::{DeviceError, Kind, Side};
use rustix::fs::SeekFrom;
use std::io;

impl OpenSides {
    /// A batch in memory that a driver shares with haul, where that was requested. Where it is not available, that is
    /// reported.
    pub(super) fn shared_batch(&self, bytes: usize, listener: &dyn RecordListener) -> Option<Batch> {
        let len = u32::try_from(bytes).ok()?;
        for (side, end) in [(Side::Source, &self.source), (Side::Dest, &self.dest)] {
            match end.device().and_then(|device| device.shared_memory(len)) {
                Some(Ok(buffer)) => return Some(Batch::shared(buffer)),
                Some(Err(error)) => {
                    listener.complain(side, &Diagnostic::Careful(ExtraDiagnostic::NotShared(error)), false)
                }
                None => {}
            }
        }
        None
    }
}

/// Whether a disk says that it has the same bytes.
enum DeviceComparison {
    Yes,
    /// Its error.
    No(io::Error),
    /// It was not asked.
    Unknown,
}

impl Writer {
    /// Number of the record that comes next, from the beginning of the dest.
    fn record(&self, obs: usize) -> u64 {
        self.first + self.done / obs as u64
    }

    /// Writes record by record, `written` bytes of the first being there already, and skips those that the medium does
    /// not take.
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
                    self.listener.complain(Side::Dest, &complaint, false);
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
        // Whole records, as direct I/O needs them, though the last one may be short.
        let len = bytes.len().next_multiple_of(obs);
        let kept = self.theirs.take().filter(|memory| memory.bytes().len() >= len).or_else(|| Memory::of(len));
        let mut memory = kept.ok_or(Diagnostic::Memory(len as u64))?;
        let read = self.read_theirs(&mut memory.bytes_mut()[..len]);
        let result = read.map_err(|error| Diagnostic::Careful(ExtraDiagnostic::Compare(error))).and_then(|len| {
            let theirs = &memory.bytes()[..len.min(bytes.len())];
            match (bytes == theirs, doubt) {
                (true, None) => Ok(()),
                // It says that they differ, and then reads them as they should be.
                (true, Some(error)) => Err(Diagnostic::Careful(ExtraDiagnostic::Compare(error))),
                (false, _) => self.report_difference(bytes, theirs, obs),
            }
        });
        self.theirs = Some(memory);
        result?;
        self.arrived(bytes.len() as u64, obs as u64);
        Ok(())
    }

    /// Lets a disk that is reached by its own commands compare by itself. Where it finds a difference, reading shows
    /// which record it is.
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
                Some(said) if said.is_miscompare() => Ok(DeviceComparison::No(error)),
                Some(said) if said.kind == Kind::Unsupported => {
                    self.compares_itself = true;
                    self.listener.complain(
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

    /// As much as there is, up to the length of `theirs`.
    fn read_theirs(&self, theirs: &mut [u8]) -> io::Result<usize> {
        let mut got = 0;
        while got < theirs.len() {
            match self.ends.dest.read(&mut theirs[got..]) {
                Ok(0) => break,
                Ok(moved) => got += moved,
                // The place behind a short end is one that direct I/O cannot be asked for.
                Err(error) if got > 0 && is_einval(&error) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(got)
    }

    /// Tells every record that differs, where the copy continues; otherwise the first one is the end.
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
            // Behind its end there is nothing more to compare with.
            if byte.is_none() || !self.plan.care.pass_unwritable {
                self.arrived(start as u64, obs as u64);
                return Err(complaint);
            }
            self.listener.complain(Side::Dest, &complaint, false);
        }
        Ok(())
    }
}
